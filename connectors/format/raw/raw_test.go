package raw

import (
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
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

// Numbers come back as they went in, in both orders of bytes, and are as long as they should be.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		typ         types.Type
		value       row.Datum
		big, little string
	}{
		{types.Of(types.Boolean), row.Bool(true), "\x01", "\x01"},
		{types.Of(types.TinyInt), row.Int(-2), "\xfe", "\xfe"},
		{types.Of(types.SmallInt), row.Int(-2), "\xff\xfe", "\xfe\xff"},
		{types.Of(types.Int), row.Int(1 << 30), "\x40\x00\x00\x00", "\x00\x00\x00\x40"},
		{types.Of(types.BigInt), row.Int(-9007199254740993), "\xff\xdf\xff\xff\xff\xff\xff\xff", "\xff\xff\xff\xff\xff\xff\xdf\xff"},
		{types.Of(types.Float), row.Float(1.5), "\x3f\xc0\x00\x00", "\x00\x00\xc0\x3f"},
		{types.Of(types.Double), row.Float(-1.5), "\xbf\xf8\x00\x00\x00\x00\x00\x00", "\x00\x00\x00\x00\x00\x00\xf8\xbf"},
	} {
		for order, want := range map[string]string{"big-endian": c.big, "little-endian": c.little} {
			testNumber(t, c.typ, c.value, spi.Options{"endianness": order}, want)
		}
	}
	for _, o := range []spi.Options{{"endianness": "middle"}, {"charset": "UTF-16"}} {
		if _, err := (Format{}).NewDecoder(spi.DecodeSpec{}, o); err == nil {
			t.Error(o)
		}
	}
}

func testNumber(t *testing.T, typ types.Type, v row.Datum, o spi.Options, want string) {
	t.Helper()
	col := []spi.Column{{Name: "v", Type: typ}}
	e, err := Format{}.NewEncoder(spi.EncodeSpec{Columns: col}, o)
	if err != nil {
		t.Fatal(err)
	}
	var b row.Builder
	b.Begin(nil, 1)
	b.Datum(0, typ.Phys(), v)
	got, err := e.Encode(nil, nil, row.Row(b.Finish([]types.Phys{typ.Phys()})))
	if err != nil || string(got) != want {
		t.Errorf("%s %v: %q %v", typ, o, got, err)
	}
	d, err := Format{}.NewDecoder(spi.DecodeSpec{Columns: col}, o)
	if err != nil {
		t.Fatal(err)
	}
	out := spi.NewOut(col)
	out.Batch = &changelog.Batch{}
	if err := d.Decode(spi.Message{Value: got}, out); err != nil || out.Batch.Row(0).Get(0, typ.Phys()).I != v.I {
		t.Errorf("%s %v: %v", typ, o, err)
	}
	bad := []string{"", want + "0"}
	if typ.Kind == types.Boolean {
		bad = append(bad, "\x02")
	}
	for _, m := range bad {
		if err := d.Decode(spi.Message{Value: []byte(m)}, out); err == nil || out.Batch.Len() != 1 {
			t.Errorf("%s %q: %v", typ, m, err)
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
	if _, err := (Format{}).NewEncoder(spi.EncodeSpec{Columns: []spi.Column{{Name: "n", Type: types.DecimalOf(10, 0)}}}, nil); err == nil || !strings.Contains(err.Error(), "not DECIMAL") {
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
