package jsonformat

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/decimal"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

func encode(t *testing.T, typ types.Type, d row.Datum, o spi.Options) (string, error) {
	t.Helper()
	e, err := Format{}.NewEncoder(spi.EncodeSpec{Columns: []spi.Column{col("c", typ)}}, o)
	if err != nil {
		t.Fatal(err)
	}
	if e.Updates() {
		t.Error("append-only streams have no updates")
	}
	var b row.Builder
	b.Begin(nil, 1)
	b.Datum(0, typ.Phys(), d)
	got, err := e.Encode(nil, nil, row.Row(b.Finish([]types.Phys{typ.Phys()})))
	if err == nil && !json.Valid(got) {
		t.Errorf("invalid JSON: %s", got)
	}
	return string(got), err
}

func dec(t *testing.T, s string, p, scale int) row.Datum {
	t.Helper()
	v, err := decimal.Parse([]byte(s), p, scale, false)
	if err != nil {
		t.Fatal(err)
	}
	return v.Datum(p)
}

func TestEncode(t *testing.T) {
	ts := row.Int(1709210096789012)
	array := row.Bytes(row.AppendArray(nil, types.PhysInt, []row.Datum{row.Int(1), row.NullDatum}))
	nullKey := row.Bytes(row.AppendMap(nil, types.PhysBytes, types.PhysInt, []row.Datum{row.NullDatum, row.String("a\"")}, []row.Datum{row.Int(1), row.Int(2)}))
	m := types.MapOf(types.String(), types.Of(types.Int))
	for _, c := range []struct {
		typ     types.Type
		value   row.Datum
		options string
		want    string
	}{
		{types.Of(types.Int), row.Int(-5), "", `{"c":-5}`},
		{types.Of(types.BigInt), row.Int(math.MinInt64), "", `{"c":-9223372036854775808}`},
		{types.Of(types.Boolean), row.Bool(true), "", `{"c":true}`},
		{types.Of(types.Double), row.Float(1), "", `{"c":1.0}`},
		{types.Of(types.Double), row.Float(math.Inf(-1)), "", `{"c":"-Infinity"}`},
		{types.Of(types.Double), row.Float(math.NaN()), "", `{"c":"NaN"}`},
		{types.Of(types.Float), row.Float(float64(float32(0.1))), "", `{"c":0.1}`},
		{types.DecimalOf(10, 2), dec(t, "-1.5", 10, 2), "", `{"c":-1.50}`},
		{types.DecimalOf(20, 9), dec(t, "0.000000027", 20, 9), "", `{"c":2.7E-8}`},
		{types.DecimalOf(20, 9), dec(t, "-0.000000002", 20, 9), "", `{"c":-2E-9}`},
		{types.DecimalOf(20, 9), dec(t, "0.000000027", 20, 9), "encode.decimal-as-plain-number=true", `{"c":0.000000027}`},
		{types.DecimalOf(20, 9), dec(t, "0.000001234", 20, 9), "", `{"c":0.000001234}`},
		{types.DecimalOf(20, 9), dec(t, "0", 20, 9), "", `{"c":0E-9}`},
		{types.DecimalOf(20, 6), dec(t, "0", 20, 6), "", `{"c":0.000000}`},
		{types.DecimalOf(38, 0), dec(t, "99999999999999999999999999999999999999", 38, 0), "", `{"c":99999999999999999999999999999999999999}`},
		{types.String(), row.String("plain and long enough"), "", `{"c":"plain and long enough"}`},
		{types.String(), row.String("q\" b\\ n\n r\r t\t \b\f\x01 é😀 \x7f </script>"), "", "{\"c\":\"q\\\" b\\\\ n\\n r\\r t\\t \\b\\f\\u0001 é😀 \x7f </script>\"}"},
		{types.String(), row.String("bad \xff\xc3("), "", "{\"c\":\"bad \ufffd\ufffd(\"}"},
		{types.Bytes(), row.Bytes([]byte{0xde, 0xad, 0xbe, 0xef}), "", `{"c":"3q2+7w=="}`},
		{types.Of(types.Date), row.Int(19782), "", `{"c":"2024-02-29"}`},
		{types.TimestampOf(3), row.Int(1709210096789000), "", `{"c":"2024-02-29 12:34:56.789"}`},
		{types.TimestampOf(6), ts, "timestamp-format.standard=ISO-8601", `{"c":"2024-02-29T12:34:56.789012"}`},
		{types.TimestampLTZOf(6), ts, "", `{"c":"2024-02-29 12:34:56.789012Z"}`},
		{types.TimestampLTZOf(6), ts, "timestamp-format.standard=ISO-8601", `{"c":"2024-02-29T12:34:56.789012Z"}`},
		{types.Of(types.Int), row.NullDatum, "", `{"c":null}`},
		{types.Of(types.Int), row.NullDatum, "encode.ignore-null-fields=true", `{}`},
		{types.ArrayOf(types.Of(types.Int)), array, "", `{"c":[1,null]}`},
		{m, nullKey, "", "!map-null-key.mode"},
		{m, nullKey, "map-null-key.mode=DROP", `{"c":{"a\"":2}}`},
		{m, nullKey, "map-null-key.mode=LITERAL", `{"c":{"null":1,"a\"":2}}`},
		{m, row.Bytes(row.AppendMap(nil, types.PhysBytes, types.PhysInt, nil, nil)), "", `{"c":{}}`},
	} {
		o := spi.Options{}
		if k, v, ok := strings.Cut(c.options, "="); ok {
			o[k] = v
		}
		got, err := encode(t, c.typ, c.value, o)
		if err != nil {
			got = "!" + err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(err.Error(), c.want[1:])) {
			t.Errorf("%s %s: got %s, want %s", c.typ, c.options, got, c.want)
		}
	}
}

// TestRoundTrip reads and writes nested values.
func TestRoundTrip(t *testing.T) {
	inner := types.RowOf(types.Field{Name: "x", Type: types.Of(types.Int)}, types.Field{Name: "naïve \"q\"", Type: types.String()})
	cols := []spi.Column{col("r", inner), col("a", types.ArrayOf(inner)), col("m", types.MapOf(types.String(), types.ArrayOf(types.DecimalOf(20, 2)))), col("s", types.String())}
	for _, c := range []struct{ option, in, out string }{
		{"", `{"r":{"x":1,"naïve \"q\"":"a\nb"},"a":[{"x":2,"naïve \"q\"":null},null],"m":{"k":[1.50,null],"":[]},"s":"x"}`, ""},
		{"", `{}`, `{"r":null,"a":null,"m":null,"s":null}`},
		{"encode.ignore-null-fields", `{"r":{"x":null},"a":[{"x":2}],"m":null,"s":"t"}`, `{"r":{},"a":[{"x":2}],"s":"t"}`},
		{"encode.ignore-null-fields", `{"s":"t"}`, `{"s":"t"}`},
	} {
		o := spi.Options{}
		if c.option != "" {
			o[c.option] = "true"
		}
		d, err := Format{}.NewDecoder(spi.DecodeSpec{Columns: cols}, o)
		if err != nil {
			t.Fatal(err)
		}
		e, err := Format{}.NewEncoder(spi.EncodeSpec{Columns: cols}, o)
		if err != nil {
			t.Fatal(err)
		}
		out := newOut(cols)
		if err := d.Decode(spi.Message{Value: []byte(c.in)}, out); err != nil {
			t.Fatal(err)
		}
		want := c.out
		if want == "" {
			want = c.in
		}
		if got, err := e.Encode(nil, nil, out.Batch.Row(0)); err != nil || string(got) != want {
			t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
		}
		if _, err := e.Encode(nil, out.Batch.Row(0), nil); err == nil {
			t.Error("an append-only stream took a delete")
		}
	}
}
