package debezium

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/types"
)

var (
	date  = types.Of(types.Date)
	big   = types.Of(types.BigInt)
	times = func(p int) types.Type { return types.Type{Kind: types.Time, Precision: p} }
)

// schemaOf is the embedded schema of a row with the column c of the given schema.
func schemaOf(c string) string {
	row := `{"type":"struct","fields":[` + c[:len(c)-1] + `,"field":"c"}],"optional":true,"name":"pg.public.t.Value"`
	return `{"type":"struct","fields":[` + row + `,"field":"before"},` + row + `,"field":"after"}],"name":"pg.public.t.Envelope"}`
}

func named(typ, name, parameters string) string {
	return fmt.Sprintf(`{"type":%q,"optional":true,"name":%q,"parameters":{%s}}`, typ, name, parameters)
}

// encodings are values with what tells their encoding: the schema of the field, or the format's options.
var encodings = []struct {
	what    string
	schema  string // of the field; "" is none
	options string
	value   string
	typ     types.Type
	want    string // or the reason of the error
}{
	{"DATE", named("int32", "io.debezium.time.Date", ""), "", "19782", date, "2024-02-29"},
	{"DATE of Connect", named("int32", "org.apache.kafka.connect.data.Date", ""), "", "-719162", date, "0001-01-01"},
	{"DATE as its midnight", named("int32", "io.debezium.time.Date", ""), "", "19782", types.TimestampOf(3), "2024-02-29 00:00:00.000"},
	{"DATE as TIME", named("int32", "io.debezium.time.Date", ""), "", "19782", times(0), "type"},
	{"DATE as a number", named("int32", "io.debezium.time.Date", ""), "", "19782", big, "19782"},
	{"TIME in ms", named("int32", "io.debezium.time.Time", ""), "", "45296789", times(6), "12:34:56.789000"},
	{"TIME in µs", named("int64", "io.debezium.time.MicroTime", ""), "", "45296789012", times(0), "12:34:56"},
	{"TIME in ns", named("int64", "io.debezium.time.NanoTime", ""), "", "45296789012345", times(6), "12:34:56.789012"},
	{"TIME of Connect", named("int32", "org.apache.kafka.connect.data.Time", ""), "", "45296789", times(6), "12:34:56.789000"},
	{"TIME 24:00", named("int64", "io.debezium.time.MicroTime", ""), "", "86400000000", times(6), "range"},
	{"TIME as TIMESTAMP", named("int64", "io.debezium.time.MicroTime", ""), "", "1", types.TimestampOf(6), "type"},
	{"TIMESTAMP in ms", named("int64", "io.debezium.time.Timestamp", ""), "", "1709210096789", types.TimestampOf(6), "2024-02-29 12:34:56.789000"},
	{"TIMESTAMP in µs", named("int64", "io.debezium.time.MicroTimestamp", ""), "", "1709210096789012", types.TimestampOf(3), "2024-02-29 12:34:56.789"},
	{"TIMESTAMP in ns", named("int64", "io.debezium.time.NanoTimestamp", ""), "", "-1", types.TimestampOf(6), "1969-12-31 23:59:59.999999"},
	{"TIMESTAMP in ns, whole", named("int64", "io.debezium.time.NanoTimestamp", ""), "", "1709210096789012345", types.TimestampOf(9), "2024-02-29 12:34:56.789012345"},
	{"TIMESTAMP of Connect", named("int64", "org.apache.kafka.connect.data.Timestamp", ""), "", "1709210096789", types.TimestampOf(6), "2024-02-29 12:34:56.789000"},
	{"the smallest number in ns", named("int64", "io.debezium.time.NanoTimestamp", ""), "", "-9223372036854775808", types.TimestampOf(0), "range"},
	{"TIMESTAMP infinity", named("int64", "io.debezium.time.MicroTimestamp", ""), "", "9223372036825200000", types.TimestampOf(6), "294247-01-10 04:00:25.200000"},
	{"TIMESTAMP as DATE", named("int64", "io.debezium.time.MicroTimestamp", ""), "", "1709210096789012", date, "type"},
	{"BIGINT as TIMESTAMP", `{"type":"int64"}`, "", "1709210096789", types.TimestampOf(3), "type"},
	{"zoned", named("string", "io.debezium.time.ZonedTimestamp", ""), "", `"2024-02-29T09:34:56.789012Z"`, types.TimestampLTZOf(3), "2024-02-29 09:34:56.789"},
	{"zoned as TIMESTAMP is in UTC", "", "", `"2024-02-29T09:34:56.789012Z"`, types.TimestampOf(6), "2024-02-29 09:34:56.789012"},
	{"zoned, year 12024", "", "", `"+12024-01-01T00:00:00.000000Z"`, types.TimestampLTZOf(3), "12024-01-01 00:00:00.000"},
	{"zoned, 44 BC", "", "", `"-0043-03-15T12:00:00.000000Z"`, types.TimestampLTZOf(3), "-0043-03-15 12:00:00.000"},
	{"zoned infinity", "", "", `"infinity"`, types.TimestampLTZOf(3), "294247-01-10 04:00:25.200"},
	{"zoned -infinity", "", "", `"-infinity"`, types.TimestampLTZOf(3), "-290308-12-21 19:59:27.600"},
	{"isostring DATE", "", "", `"2024-02-29Z"`, date, "2024-02-29"},
	{"isostring TIME", "", "", `"12:34:56.789012Z"`, times(3), "12:34:56.789"},

	{"option microseconds", "", "time-precision-mode=microseconds", "1709210096789012", types.TimestampOf(3), "2024-02-29 12:34:56.789"},
	{"option nanoseconds", "", "time-precision-mode=nanoseconds", "45296789012345", times(3), "12:34:56.789"},
	{"option connect", "", "time-precision-mode=connect", "1709210096789", types.TimestampOf(6), "2024-02-29 12:34:56.789000"},
	{"option adaptive_time_microseconds, TIME", "", "time-precision-mode=adaptive_time_microseconds", "45296789012", times(0), "12:34:56"},
	{"option adaptive_time_microseconds, TIMESTAMP", "", "time-precision-mode=adaptive_time_microseconds", "1709210096789", types.TimestampOf(3), "2024-02-29 12:34:56.789"},
	{"option isostring", "", "time-precision-mode=isostring", "1709210096789", types.TimestampOf(3), "type"},
	{"the schema goes before the option", named("int64", "io.debezium.time.MicroTimestamp", ""), "time-precision-mode=connect", "1709210096789012", types.TimestampOf(3), "2024-02-29 12:34:56.789"},

	{"DECIMAL by the schema's scale", named("bytes", "org.apache.kafka.connect.data.Decimal", `"scale":"2","connect.decimal.precision":"10"`), "", `"AMg="`, types.DecimalOf(10, 2), "2.00"},
	{"DECIMAL of a wider scale", named("bytes", "org.apache.kafka.connect.data.Decimal", `"scale":"2"`), "", `"/w=="`, types.DecimalOf(10, 4), "-0.0100"},
	{"DECIMAL of a narrower scale", named("bytes", "org.apache.kafka.connect.data.Decimal", `"scale":"4"`), "", `"ZA=="`, types.DecimalOf(10, 2), "0.01"},
	{"DECIMAL that would lose digits", named("bytes", "org.apache.kafka.connect.data.Decimal", `"scale":"4"`), "", `"ZQ=="`, types.DecimalOf(10, 2), "range"},
	{"DECIMAL that does not fit", named("bytes", "org.apache.kafka.connect.data.Decimal", `"scale":"0"`), "", `"SztMqFqGxHoJiiI//////w=="`, types.DecimalOf(10, 0), "range"},
	{"DECIMAL of 38 digits", named("bytes", "org.apache.kafka.connect.data.Decimal", `"scale":"10"`), "", `"SztMqFqGxHoJiiI//////w=="`, types.DecimalOf(38, 10), "9999999999999999999999999999.9999999999"},
	{"DECIMAL as STRING", named("bytes", "org.apache.kafka.connect.data.Decimal", `"scale":"2"`), "", `"/w=="`, types.String(), "-0.01"},
	{"DECIMAL as DOUBLE", named("bytes", "org.apache.kafka.connect.data.Decimal", `"scale":"2"`), "", `"ZA=="`, types.Of(types.Double), "1.0"},
	{"DECIMAL as BIGINT", named("bytes", "org.apache.kafka.connect.data.Decimal", `"scale":"0"`), "", `"AMg="`, big, "200"},
	{"DECIMAL as JSON number", named("bytes", "org.apache.kafka.connect.data.Decimal", `"scale":"2"`), "", `1.00`, types.DecimalOf(10, 2), "1.00"},
	{"BIGINT UNSIGNED, precise", named("bytes", "org.apache.kafka.connect.data.Decimal", `"scale":"0"`), "", `"AP//////////"`, types.DecimalOf(20, 0), "18446744073709551615"},
	{"BIGINT UNSIGNED, long", "", "bigint-unsigned-handling-mode=long", `-1`, types.DecimalOf(20, 0), "18446744073709551615"},
	{"a negative DECIMAL(20, 0)", "", "", `-1`, types.DecimalOf(20, 0), "-1"},
	{"NUMERIC", named("struct", "io.debezium.data.VariableScaleDecimal", ""), "", `{"scale":21,"value":"/w=="}`, types.DecimalOf(38, 21), "-0.000000000000000000001"},
	{"NUMERIC without schema", "", "", `{"scale":0,"value":"AMg="}`, types.DecimalOf(38, 2), "200.00"},
	{"NUMERIC with blanks and an order", "", "", `{ "value" : "AMg=" , "scale" : -2 }`, types.DecimalOf(38, 2), "20000.00"},
	{"NUMERIC as STRING", named("struct", "io.debezium.data.VariableScaleDecimal", ""), "", `{"scale":2,"value":"MDlJVd1S+d1j8F1Dg5sn"}`, types.String(), "2503921567867336968731652880683241.35"},
	{"NUMERIC of a mad scale", "", "", `{"scale":2000000000,"value":"AMg="}`, types.DecimalOf(38, 2), "range"},
	{"NUMERIC with another member", "", "", `{"scale":1,"value":"AMg=","x":1}`, types.DecimalOf(38, 2), "type"},
	{"base64 by the declared scale", "", "", `"AMg="`, types.DecimalOf(10, 2), "2.00"},
	{"zero in base64", "", "", `"AA=="`, types.DecimalOf(10, 2), "0.00"},
	{"digits", "", "", `"1.00"`, types.DecimalOf(10, 2), "1.00"},
	{"digits that could be base64", "", "", `"1234"`, types.DecimalOf(10, 0), "type"},
	{"option string", "", "decimal-handling-mode=string", `"1234"`, types.DecimalOf(10, 0), "1234"},
	{"option precise", "", "decimal-handling-mode=precise", `"1234"`, types.DecimalOf(10, 0), "-2658824"},
	{"option double", "", "decimal-handling-mode=double", `1.0E3`, types.DecimalOf(10, 0), "1000"},
	{"NaN is no DECIMAL", "", "decimal-handling-mode=string", `"NAN"`, types.DecimalOf(10, 2), "type"},

	{"BYTES", `{"type":"bytes"}`, "", `"3q2+7w=="`, types.Bytes(), "x'deadbeef'"},
	{"BYTES without schema", "", "", `"3q2+7w=="`, types.Bytes(), "x'deadbeef'"},
	{"a string as BYTES", `{"type":"string"}`, "", `"deadbeef"`, types.Bytes(), "type"},
	{"option hex", `{"type":"string"}`, "binary-handling-mode=hex", `"deadbeef"`, types.Bytes(), "x'deadbeef'"},
	{"option base64-url-safe", "", "binary-handling-mode=base64-url-safe", `"-_-_"`, types.Bytes(), "x'fbffbf'"},
	{"not hex", "", "binary-handling-mode=hex", `"xy"`, types.Bytes(), "type"},
	{"BIT(8) as STRING", named("bytes", "io.debezium.data.Bits", `"length":"8"`), "", `"AQ=="`, types.String(), "00000001"},
	{"BIT(12) as STRING", named("bytes", "io.debezium.data.Bits", `"length":"12"`), "", `"AQg="`, types.String(), "100000000001"},
	{"BIT(12) of zeros", named("bytes", "io.debezium.data.Bits", `"length":"12"`), "", `""`, types.String(), "000000000000"},
	{"BIT(12) as a number", named("bytes", "io.debezium.data.Bits", `"length":"12"`), "", `"AQg="`, big, "2049"},
	{"BIT(64) as DECIMAL", named("bytes", "io.debezium.data.Bits", `"length":"64"`), "", `"//////////8="`, types.DecimalOf(20, 0), "18446744073709551615"},
	{"BIT(12) as BYTES", named("bytes", "io.debezium.data.Bits", `"length":"12"`), "", `"AQg="`, types.Bytes(), "x'0108'"},
	{"BIT(1)", `{"type":"boolean"}`, "", `true`, types.Of(types.Boolean), "TRUE"},

	{"interval in µs", named("int64", "io.debezium.time.MicroDuration", ""), "", `93784000001`, types.Of(types.IntervalDT), "+1 02:03:04.000001"},
	{"interval in µs without schema", "", "", `-1`, types.Of(types.IntervalDT), "-0 00:00:00.000001"},
	{"interval in ns", named("int64", "io.debezium.time.NanoDuration", ""), "", `1999`, types.Of(types.IntervalDT), "+0 00:00:00.000001"},
	{"interval as a number", named("int64", "io.debezium.time.MicroDuration", ""), "", `2629800000000`, big, "2629800000000"},
	{"interval in µs as months", named("int64", "io.debezium.time.MicroDuration", ""), "", `2629800000000`, types.Of(types.IntervalYM), "type"},
	{"interval string", named("string", "io.debezium.time.Interval", ""), "", `"P0Y0M3DT4H5M6.789012S"`, types.Of(types.IntervalDT), "+3 04:05:06.789012"},
	{"interval string, negative", "", "", `"P0Y0M-1DT0H0M-0.000001S"`, types.Of(types.IntervalDT), "-1 00:00:00.000001"},
	{"interval string of months", "", "", `"P1Y2M0DT0H0M0S"`, types.Of(types.IntervalYM), "+1-02"},
	{"interval string with months and days", "", "", `"P1Y2M3DT0H0M0S"`, types.Of(types.IntervalYM), "range"},
	{"months are no days", "", "", `"P0Y1M0DT0H0M0S"`, types.Of(types.IntervalDT), "range"},
	{"interval string beyond 64 bits", "", "", `"P0Y0M200000000DT0H0M0S"`, types.Of(types.IntervalDT), "range"},
	{"no interval", "", "", `"P"`, types.Of(types.IntervalDT), "type"},
	{"interval string as STRING", "", "", `"P1Y2M3DT0H0M0S"`, types.String(), "P1Y2M3DT0H0M0S"},
	{"TIME beyond a day", named("int64", "io.debezium.time.MicroTime", ""), "", `-3020399000000`, types.Of(types.IntervalDT), "-34 22:59:59.000"},
	{"TIMESTAMP as interval", named("int64", "io.debezium.time.MicroTimestamp", ""), "", `1`, types.Of(types.IntervalDT), "type"},

	{"hstore", named("string", "io.debezium.data.Json", ""), "", `"{\"a\":\"1\",\"b\":null}"`, types.MapOf(types.String(), types.String()), "{a=1, b=NULL}"},
	{"hstore without schema", "", "", `"{\"k \\\"\":\"\"}"`, types.MapOf(types.String(), types.String()), `{k "=}`},
	{"hstore of numbers", "", "", `"{\"a\":\"1\"}"`, types.MapOf(types.String(), types.Of(types.Int)), "{a=1}"},
	{"hstore as an object", "", "", `{"a":"1","b":null}`, types.MapOf(types.String(), types.String()), "{a=1, b=NULL}"},
	{"hstore as STRING", "", "", `"{\"a\":\"1\"}"`, types.String(), `{"a":"1"}`},
	{"JSON as ROW", named("string", "io.debezium.data.Json", ""), "", `"{\"n\": 9007199254740993, \"l\": [1, 2]}"`, types.RowOf(types.Field{Name: "n", Type: big}, types.Field{Name: "l", Type: types.ArrayOf(big)}), "(9007199254740993, [1, 2])"},
	{"JSON as ARRAY", "", "", `"[1, null]"`, types.ArrayOf(big), "[1, NULL]"},
	{"JSON null as ROW", "", "", `"null"`, types.RowOf(types.Field{Name: "n", Type: big}), "NULL"},
	{"JSON of another type", "", "", `"[1]"`, types.RowOf(types.Field{Name: "n", Type: big}), "type"},
	{"JSON within JSON is text", "", "", `"{\"l\":\"[1]\"}"`, types.RowOf(types.Field{Name: "l", Type: types.ArrayOf(big)}), "type"},
	{"no JSON", "", "", `"{"`, types.MapOf(types.String(), types.String()), "type"},
	{"jsonb[]", "", "", `["{\"a\":1}",null]`, types.ArrayOf(types.MapOf(types.String(), big)), "[{a=1}, NULL]"},
	{"JSON as STRING", "", "", `"{\"a\": 1.10}"`, types.String(), `{"a": 1.10}`},
	{"point", "", "", `{"x":1.5,"y":-2.0,"wkb":"AQ==","srid":null}`, types.RowOf(types.Field{Name: "x", Type: types.Of(types.Double)}, types.Field{Name: "wkb", Type: types.Bytes()}, types.Field{Name: "srid", Type: types.Of(types.Int)}), "(1.5, x'01', NULL)"},
	{"point as STRING", "", "", `{"x": 1.5, "y": -2.0}`, types.String(), `{"x":1.5,"y":-2.0}`},
	{"tinyint(1) as BOOLEAN", "", "", `1`, types.Of(types.Boolean), "TRUE"},
	{"tinyint(1) of 2 as BOOLEAN", "", "", `2`, types.Of(types.Boolean), "type"},
	{"double NaN", "", "", `"NaN"`, types.Of(types.Double), "NaN"},
	{"double infinity", "", "", `"-Infinity"`, types.Of(types.Double), "-Infinity"},
	{"numeric NaN as DOUBLE", "", "decimal-handling-mode=string", `"NAN"`, types.Of(types.Double), "NaN"},
	{"numeric infinity as DOUBLE", "", "decimal-handling-mode=string", `"NEGATIVE_INFINITY"`, types.Of(types.Double), "-Infinity"},
	{"NUMERIC as DOUBLE", "", "", `{"scale":1,"value":"ZA=="}`, types.Of(types.Double), "10.0"},
	{"bigint beyond 2^53", "", "", `9007199254740993`, big, "9007199254740993"},
	{"bigint as INT", "", "", `2147483648`, types.Of(types.Int), "range"},
	{"a fraction as BIGINT", "", "", `1.5`, big, "type"},
	{"a double as BIGINT", "", "", `1.0E3`, big, "1000"},
	{"a string as BIGINT", "", "", `"x"`, big, "type"},
	{"true as BIGINT", "", "", `true`, big, "type"},

	{"NUMERIC[]", `{"type":"array","items":` + named("bytes", "org.apache.kafka.connect.data.Decimal", `"scale":"2"`) + `}`, "", `["AJY=",null,"/x8="]`, types.ArrayOf(types.DecimalOf(6, 2)), "[1.50, NULL, -2.25]"},
	{"TIMESTAMP[]", `{"type":"array","items":` + named("int64", "io.debezium.time.MicroTimestamp", "") + `}`, "", `[1709210096789012]`, types.ArrayOf(types.TimestampOf(3)), "[2024-02-29 12:34:56.789]"},
}

func TestEncodings(t *testing.T) {
	for _, c := range encodings {
		t.Run(c.what, func(t *testing.T) {
			o := spi.Options{}
			if k, v, ok := strings.Cut(c.options, "="); ok {
				o[k] = v
			}
			s := open(t, spi.DecodeSpec{Columns: []spi.Column{col("c", c.typ)}, Mode: spi.Retract}, o)
			for range 3 { // the second and third time by prediction
				msg := `{"after":{"c":` + c.value + `},"op":"c"}`
				if c.schema != "" {
					msg = `{"schema":` + schemaOf(c.schema) + `,"payload":` + msg + `}`
				}
				got, err := s.feed("", msg)
				if err != nil {
					got = strings.TrimPrefix(string(decodeError(t, err).Code), "message-")
					if e := decodeError(t, err); !strings.HasPrefix(e.Field, "after.c") || e.Fix == "" {
						t.Error(err)
					}
				} else {
					got = strings.TrimSuffix(strings.TrimPrefix(got, "+I("), ")")
				}
				if got != c.want {
					t.Errorf("%s %s: got %s (%v), want %s", c.typ, c.value, got, err, c.want)
				}
			}
		})
	}
}

// TestSchemaChanges reads messages whose schema is another one from one to the next, or is left out.
func TestSchemaChanges(t *testing.T) {
	s := open(t, spi.DecodeSpec{Columns: []spi.Column{col("c", types.TimestampOf(6))}, Mode: spi.Retract}, nil)
	message := func(schema, value string) string {
		return `{"schema":` + schema + `,"payload":{"after":{"c":` + value + `},"op":"c"}}`
	}
	ms, us := schemaOf(named("int64", "io.debezium.time.Timestamp", "")), schemaOf(named("int64", "io.debezium.time.MicroTimestamp", ""))
	const want = "+I(2024-02-29 12:34:56.789000)"
	for i, m := range []string{
		message(ms, "1709210096789"), message(ms, "1709210096789"), message(us, "1709210096789000"), message(us, "1709210096789000"),
		message(ms, "1709210096789"), message("null", "1709210096789000"), message(ms, "1709210096789"),
		`{"after":{"c":1709210096789000},"op":"c"}`, message(ms, "1709210096789"), " " + message(us, "1709210096789000"),
	} {
		if got, err := s.feed("", m); err != nil || got != want {
			t.Errorf("message %d: %s %v", i, got, err)
		}
	}
	for _, schema := range []string{`{"type":5}`, `{"fields":{}}`} {
		for range 2 {
			if _, err := s.feed("", message(schema, "1")); err == nil || decodeError(t, err).Field != "schema" {
				t.Error(schema, err)
			}
		}
	}
	// More schemas than are remembered.
	for i := range 3 * maxSchemas {
		schema := schemaOf(named("int64", "io.debezium.time.Timestamp", fmt.Sprintf(`"x":"%d"`, i%(maxSchemas+1))))
		if got, err := s.feed("", message(schema, "1709210096789")); err != nil || got != want {
			t.Fatal(got, err)
		}
	}
	if len(s.schemas) > maxSchemas {
		t.Error(len(s.schemas), "schemas are remembered")
	}
}

// TestAmbiguity wants the errors of values that cannot be told to name the option that tells.
func TestAmbiguity(t *testing.T) {
	for _, c := range []struct {
		typ                   types.Type
		schema, value, option string
	}{
		{types.DecimalOf(10, 0), "", `"1234"`, "decimal-handling-mode"},
		{types.Bytes(), `{"type":"string"}`, `"deadbeef"`, "binary-handling-mode"},
		{types.Bytes(), "", `"-_-_"`, "binary-handling-mode"},
	} {
		s := open(t, spi.DecodeSpec{Columns: []spi.Column{col("c", c.typ)}, Mode: spi.Retract}, nil)
		m := `{"after":{"c":` + c.value + `},"op":"c"}`
		if c.schema != "" {
			m = `{"schema":` + schemaOf(c.schema) + `,"payload":` + m + `}`
		}
		if _, err := s.feed("", m); err == nil || !strings.Contains(decodeError(t, err).Fix, "'debezium-json."+c.option+"'") {
			t.Error(c.value, err)
		}
	}
}

// TestKeyWithSchema reads a delete's key by the schema in the key.
func TestKeyWithSchema(t *testing.T) {
	s := open(t, spi.DecodeSpec{Columns: []spi.Column{col("c", types.DecimalOf(10, 4))}, Mode: spi.Upsert, Key: []int{0}}, nil)
	key := `{"schema":{"type":"struct","fields":[` + strings.Replace(named("bytes", "org.apache.kafka.connect.data.Decimal", `"scale":"2"`), `}}`, `},"field":"c"}`, 1) + `]},"payload":{"c":"ZA=="}}`
	for range 2 {
		if got, err := s.feed(key, `{"before":null,"after":null,"op":"d"}`); err != nil || got != "-D(1.0000)" {
			t.Error(got, err)
		}
	}
	if got, err := s.feed(`{"c":"ZA=="}`, `{"before":null,"after":null,"op":"d"}`); err != nil || got != "-D(0.0100)" {
		t.Error(got, err)
	}
}
