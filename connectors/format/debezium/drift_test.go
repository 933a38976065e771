package debezium

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/types"
)

// What the fields of rows lack or have beyond the table is told once, with or without an envelope, and again when the
// rows change; rows like those before tell nothing.
func TestDrift(t *testing.T) {
	for _, form := range []string{`{"before":null,"after":%s,"op":"c"}`, `{"schema":{},"payload":{"op":"r","after":%s}}`, `%s`} {
		var told []string
		declared := []spi.Column{{Name: "id", Type: types.Of(types.Int).Required()}, {Name: "user_id", Type: types.Of(types.Int)}, {Name: "name", Type: types.String()}, {Name: "unused", Type: types.String()}}
		s := open(t, spi.DecodeSpec{
			Columns: declared[:3], Fields: declared, Key: []int{0}, Mode: spi.Upsert,
			Warn: func(msg string) { told = append(told, msg) }, Unknown: func(f string) { told = append(told, "unknown "+f) },
		}, nil)
		for _, c := range []struct {
			row  string
			want []string
		}{
			{`{"id":1,"userId":7,"name":"a","unused":1}`, []string{"unknown userId", `the column "user_id" is not among the fields, and reads as NULL; there is a field "userId"`}},
			{`{"id":2,"userId":8,"name":"b","unused":2}`, nil},
			{`{"unused":2,"name":"b","id":2,"userId":8}`, nil},
			{`{"id":3,"userId":9,"name":"c","unused":3,"added":true}`, []string{"unknown added", `the field "added" is new, and no column of the table: it is ignored`}},
			{`{"id":4,"userId":9,"unused":3,"added":true}`, []string{`the column "name" is no longer among the fields, and reads as NULL`}},
			{`{"id":5,"userId":9,"unused":3,"added":false}`, nil},
			{`{"id":6,"user_id":9,"name":"d"}`, nil},
			{`{"id":7,"name":"d"}`, []string{`the column "user_id" is no longer among the fields, and reads as NULL`}},
		} {
			told = nil
			if _, err := s.feed("", fmt.Sprintf(form, c.row)); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(told, c.want) {
				t.Errorf("%s told %q, want %q", fmt.Sprintf(form, c.row), told, c.want)
			}
		}
	}
}
