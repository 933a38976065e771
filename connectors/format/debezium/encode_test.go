package debezium

import (
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

func pair(id int64, v string) row.Row {
	var b row.Builder
	b.Begin(nil, 2)
	b.Int64(0, id)
	if v != "" {
		b.String(1, v)
	}
	return row.Row(b.Finish(nil))
}

// TestEncode reads back what is written.
func TestEncode(t *testing.T) {
	for _, c := range []struct {
		before, after row.Row
		want, back    string
	}{
		{nil, pair(1, "a"), `{"before":null,"after":{"id":1,"v":"a"},"op":"c"}`, "+I(1, a)"},
		{pair(1, "a"), nil, `{"before":{"id":1,"v":"a"},"after":null,"op":"d"}`, "-D(1, a)"},
		{pair(1, "a"), pair(1, ""), `{"before":{"id":1,"v":"a"},"after":{"id":1,"v":null},"op":"u"}`, "-U(1, a) +U(1, NULL)"},
		{nil, pair(-9007199254740993, "\"\\\x00é😀\u2028"), "{\"before\":null,\"after\":{\"id\":-9007199254740993,\"v\":\"\\\"\\\\\\u0000é😀\u2028\"},\"op\":\"c\"}", "+I(-9007199254740993, \"\\\x00é😀\u2028)"},
	} {
		cols := []spi.Column{col("id", types.Of(types.BigInt)), col("v", types.String())}
		e, err := Format{}.NewEncoder(spi.EncodeSpec{Columns: cols, Mode: spi.Retract}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !e.Updates() {
			t.Error("an update is one message")
		}
		got, err := e.Encode([]byte("x"), c.before, c.after)
		if err != nil || string(got) != "x"+c.want {
			t.Errorf("%s %v", got, err)
		}
		if back, err := open(t, spi.DecodeSpec{Columns: cols, Mode: spi.Retract}, nil).feed("", string(got[1:])); err != nil || back != c.back {
			t.Errorf("read back %s %v", back, err)
		}
		if _, err := e.Encode(nil, nil, nil); err == nil {
			t.Error("nothing was encoded")
		}
	}
}

// TestEncodeTypes reads back a row of every type, with and without schema, and wants the schema to tell what
// Kafka Connect would read.
func TestEncodeTypes(t *testing.T) {
	inner := types.RowOf(types.Field{Name: "x", Type: types.DecimalOf(4, 2)}, types.Field{Name: "y", Type: types.Bytes()})
	cols := []spi.Column{
		col("bool", types.Of(types.Boolean)), col("i8", types.Of(types.TinyInt)), col("i16", types.Of(types.SmallInt)), col("i32", types.Of(types.Int).Required()), col("i64", types.Of(types.BigInt)),
		col("f", types.Of(types.Float)), col("d", types.Of(types.Double)), col("dec", types.DecimalOf(38, 10)), col("whole", types.DecimalOf(4, 0)), col("s", types.String()), col("b", types.Bytes()),
		col("day", date), col("t", times(6)), col("ts", types.TimestampOf(9)), col("ltz", types.TimestampLTZOf(3)),
		col("a", types.ArrayOf(types.DecimalOf(6, 2))), col("m", types.MapOf(types.String(), types.TimestampOf(3))), col("r", inner),
	}
	parse := func(i int, s string) row.Datum {
		v, err := text.Parse(cols[i].Type, []byte(s), nil)
		if err != nil {
			t.Fatal(cols[i].Name, s, err)
		}
		return v
	}
	stamp, err := text.Parse(types.TimestampOf(3), []byte("2024-02-29 12:34:56.789"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var b row.Builder
	b.Begin(nil, 2)
	b.Datum(0, types.DecimalOf(4, 2).Phys(), row.Int(-150))
	b.Bytes(1, []byte{0, 255})
	rowValue := b.Finish([]types.Phys{types.DecimalOf(4, 2).Phys(), types.PhysBytes})
	rows := [][]row.Datum{{}, {}}
	for i, pair := range [][2]string{
		{"true", "false"}, {"-128", "127"}, {"-32768", "32767"}, {"-2147483648", "2147483647"}, {"-9223372036854775808", "9007199254740993"}, {"1.5", "NaN"}, {"-Infinity", "1e300"},
		{"9999999999999999999999999999.9999999999", "0.0000000001"}, {"1234", "-1"}, {"\"é😀\u2028", ""}, {"00ff", ""},
		{"0001-01-01", "9999-12-31"}, {"23:59:59.999999", "00:00:00"}, {"1582-10-15 00:00:00.000000001", "9999-12-31 23:59:59.999999999"}, {"1969-12-31 23:59:59.999", "2024-02-29 12:34:56.789"},
	} {
		for k := range rows {
			if cols[i].Name == "b" {
				rows[k] = append(rows[k], row.Bytes([]byte(pair[k])))
				continue
			}
			rows[k] = append(rows[k], parse(i, pair[k]))
		}
	}
	rows[0] = append(rows[0], row.Bytes(row.AppendArray(nil, types.DecimalOf(6, 2).Phys(), []row.Datum{row.Int(150), row.NullDatum})),
		row.Bytes(row.AppendMap(nil, types.PhysBytes, types.TimestampOf(3).Phys(), []row.Datum{row.Bytes([]byte("k"))}, []row.Datum{stamp})), row.Bytes(rowValue))
	rows[1] = append(rows[1], row.Bytes(row.AppendArray(nil, types.DecimalOf(6, 2).Phys(), nil)), row.NullDatum, row.NullDatum)
	var packed []row.Row
	for _, values := range rows {
		var b row.Builder
		b.Begin(nil, len(cols))
		phys := make([]types.Phys, len(cols))
		for i, v := range values {
			phys[i] = cols[i].Type.Phys()
			b.Datum(i, phys[i], v)
		}
		packed = append(packed, row.Row(b.Finish(phys)))
	}
	want := "-U" + show(packed[0], cols) + " +U" + show(packed[1], cols)
	for _, o := range []spi.Options{{}, {"schema-include": "true"}, {"schema-include": "true", "timestamp-format.standard": "ISO-8601"}, {"encode.decimal-as-plain-number": "true"}, {"encode.ignore-null-fields": "true"}} {
		e, err := Format{}.NewEncoder(spi.EncodeSpec{Columns: cols, Mode: spi.Retract}, o)
		if err != nil {
			t.Fatal(err)
		}
		msg, err := e.Encode(nil, packed[0], packed[1])
		if err != nil {
			t.Fatal(err)
		}
		s := open(t, spi.DecodeSpec{Columns: cols, Mode: spi.Retract}, nil)
		for range 2 {
			if got, err := s.feed("", string(msg)); err != nil || got != want {
				t.Fatalf("%v: %s\ngot  %s %v\nwant %s", o, msg, got, err, want)
			}
		}
		if _, asked := o["schema-include"]; asked != strings.HasPrefix(string(msg), `{"schema":{"type":"struct"`) {
			t.Errorf("%v: %s", o, msg)
		}
	}
}

// TestEncodedSchema is the schema beside the payload, word for word.
func TestEncodedSchema(t *testing.T) {
	e, err := Format{}.NewEncoder(spi.EncodeSpec{Columns: []spi.Column{col("id", types.Of(types.Int).Required()), col("n", types.DecimalOf(10, 2))}, Mode: spi.Retract}, spi.Options{"schema-include": "true"})
	if err != nil {
		t.Fatal(err)
	}
	var b row.Builder
	b.Begin(nil, 2)
	b.Int64(0, 1)
	got, err := e.Encode(nil, nil, row.Row(b.Finish(nil)))
	const fields = `"fields":[{"type":"int32","optional":false,"field":"id"},{"type":"bytes","optional":true,"name":"org.apache.kafka.connect.data.Decimal","version":1,"field":"n","parameters":{"connect.decimal.precision":"10","scale":"2"}}]}`
	const want = `{"schema":{"type":"struct","optional":false,"name":"Envelope","fields":[{"type":"struct","optional":true,"name":"Value","field":"before",` + fields +
		`,{"type":"struct","optional":true,"name":"Value","field":"after",` + fields + `,{"type":"string","optional":false,"field":"op"}]},"payload":{"before":null,"after":{"id":1,"n":null},"op":"c"}}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s %v\nwant %s", got, err, want)
	}
}
