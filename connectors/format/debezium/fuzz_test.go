package debezium

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/types"
)

var fuzzColumns = []spi.Column{
	col("id", types.Of(types.BigInt)), col("v", types.String()), col("n", types.DecimalOf(38, 4)), col("t", types.TimestampOf(6)),
	col("b", types.Bytes()), col("a", types.ArrayOf(types.DecimalOf(10, 2))), col("tab FROM source.table", types.String()),
}

// FuzzDecode decodes a message by a decoder that has learned from another one, and by a new one: they must
// agree, in both modes, and neither may emit anything with an error.
func FuzzDecode(f *testing.F) {
	decimal := schemaOf(named("bytes", "org.apache.kafka.connect.data.Decimal", `"scale":"2"`))
	for _, pair := range [][2]string{
		{`{"before":null,"after":{"id":1,"v":"a","n":"ZA==","t":1709210096789012,"b":"3q2+7w==","a":["ZA=="]},"source":{"table":"t"},"op":"c"}`,
			`{"before":{"id":1},"after":{"id":2,"v":"\u00e9","n":{"scale":1,"value":"ZA=="},"t":"2024-02-29 12:34:56","a":[1.5,null]},"source":{"table":"t"},"op":"u"}`},
		{`{"schema":` + decimal + `,"payload":{"after":{"id":1,"n":"ZA=="},"op":"c"}}`, `{"schema":` + strings.Replace(decimal, `"scale":"2"`, `"scale":"3"`, 1) + `,"payload":{"after":{"id":1,"n":"ZA=="},"op":"c"}}`},
		{`{"schema":` + decimal + `,"payload":{"after":{"id":1,"n":"ZA=="},"op":"c"}}`, `{"schema":` + decimal + `}`},
		{`{"id":1,"v":"a","__deleted":"false"}`, `{"id":1,"__deleted":"true"}`},
		{`{"schema":{},"payload":{"id":1,"v":"a"}}`, `{"schema":{},"payload":null}`},
		{`{"before":{"id":1},"after":null,"op":"d"}`, `null`},
		{`{"ts_ms":1}`, `{"status":"BEGIN","id":"1","event_count":null,"data_collections":null,"ts_ms":1}`},
		{`{"op":"m","source":{}}`, `{"op":"t","before":null,"after":null}`},
	} {
		f.Add([]byte(pair[0]), []byte(pair[1]), []byte(`{"id":1}`))
		f.Add([]byte(pair[1]), []byte(pair[0]), []byte(`{"schema":{"fields":[]},"payload":{"id":1}}`))
	}
	f.Fuzz(func(t *testing.T, first, second, key []byte) {
		for _, mode := range []spi.Mode{spi.Upsert, spi.Retract} {
			spec := spi.DecodeSpec{Columns: fuzzColumns, Mode: mode, Key: []int{0}}
			learned, fresh := open(t, spec, nil), open(t, spec, nil)
			for range 3 {
				learned.out.Batch.Reset()
				_ = learned.Decode(spi.Message{Key: key, Value: first}, learned.out)
			}
			// What a stream knows of its past is not the message's: whether the key was deleted, and whether
			// there were rows.
			fresh.deleted, fresh.rows = bytes.Clone(learned.deleted), learned.rows
			learned.out.Batch.Reset()
			got, want := learned.Decode(spi.Message{Key: key, Value: second}, learned.out), fresh.Decode(spi.Message{Key: key, Value: second}, fresh.out)
			if (got == nil) != (want == nil) || got != nil && got.Error() != want.Error() {
				t.Fatalf("%s: learned %v, fresh %v", mode, got, want)
			}
			if g, w := changes(learned.out.Batch, fuzzColumns), changes(fresh.out.Batch, fuzzColumns); g != w || got != nil && g != "" {
				t.Fatalf("%s: learned %s, fresh %s, error %v", mode, g, w, got)
			}
		}
	})
}

// TestHugeAndDeep reads values of 50 MB, and refuses nesting without end.
func TestHugeAndDeep(t *testing.T) {
	s := open(t, spi.DecodeSpec{Columns: pairColumns, Mode: spi.Upsert, Key: []int{0}}, nil)
	huge := strings.Repeat("x", 50<<20)
	for _, m := range []string{`{"after":{"id":1,"v":"` + huge + `"},"op":"c"}`, `{"id":1,"v":"` + huge + `"}`, `{"payload":{"after":{"id":1,"v":"` + huge + `"},"op":"c"}}`} {
		s.out.Batch.Reset()
		if err := s.Decode(spi.Message{Value: []byte(m)}, s.out); err != nil {
			t.Fatal(err)
		}
		if v := s.out.Batch.Row(0).Bytes(1); string(v) != huge {
			t.Errorf("%d bytes are left of %d", len(v), len(huge))
		}
	}
	digits := open(t, spi.DecodeSpec{Columns: []spi.Column{col("n", types.DecimalOf(38, 4))}, Mode: spi.Retract}, nil)
	for _, v := range []string{`"` + huge[:50<<18] + `"`, `{"scale":1,"value":"` + huge[:50<<18] + `"}`} {
		if _, err := digits.feed("", `{"after":{"n":`+v+`},"op":"c"}`); err == nil || strings.TrimPrefix(string(decodeError(t, err).Code), "message-") != "range" {
			t.Error(err)
		}
	}
	deep := strings.Repeat("[", 1<<20)
	for _, m := range []string{`{"id":1,"v":` + deep, `{"after":{"id":1,"v":` + deep, `{"schema":` + deep, strings.Repeat(`{"schema":`, 1<<18)} {
		if _, err := s.feed("", m); err == nil || strings.TrimPrefix(string(decodeError(t, err).Code), "message-") != "syntax" {
			t.Error(err)
		}
	}
	if _, err := s.feed(`{"id":`+deep, `{"before":null,"after":null,"op":"d"}`); err == nil {
		t.Error("a deep key")
	}
}
