package debezium

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/types"
)

// event is an event of Debezium's connector for MongoDB; empty documents are null.
func event(op, before, after string) string {
	text := func(doc string) string {
		if doc == "" {
			return "null"
		}
		b, _ := json.Marshal(doc)
		return string(b)
	}
	return `{"before":` + text(before) + `,"after":` + text(after) + `,"updateDescription":null,"source":{"version":"3.0.8.Final","connector":"mongodb","db":"app","collection":"users","ord":1},"op":"` + op + `","ts_ms":1764450000000}`
}

// documentKeyOf is the message key of the document with the given _id.
func documentKeyOf(id string) string {
	b, _ := json.Marshal(map[string]string{"id": id})
	return string(b)
}

// wrap puts a value into the envelope of embedded schemas; a document's text has the schema of a string.
func wrap(payload string) string {
	row := `{"type":"string","optional":true,"name":"io.debezium.data.Json","version":1,"field":`
	return `{"schema":{"type":"struct","fields":[` + row + `"before"},` + row + `"after"}],"name":"m.app.users.Envelope"},"payload":` + payload + `}`
}

var documentColumns = []spi.Column{
	col("_id", types.String().Required()), col("name", types.String()), col("n", types.Of(types.BigInt)),
	col("coll FROM source.properties", types.MapOf(types.String(), types.String())),
}

func TestDocuments(t *testing.T) {
	const id = `{"$oid": "596e275826f08b2730779e1f"}`
	doc := func(name, n string) string { return `{"_id": ` + id + `, "name": ` + name + `, "n": ` + n + `}` }
	for _, wrapped := range []bool{false, true} {
		s := open(t, spi.DecodeSpec{Columns: documentColumns[:3], Mode: spi.Upsert, Key: []int{0}}, nil)
		for i, c := range []struct{ key, value, want string }{
			{id, event("r", "", doc(`"a\"b"`, `{"$numberLong": "9007199254740993"}`)), `+U(596e275826f08b2730779e1f, a"b, 9007199254740993)`},
			{id, event("u", "", doc(`null`, `1`)), "+U(596e275826f08b2730779e1f, NULL, 1)"},
			{id, event("u", doc(`null`, `1`), doc(`"é"`, `2.0`)), "+U(596e275826f08b2730779e1f, é, 2)"},
			{id, event("d", doc(`"é"`, `2`), ""), "-D(596e275826f08b2730779e1f, NULL, NULL)"},
			{id, "", ""}, // the tombstone that follows
			{id, event("c", "", `{"_id": `+id+`}`), "+U(596e275826f08b2730779e1f, NULL, NULL)"},
			{id, event("d", "", ""), "-D(596e275826f08b2730779e1f, NULL, NULL)"},
			{`1004`, event("d", "", ""), "-D(1004, NULL, NULL)"},
			{`"1004"`, event("d", "", ""), "-D(1004, NULL, NULL)"},
			{`{"$numberLong": "5"}`, "", "-D(5, NULL, NULL)"}, // compaction took the event
		} {
			key, value := documentKeyOf(c.key), c.value
			if wrapped {
				key = `{"schema":{"type":"struct","fields":[{"type":"string","field":"id"}]},"payload":` + key + `}`
			}
			if wrapped && value != "" {
				value = wrap(value)
			}
			if got, err := s.feed(key, value); err != nil || got != c.want {
				t.Errorf("message %d, with schema %t: got %s %v, want %s", i, wrapped, got, err, c.want)
			}
		}
	}
	s := open(t, spi.DecodeSpec{Columns: documentColumns, Mode: spi.Retract}, nil)
	got, err := s.feed(documentKeyOf("1"), event("u", `{"_id": 1, "n": 1}`, `{"n": 2, "_id": 1}`))
	const source = `, {version=3.0.8.Final, connector=mongodb, db=app, collection=users, ord=1})`
	if want := `-U(1, NULL, 1` + source + ` +U(1, NULL, 2` + source; err != nil || got != want {
		t.Errorf("got %s %v, want %s", got, err, want)
	}
}

func TestDocumentErrors(t *testing.T) {
	for _, c := range []struct {
		what, value, field, msg string
		mode                    spi.Mode
		key                     []int
	}{
		{"no JSON", event("c", "", `{"_id": 1`), "after", "no extended JSON", spi.Upsert, []int{0}},
		{"no object", event("c", "", `1`), "after", "wants an object", spi.Upsert, []int{0}},
		{"no _id", event("c", "", `{"n": 1}`), "after._id", "missing", spi.Upsert, []int{0}},
		{"another type", event("c", "", `{"_id": 1, "n": {"$oid": "596e275826f08b2730779e1f"}}`), "after.n", "wants BIGINT", spi.Upsert, []int{0}},
		{"out of range", event("c", "", `{"_id": 1, "n": {"$numberDecimal": "1E+30"}}`), "after.n", "does not fit BIGINT", spi.Upsert, []int{0}},
		{"another key", event("c", "", `{"_id": 1, "name": "a"}`), "after", "PRIMARY KEY (_id)", spi.Upsert, []int{1}},
		{"an update without after", event("u", "", ""), "after", "change_streams_update_full", spi.Upsert, []int{0}},
		{"an update whose after is no row", `{"before":null,"after":5,"source":{"connector":"mongodb"},"op":"u"}`, "after", "wants an object", spi.Upsert, []int{0}},
		{"an update without before", event("u", "", `{"_id": 1}`), "before", "pre_image", spi.Retract, nil},
		{"a delete without before", event("d", "", ""), "before", "pre_image", spi.Retract, nil},
		{"deep", event("c", "", `{"_id": 1, "n": `+strings.Repeat("[", 600)+strings.Repeat("]", 600)+`}`), "after", "within each other", spi.Upsert, []int{0}},
	} {
		s := open(t, spi.DecodeSpec{Columns: documentColumns, Mode: c.mode, Key: c.key}, nil)
		got, err := s.feed("", c.value)
		if err == nil || got != "" {
			t.Errorf("%s: %s, no error", c.what, got)
			continue
		}
		if e := decodeError(t, err); e.Field != c.field || !strings.Contains(err.Error(), c.msg) || e.Fix == "" {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	s := open(t, spi.DecodeSpec{Columns: documentColumns, Mode: spi.Upsert, Key: []int{0}}, nil)
	if _, err := s.feed(documentKeyOf(`{`), event("d", "", "")); err == nil || decodeError(t, err).Field != "(message key)" {
		t.Error(err)
	}
}

// extendedValues are values of MongoDB's types in both versions of extended JSON.
var extendedValues = []struct {
	what, value string
	typ         types.Type
	want        string // or the reason of the error
}{
	{"ObjectId", `{"$oid":"596e275826f08b2730779e1f"}`, types.String(), "596e275826f08b2730779e1f"},
	{"Int32", `{"$numberInt":"-5"}`, types.Of(types.Int), "-5"},
	{"Int64", `{"$numberLong":"9223372036854775807"}`, types.Of(types.BigInt), "9223372036854775807"},
	{"Int64 as STRING", `{"$numberLong":"7"}`, types.String(), "7"},
	{"Int64 as DECIMAL", `{"$numberLong":"1234"}`, types.DecimalOf(10, 0), "1234"},
	{"Int64 as INT", `{"$numberLong":"2147483648"}`, types.Of(types.Int), "range"},
	{"Double", `{"$numberDouble":"1.5"}`, types.Of(types.Double), "1.5"},
	{"Double NaN", `{"$numberDouble":"NaN"}`, types.Of(types.Double), "NaN"},
	{"Double, relaxed", `1.5`, types.Of(types.Double), "1.5"},
	{"Decimal128", `{"$numberDecimal":"1.50"}`, types.DecimalOf(10, 2), "1.50"},
	{"Decimal128 of too many digits", `{"$numberDecimal":"1.505"}`, types.DecimalOf(10, 2), "range"},
	{"Decimal128 NaN as DECIMAL", `{"$numberDecimal":"NaN"}`, types.DecimalOf(10, 2), "type"},
	{"Date, version 1", `{"$date":1709199296789}`, types.TimestampLTZOf(3), "2024-02-29 09:34:56.789"},
	{"Date, canonical", `{"$date":{"$numberLong":"-1"}}`, types.TimestampLTZOf(3), "1969-12-31 23:59:59.999"},
	{"Date, relaxed", `{"$date":"2024-02-29T09:34:56.789Z"}`, types.TimestampLTZOf(3), "2024-02-29 09:34:56.789"},
	{"Date as TIMESTAMP", `{"$date":1709199296789}`, types.TimestampOf(6), "2024-02-29 09:34:56.789000"},
	{"Date as DATE", `{"$date":-1}`, date, "1969-12-31"},
	{"Date as BIGINT", `{"$date":1709199296789}`, big, "1709199296789"},
	{"Date as STRING", `{"$date":{"$numberLong":"1709199296789"}}`, types.String(), "2024-02-29T09:34:56.789Z"},
	{"Date of whole seconds as STRING", `{"$date":1709199296000}`, types.String(), "2024-02-29T09:34:56Z"},
	{"Date as BOOLEAN", `{"$date":1}`, types.Of(types.Boolean), "type"},
	{"Date without end", `{"$date":9223372036854775807}`, types.TimestampLTZOf(3), "range"},
	{"a number as TIMESTAMP", `1709199296789`, types.TimestampOf(3), "type"},
	{"Timestamp", `{"$timestamp":{"t":1709199296,"i":1}}`, types.TimestampLTZOf(3), "2024-02-29 09:34:56.000"},
	{"Timestamp as STRING", `{"$timestamp": {"t": 1, "i": 2}}`, types.String(), `{"$timestamp":{"t":1,"i":2}}`},
	{"Binary, version 1", `{"$binary":"3q2+7w==","$type":"00"}`, types.Bytes(), "x'deadbeef'"},
	{"Binary", `{"$binary":{"base64":"3q2+7w==","subType":"00"}}`, types.Bytes(), "x'deadbeef'"},
	{"UUID", `{"$uuid":"73ffd264-44b3-4c69-90e8-e7d1dfc035d4"}`, types.String(), "73ffd264-44b3-4c69-90e8-e7d1dfc035d4"},
	{"Undefined", `{"$undefined":true}`, big, "NULL"},
	{"MinKey as STRING", `{"$minKey": 1}`, types.String(), `{"$minKey":1}`},
	{"MinKey", `{"$minKey":1}`, big, "type"},
	{"Boolean", `true`, types.Of(types.Boolean), "TRUE"},
	{"a document", `{"a":{"$numberLong":"1"},"b":{"c":[{"$oid":"x"}]}}`, types.RowOf(types.Field{Name: "a", Type: big}, types.Field{Name: "b", Type: types.RowOf(types.Field{Name: "c", Type: types.ArrayOf(types.String())})}), "(1, ([x]))"},
	{"a document as MAP", `{"a":{"$numberLong":"1"},"b":2}`, types.MapOf(types.String(), big), "{a=1, b=2}"},
	{"a document as STRING", `{"a": {"$numberLong": "1"}}`, types.String(), `{"a":{"$numberLong":"1"}}`},
	{"a document with a name like a type's", `{"$oid":"x","y":1}`, types.RowOf(types.Field{Name: "y", Type: big}), "(1)"},
	{"no ObjectId", `{"$oid":{"x":1}}`, types.String(), "type"},
	{"no Date", `{"$date":{"x":1}}`, types.String(), "type"},
	{"no Binary", `{"$binary":{"x":1}}`, types.Bytes(), "type"},
}

func TestExtendedJSON(t *testing.T) {
	for _, c := range extendedValues {
		t.Run(c.what, func(t *testing.T) {
			s := open(t, spi.DecodeSpec{Columns: []spi.Column{col("c", c.typ)}, Mode: spi.Retract}, nil)
			for range 3 {
				got, err := s.feed("", event("c", "", `{"_id":1,"c":`+c.value+`,"z":[]}`))
				if err != nil {
					got = strings.TrimPrefix(string(decodeError(t, err).Code), "message-")
					if e := decodeError(t, err); !strings.HasPrefix(e.Field, "after.c") || e.Fix == "" || e.Offset < 0 {
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
