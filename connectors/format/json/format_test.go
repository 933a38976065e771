package jsonformat

import (
	"errors"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

// decode returns the rows of the messages as text, one a line.
func decode(t testing.TB, cols []spi.Column, o spi.Options, messages ...string) (string, error) {
	t.Helper()
	d, err := Format{}.NewDecoder(spi.DecodeSpec{Columns: cols}, o)
	if err != nil {
		t.Fatal(err)
	}
	out := newOut(cols)
	for _, m := range messages {
		var v []byte
		if m != "<null>" {
			v = []byte(m)
		}
		if err := d.Decode(spi.Message{Value: v}, out); err != nil {
			return "", err
		}
	}
	var lines []string
	for i := range out.Batch.Len() {
		lines = append(lines, out.Batch.Op(i).String()+show(out.Batch.Row(i), cols))
	}
	return strings.Join(lines, "\n"), nil
}

func show(r row.Row, cols []spi.Column) string {
	buf := []byte{'('}
	for i, c := range cols {
		if i > 0 {
			buf = append(buf, ", "...)
		}
		buf = text.Append(buf, c.Type, r.Get(i, c.Type.Phys()), nil)
	}
	return string(append(buf, ')'))
}

func col(name string, t types.Type) spi.Column { return spi.Column{Name: name, Type: t} }

// TestRawEnvelope is Debezium's envelope as a table of events.
func TestRawEnvelope(t *testing.T) {
	user := types.RowOf(types.Field{Name: "id", Type: types.Of(types.Int)}, types.Field{Name: "firstname", Type: types.String()}, types.Field{Name: "lastname", Type: types.String()})
	cols := []spi.Column{col("before", user), col("op", types.String()), col("after", user)}
	const source = `"source":{"version":"3.6.1.Final","connector":"postgresql","ts_ms":1795987660952,"snapshot":"first"},"transaction":null`
	got, err := decode(t, cols, nil,
		`{"before":null,"after":{"id":1,"firstname":"Egor","lastname":"Myasnik"},`+source+`,"op":"c","ts_ms":1795987661044}`,
		`{"before":{"id":1,"firstname":"Egor","lastname":"Myasnik"},"after":{"id":1,"firstname":"Egor","lastname":"Myasnikov"},`+source+`,"op":"u","ts_ms":1795987661045}`,
		`{"before":{"id":1,"firstname":"Egor","lastname":null},"after":null,`+source+`,"op":"d","ts_ms":1795987661046}`,
		`<null>`,
		`{"op":"m"}`)
	want := strings.Join([]string{
		"+I(NULL, c, (1, Egor, Myasnik))",
		"+I((1, Egor, Myasnik), u, (1, Egor, Myasnikov))",
		"+I((1, Egor, NULL), d, NULL)",
		"+I(NULL, m, NULL)",
	}, "\n")
	if err != nil || got != want {
		t.Errorf("%v\ngot\n%s\nwant\n%s", err, got, want)
	}
	_, err = decode(t, cols, nil, `{"after":{"id":"x"}}`)
	var e *spi.DecodeError
	if !errors.As(err, &e) || e.Field != "after.id" || e.Offset != 15 {
		t.Error(err)
	}
}

func TestValues(t *testing.T) {
	long := types.ArrayOf(types.Of(types.BigInt))
	for _, c := range []struct {
		typ         types.Type
		value, want string // want begins with "!" for an error's reason
	}{
		{types.Of(types.TinyInt), `-128`, "-128"}, {types.Of(types.TinyInt), `128`, "!range"},
		{types.Of(types.SmallInt), `32767`, "32767"}, {types.Of(types.SmallInt), `-32769`, "!range"},
		{types.Of(types.Int), `1.0`, "1"}, {types.Of(types.Int), `12e2`, "1200"}, {types.Of(types.Int), `1.5`, "!type"}, {types.Of(types.Int), `-0`, "0"},
		{types.Of(types.Int), `" 12 "`, "12"}, {types.Of(types.Int), `"1\u0032"`, "12"}, {types.Of(types.Int), `""`, "!type"}, {types.Of(types.Int), `"0x1"`, "!type"},
		{types.Of(types.Int), `true`, "!type"}, {types.Of(types.Int), `[1]`, "!type"}, {types.Of(types.Int), `1e400`, "!range"}, {types.Of(types.Int), `1e99999999999999999999`, "!range"},
		{types.Of(types.BigInt), `9007199254740993`, "9007199254740993"}, {types.Of(types.BigInt), `9223372036854775807`, "9223372036854775807"},
		{types.Of(types.BigInt), `-9223372036854775808`, "-9223372036854775808"}, {types.Of(types.BigInt), `9223372036854775808`, "!range"},
		{types.Of(types.BigInt), `18446744073709551615`, "!range"}, {types.Of(types.BigInt), `-9223372036854775809`, "!range"}, {types.Of(types.BigInt), `"9223372036854775807"`, "9223372036854775807"},
		{types.Of(types.Boolean), `true`, "TRUE"}, {types.Of(types.Boolean), `"False"`, "FALSE"}, {types.Of(types.Boolean), `1`, "TRUE"}, {types.Of(types.Boolean), `2`, "!type"}, {types.Of(types.Boolean), `"yes"`, "!type"},
		{types.Of(types.Double), `1`, "1.0"}, {types.Of(types.Double), `1.5e10`, "1.5E10"}, {types.Of(types.Double), `"NaN"`, "NaN"}, {types.Of(types.Double), `-0.0`, "-0.0"}, {types.Of(types.Double), `1e999`, "!range"}, {types.Of(types.Double), `"x"`, "!type"}, {types.Of(types.Double), `false`, "!type"},
		{types.Of(types.Float), `0.1`, "0.1"}, {types.Of(types.Float), `1e39`, "!range"},
		{types.DecimalOf(10, 2), `1`, "1.00"}, {types.DecimalOf(10, 2), `1.500`, "1.50"}, {types.DecimalOf(10, 2), `1.005`, "!range"}, {types.DecimalOf(10, 2), `"-12345678.91"`, "-12345678.91"}, {types.DecimalOf(10, 2), `123456789`, "!range"}, {types.DecimalOf(10, 2), `1E2`, "100.00"}, {types.DecimalOf(10, 2), `"ZA=="`, "!type"}, {types.DecimalOf(10, 2), `{}`, "!type"},
		{types.DecimalOf(38, 10), `1234567890123456789012345678.0123456789`, "1234567890123456789012345678.0123456789"},
		{types.String(), `"a\tb"`, "a\tb"}, {types.String(), `""`, ""}, {types.String(), `1.50`, "1.50"}, {types.String(), `12345678901234567890123`, "12345678901234567890123"}, {types.String(), `true`, "true"},
		{types.String(), `{ "a" : [ 1, "x y" ], "a":1.0 }`, `{"a":[1,"x y"],"a":1.0}`}, {types.String(), `[ ]`, "[]"}, {types.String(), `"__debezium_unavailable_value"`, "__debezium_unavailable_value"},
		{types.Bytes(), `"3q2+7w=="`, "x'deadbeef'"}, {types.Bytes(), `""`, "x''"}, {types.Bytes(), `"?"`, "!type"}, {types.Bytes(), `1`, "!type"},
		{types.Of(types.Date), `"2024-02-29"`, "2024-02-29"}, {types.Of(types.Date), `"2023-02-29"`, "!range"}, {types.Of(types.Date), `19782`, "!type"}, {types.Of(types.Date), `"x"`, "!type"},
		{types.Type{Kind: types.Time, Precision: 3}, `"12:34:56.789"`, "12:34:56.789"}, {types.Type{Kind: types.Time}, `"25:00:00"`, "!range"},
		{types.TimestampOf(3), `"2024-02-29 12:34:56.789"`, "2024-02-29 12:34:56.789"}, {types.TimestampOf(3), `"2024-02-29T12:34:56.789"`, "2024-02-29 12:34:56.789"},
		{types.TimestampOf(9), `"2024-02-29 12:34:56.123456789"`, "2024-02-29 12:34:56.123456789"}, {types.TimestampLTZOf(3), `"2024-02-29 12:34:56.789Z"`, "2024-02-29 12:34:56.789"}, {types.TimestampLTZOf(3), `"2024-02-29T12:34:56+02:00"`, "2024-02-29 10:34:56.000"}, {types.TimestampOf(3), `1`, "!type"},
		{long, `[1, null ,9007199254740993]`, "[1, NULL, 9007199254740993]"}, {long, `[]`, "[]"}, {long, `{}`, "!type"}, {long, `[1,"x"]`, "!type"},
		{types.ArrayOf(long), `[[1],[],null,[2,3]]`, "[[1], [], NULL, [2, 3]]"},
		{types.MapOf(types.String(), types.Of(types.Int)), `{"a":1,"b\n":null,"":3,"a":4}`, "{a=4, b\n=NULL, =3}"}, {types.MapOf(types.String(), long), `{"a":[1],"b":[2,3]}`, "{a=[1], b=[2, 3]}"}, {types.MapOf(types.String(), long), `[]`, "!type"},
		{types.MapOf(types.String(), types.String()), `{"a":{"x": 1},"b":"\u00e9"}`, `{a={"x":1}, b=é}`},
		{types.RowOf(types.Field{Name: "x", Type: types.Of(types.Int)}, types.Field{Name: "y", Type: types.RowOf(types.Field{Name: "z", Type: types.String()})}), `{"y":{"z":"\u00e9","q":1},"x":1}`, "(1, (é))"},
		{types.RowOf(types.Field{Name: "x", Type: types.Of(types.Int)}), `[1]`, "!type"}, {types.RowOf(types.Field{Name: "x", Type: types.Of(types.Int)}), `{}`, "(NULL)"},
		{types.ArrayOf(types.RowOf(types.Field{Name: "a", Type: types.String()}, types.Field{Name: "b", Type: long})), `[{"a":"\"","b":[1]},{"b":[2,3],"a":"z"},{}]`, `[(", [1]), (z, [2, 3]), (NULL, NULL)]`},
		{types.Of(types.Int).Required(), `1`, "1"}, {types.Of(types.Int).Required(), `null`, "!null"}, {types.Of(types.Int), `null`, "NULL"}, {types.ArrayOf(types.Of(types.Int).Required()), `[null]`, "!null"},
	} {
		got, err := decode(t, []spi.Column{col("before", types.String()), col("c", c.typ), col("after", types.String())}, nil, `{"before":"\u0041", "c": `+c.value+`,"after":"z"}`)
		var e *spi.DecodeError
		if errors.As(err, &e) {
			got = "!" + strings.TrimPrefix(string(e.Code), "message-")
			if !strings.HasPrefix(e.Field, "c") || e.Offset < 20 || e.Fix == "" {
				t.Errorf("%s from %s: field %q, %v", c.typ, c.value, e.Field, err)
			}
		} else if err != nil {
			t.Fatal(err)
		} else {
			got = strings.TrimSuffix(strings.TrimPrefix(got, "+I(A, "), ", z)")
		}
		if got != c.want {
			t.Errorf("%s from %s: got %q (%v), want %q", c.typ, c.value, got, err, c.want)
		}
	}
}

func TestErrorPaths(t *testing.T) {
	inner := types.RowOf(types.Field{Name: "b.c", Type: types.MapOf(types.String(), types.ArrayOf(types.RowOf(types.Field{Name: "d", Type: types.Of(types.Int)})))})
	_, err := decode(t, []spi.Column{col("a", inner)}, nil, `{"a":{"b.c":{"k":[{},{"d":"`+strings.Repeat("é", 50)+`"}]}}}`)
	want := `field a.b.c.k[1].d: wants INT, found the string "` + strings.Repeat("é", 19) + `… (at byte 26); declare a type that takes it (STRING takes any), or skip such messages with 'json.ignore-parse-errors' = 'true'`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	for m, want := range map[string]string{
		``:        "the message ends where a value should be",
		`[1]`:     "wants an object, found the array [1]",
		`{"a":1,`: "the message is not valid JSON",
	} {
		if _, err := decode(t, []spi.Column{col("a", types.String())}, nil, m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", m, err)
		}
	}
	if got, err := decode(t, []spi.Column{col("a", types.String())}, nil, `null`); got != "" || err != nil {
		t.Error(got, err)
	}
}

func TestDecodeOptions(t *testing.T) {
	ts := []spi.Column{col("t", types.TimestampOf(0))}
	for _, c := range []struct {
		option, value, message string
		ok                     bool
	}{
		{"timestamp-format.standard", "SQL", `{"t":"2024-02-29T12:34:56"}`, false},
		{"timestamp-format.standard", "sql", `{"t":"2024-02-29 12:34:56"}`, true},
		{"timestamp-format.standard", "ISO-8601", `{"t":"2024-02-29 12:34:56"}`, false},
		{"timestamp-format.standard", "ISO-8601", `{"t":"2024-02-29T12:34:56"}`, true},
		{"fail-on-missing-field", "true", `{"t":null}`, true},
		{"fail-on-missing-field", "true", `{"T":null}`, false},
		{"fail-on-missing-field", "false", `{}`, true},
		{"ignore-parse-errors", "true", `{`, false}, // it is the connector that skips
	} {
		if _, err := decode(t, ts, spi.Options{c.option: c.value}, c.message); (err == nil) != c.ok {
			t.Errorf("%s=%s: %s: %v", c.option, c.value, c.message, err)
		}
	}
	if yes, err := spi.SkipsErrors(spi.Options{"ignore-parse-errors": "true"}); !yes || err != nil {
		t.Error(yes, err)
	}
	for _, typ := range []types.Type{types.Of(types.IntervalDT), types.ArrayOf(types.Of(types.IntervalYM))} {
		if _, err := (Format{}).NewEncoder(spi.EncodeSpec{Columns: []spi.Column{col("x", typ)}}, nil); err == nil {
			t.Error("no error for", typ)
		}
	}
	for _, c := range []spi.Column{col("x", types.MapOf(types.Of(types.Int), types.String())), {Name: "x", Type: types.String(), Metadata: "m"}} {
		if _, err := (Format{}).NewDecoder(spi.DecodeSpec{Columns: []spi.Column{c}}, nil); err == nil {
			t.Error("no error for", c)
		}
		if _, err := (Format{}).NewEncoder(spi.EncodeSpec{Columns: []spi.Column{c}}, nil); err == nil {
			t.Error("no error for", c)
		}
	}
	if _, err := (Format{}).NewDecoder(spi.DecodeSpec{Mode: spi.Upsert}, nil); err == nil {
		t.Error("upserts from json")
	}
	if _, err := (Format{}).NewEncoder(spi.EncodeSpec{Mode: spi.Retract}, nil); err == nil {
		t.Error("retractions to json")
	}
}

func newOut(cols []spi.Column) *spi.Out {
	out := spi.NewOut(cols)
	out.Batch = &changelog.Batch{}
	return out
}
