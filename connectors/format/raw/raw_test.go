package raw

import (
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/types"
)

// Every message comes back as it went in: null and empty are not the same.
func TestRoundTrip(t *testing.T) {
	col := []spi.Column{{Name: "v", Type: types.Bytes()}}
	d, err := Format{}.NewDecoder(spi.DecodeSpec{Columns: col, Skip: []bool{false}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Format{}.NewEncoder(spi.EncodeSpec{Columns: col}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range [][]byte{nil, {}, []byte("text"), {0, 255, 10}} {
		out := spi.NewOut(col)
		out.Batch = &changelog.Batch{}
		if err := d.Decode(spi.Message{Value: want}, out); err != nil {
			t.Fatal(err)
		}
		got, err := e.Encode(make([]byte, 0, 8), nil, out.Batch.Row(0))
		if err != nil || string(got) != string(want) || (got == nil) != (want == nil) {
			t.Errorf("%v came back as %v, %v", want, got, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	two := []spi.Column{{Name: "a", Type: types.Bytes()}, {Name: "b", Type: types.String()}}
	if _, err := (Format{}).NewDecoder(spi.DecodeSpec{Columns: two, Skip: []bool{false, false}}, nil); err == nil || !strings.Contains(err.Error(), `column "b": the format raw has one column, which is "a"`) {
		t.Error(err)
	}
	if _, err := (Format{}).NewDecoder(spi.DecodeSpec{Columns: two, Skip: []bool{true, false}}, nil); err != nil {
		t.Error(err)
	}
	if _, err := (Format{}).NewEncoder(spi.EncodeSpec{Columns: two}, nil); err == nil {
		t.Error("two columns are written")
	}
	if _, err := (Format{}).NewEncoder(spi.EncodeSpec{Columns: []spi.Column{{Name: "n", Type: types.Of(types.Int)}}}, nil); err == nil || !strings.Contains(err.Error(), "not INT") {
		t.Error(err)
	}
	text := []spi.Column{{Name: "s", Type: types.String().Required()}}
	d, err := Format{}.NewDecoder(spi.DecodeSpec{Columns: text, Skip: []bool{false}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{nil, {0xff}} {
		out := spi.NewOut(text)
		out.Batch = &changelog.Batch{}
		if err := d.Decode(spi.Message{Value: bad}, out); err == nil || out.Batch.Len() != 0 {
			t.Errorf("%v: %v", bad, err)
		}
	}
}
