package debezium

import (
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/types"
)

var pairColumns = []spi.Column{col("id", types.Of(types.Int)), col("v", types.String())}

func TestOps(t *testing.T) {
	for _, c := range []struct {
		name, key, value string
		retract, upsert  string
	}{
		{"create", ``, `{"before":null,"after":{"id":1,"v":"a"},"op":"c"}`, "+I(1, a)", "+U(1, a)"},
		{"read", ``, `{"after":{"id":1,"v":"a"},"op":"r"}`, "+I(1, a)", "+U(1, a)"},
		{"update", ``, `{"before":{"id":1,"v":"a"},"after":{"id":1,"v":"b"},"op":"u"}`, "-U(1, a) +U(1, b)", "+U(1, b)"},
		{"update of the key", ``, `{"before":{"id":1,"v":"a"},"after":{"id":2,"v":"b"},"op":"u"}`, "-U(1, a) +U(2, b)", "-D(1, NULL) +U(2, b)"},
		{"keys equal in value", ``, `{"before":{"id":1,"v":"a"},"after":{"id":1.0,"v":"b"},"op":"u"}`, "-U(1, a) +U(1, b)", "+U(1, b)"},
		{"delete", ``, `{"before":{"id":1,"v":"a"},"after":null,"op":"d"}`, "-D(1, a)", "-D(1, NULL)"},
		{"invented before", ``, `{"before":{"id":1,"v":null},"op":"d"}`, "-D(1, NULL)", "-D(1, NULL)"},
		{"op first, after last", ``, `{"op":"u","ts_ms":1,"before":{"v":"a","id":1},"after":{"v":"b","x":[{}],"id":1}}`, "-U(1, a) +U(1, b)", "+U(1, b)"},
		{"white space", ``, " {\n \"after\" : { \"id\" : 1 , \"v\" : \"a\" } , \"op\" : \"c\" }\n", "+I(1, a)", "+U(1, a)"},
		{"missing and null fields", ``, `{"after":{"id":1},"op":"c"}`, "+I(1, NULL)", "+U(1, NULL)"},
		{"escaped names and values", ``, `{"after":{"\u0069d":1,"v":"\ud83d\ude00\n"},"op":"c"}`, "+I(1, 😀\n)", "+U(1, 😀\n)"},
		{"names are exact", ``, `{"after":{"id":1,"ID":2,"v":"a","V":"b"},"op":"c","OP":"d"}`, "+I(1, a)", "+U(1, a)"},
		{"the last of equal names", ``, `{"after":{"id":5,"v":"x"},"after":{"id":1,"id":2,"v":"a","v":null},"op":"d","op":"c"}`, "+I(2, NULL)", "+U(2, NULL)"},
		{"with schema", ``, `{"schema":{"type":"struct"},"payload":{"after":{"id":1,"v":"a"},"op":"c"}}`, "+I(1, a)", "+U(1, a)"},
		{"null payload", ``, `{"schema":{"type":"struct"},"payload":null}`, "", ""},
		{"tombstone", `{"id":1}`, ``, "", "-D(1, NULL)"},
		{"tombstone with schema", `{"schema":{"type":"struct"},"payload":{"id":1}}`, `{"schema":{"type":"struct"},"payload":null}`, "", "-D(1, NULL)"},
		{"the four bytes null", `{"id":1}`, `null`, "", "-D(1, NULL)"},
		{"tombstone of a plain key", `1`, ``, "", "-D(1, NULL)"},
		{"tombstone of a plain key with schema", `{"schema":{"type":"int32"},"payload":1}`, ``, "", "-D(1, NULL)"},
		{"tombstone without key", ``, ``, "", ""},
		{"tombstone of another key", `{"ID":1}`, ``, "", ""},
		{"tombstone of a key that is no JSON", `Struct{id=1}`, ``, "", ""},
		{"heartbeat", ``, `{"ts_ms":1}`, "", ""},
		{"heartbeat with schema", ``, `{"schema":{},"payload":{"ts_ms":1}}`, "", ""},
		{"transaction", ``, `{"status":"BEGIN","id":"1:2","event_count":null,"data_collections":null,"ts_ms":1}`, "", ""},
		{"schema change", ``, `{"source":{},"ts_ms":1,"databaseName":"","schemaName":null,"ddl":"SET x","tableChanges":[]}`, "", ""},
		{"logical message", ``, `{"op":"m","ts_ms":1,"source":{},"message":{"prefix":"p","content":""}}`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for mode, want := range map[spi.Mode]string{spi.Retract: c.retract, spi.Upsert: c.upsert} {
				s := open(t, spi.DecodeSpec{Columns: pairColumns, Mode: mode, Key: []int{0}}, nil)
				for range 3 { // the second and third time by prediction
					if got, err := s.feed(c.key, c.value); err != nil || got != want {
						t.Errorf("%s: got %q, %v; want %q", mode, got, err, want)
					}
				}
			}
		})
	}
}

func TestCounts(t *testing.T) {
	s := open(t, spi.DecodeSpec{Columns: pairColumns, Mode: spi.Retract}, nil)
	s.ignoreTruncate = true
	for _, v := range []string{
		``, `null`, `{"op":"t","before":null,"after":null}`, `{"payload":null}`, `{"ts_ms":1}`, `{"status":"END","id":"1","event_count":2}`, `{"databaseName":"a","ddl":"x"}`, `{"op":"m"}`,
	} {
		if _, err := s.feed("", v); err != nil {
			t.Fatal(err)
		}
	}
	if want := (Counts{Tombstones: 3, Heartbeats: 1, Transactions: 1, SchemaChanges: 1, LogicalMessages: 1, Truncates: 1}); s.Counts() != want {
		t.Errorf("%+v", s.Counts())
	}
}

func TestDeleteByMessageKey(t *testing.T) {
	cols := []spi.Column{col("v", types.String()), col("id", types.Of(types.BigInt)), col("tab FROM source.table", types.String()), col("part", types.String().Required())}
	s := open(t, spi.DecodeSpec{Columns: cols, Mode: spi.Upsert, Key: []int{1, 3}}, nil)
	const value = `{"before":null,"after":null,"source":{"table":"t"},"op":"d"}`
	for _, c := range []struct{ key, want, err string }{
		{`{"id":9007199254740993,"part":"é\n"}`, "-D(NULL, 9007199254740993, t, é\n)", ""},
		{`{"schema":{"type":"struct"},"payload":{"part":"b","id":2}}`, "-D(NULL, 2, t, b)", ""},
		{`{"part":"b","id":1,"id":2}`, "-D(NULL, 2, t, b)", ""},
		{`{"ID":1,"part":"b"}`, "", "field (message key).id: is missing, but declared BIGINT NOT NULL"},
		{`{"id":"x","part":"b"}`, "", `field (message key).id: wants BIGINT, found the string "x"`},
		{`{"id":1,"part":"b"`, "", "field (message key): the message is not valid JSON"},
		{"{\"id\":1,\"part\":\"\xff\"}", "", "invalid UTF-8"},
		{`7`, "", "field before: is null"},
		{`{"schema":{"type":"int32"},"payload":7}`, "", "field before: is null"},
		{``, "", "field before: is null"},
	} {
		got, err := s.feed(c.key, value)
		if c.err != "" {
			if err == nil || !strings.Contains(decodeError(t, err).Error(), c.err) || s.out.Batch.Len() != 0 {
				t.Errorf("%q: %q %v", c.key, got, err)
			}
		} else if err != nil || got != c.want {
			t.Errorf("%q: %q %v", c.key, got, err)
		}
	}
	// A before without the whole key says nothing.
	if got, err := s.feed(`{"id":1,"part":"b"}`, `{"before":{"id":7},"source":{"table":"t"},"op":"d"}`); err != nil || got != "-D(NULL, 1, t, b)" {
		t.Error(got, err)
	}
	if got, err := s.feed(``, `{"before":{"id":7},"after":{"id":1,"part":"b","v":"w"},"op":"u"}`); err != nil || got != "+U(w, 1, NULL, b)" {
		t.Error(got, err)
	}
}

// TestUnwrapped reads rows without an envelope.
// A tombstone whose key cannot be read is nothing after change events, and an error after rows without an envelope.
// Before either, as at a restart, it is told of once.
func TestTombstoneWithoutKey(t *testing.T) {
	const event, bare = `{"after":{"id":1,"v":"a"},"op":"c"}`, `{"id":1,"v":"a"}`
	for _, c := range []struct {
		before   []string
		warnings int
		fails    bool
	}{{nil, 1, false}, {[]string{event}, 0, false}, {[]string{bare}, 0, true}} {
		warnings := 0
		s := open(t, spi.DecodeSpec{Columns: pairColumns, Mode: spi.Upsert, Key: []int{0}, Warn: func(string) { warnings++ }}, spi.Options{})
		for _, value := range c.before {
			if _, err := s.feed(`{"id":1}`, value); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if got, err := s.feed("Struct{id=1}", ""); got != "" || (err != nil) != c.fails {
				t.Errorf("after %v: %q %v", c.before, got, err)
			}
		}
		if warnings != c.warnings {
			t.Errorf("after %v: %d warnings", c.before, warnings)
		}
	}
}

func TestUnwrapped(t *testing.T) {
	s := open(t, spi.DecodeSpec{Columns: pairColumns, Mode: spi.Upsert, Key: []int{0}}, nil)
	const schema = `{"schema":{"type":"struct","fields":[{"type":"int32","field":"id"},{"type":"string","field":"v"}]},"payload":`
	for _, c := range []struct{ key, value, want string }{
		{`{"id":1}`, `{"id":1,"v":"a"}`, "+U(1, a)"},
		{`{"id":1}`, `{"id":1,"v":"b","__op":"u","__deleted":"false"}`, "+U(1, b)"},
		{`{"id":1}`, `{"id":1,"v":"","__deleted":"true"}`, "-D(1, NULL)"},
		{`{"id":1}`, ``, ""}, // known to be gone
		{`{"id":1}`, `{"id":1,"v":"c"}`, "+U(1, c)"},
		{`{"id":1}`, ``, "-D(1, NULL)"},
		{`{"id":2}`, `{"id":2,"v":"x","__op":"d"}`, "-D(2, NULL)"},
		{`{"id":1}`, `null`, "-D(1, NULL)"},
		{`{"id":3}`, schema + `{"id":3,"v":"a","__deleted":"false"}}`, "+U(3, a)"},
		{`{"id":3}`, schema + `{"id":3,"v":"a","__deleted":"true"}}`, "-D(3, NULL)"},
		{`{"id":4}`, schema + `null}`, "-D(4, NULL)"},
		{``, `{"id":5,"op":"c","before":"b","after":"a","payload":1,"schema":"s"}`, "+U(5, NULL)"},
		{``, `{"id":5,"op":"d","before":null,"after":null}`, "+U(5, NULL)"},
		{``, `{"id":5,"status":"new"}`, "+U(5, NULL)"},
		{``, `{"ts_ms":1}`, ""},
		{``, `{"status":"BEGIN","id":"5:1","event_count":null,"data_collections":null,"ts_ms":1}`, ""},
		{``, `{"before":null,"after":{"id":6,"v":"e"},"op":"c"}`, "+U(6, e)"},
	} {
		if got, err := s.feed(c.key, c.value); err != nil || got != c.want {
			t.Errorf("%s %s: got %q, %v; want %q", c.key, c.value, got, err, c.want)
		}
	}
	meta := open(t, spi.DecodeSpec{Columns: []spi.Column{pairColumns[0], col("t FROM source.timestamp", types.TimestampLTZOf(3)), col("tab FROM source.table", types.String()),
		col("db FROM source.database", types.String()), col("s FROM schema", types.String()), col("p FROM source.properties", types.MapOf(types.String(), types.String()))}, Mode: spi.Upsert, Key: []int{0}}, nil)
	for range 3 {
		if got, err := meta.feed("", `{"id":1,"ts_ms":2,"__table":"users","__source_ts_ms":1764450000123,"__source_db":"app","__db":"other"}`); err != nil || got != "+U(1, 2025-11-29 21:00:00.123, users, app, NULL, NULL)" {
			t.Error(got, err)
		}
		if got, err := meta.feed("", `{"id":1,"__db":"other","__deleted":"true"}`); err != nil || got != "-D(1, NULL, NULL, other, NULL, NULL)" {
			t.Error(got, err)
		}
	}
	if _, err := meta.feed("", `{"id":1,"__source_ts_ms":"x"}`); err == nil || decodeError(t, err).Field != "source.timestamp" {
		t.Error(err)
	}
	// A row has shown that this is no topic of change events: a delete must not get lost.
	for _, key := range []string{`{"ID":1}`, `Struct{id=1}`, `[1]`} {
		if got, err := s.feed(key, ``); err == nil || decodeError(t, err).Fix == "" || got != "" {
			t.Error(key, got, err)
		}
	}
	// Columns of the names that tell: a table of transactions, and one that marks its rows as deleted.
	cols := []spi.Column{pairColumns[0], col("status", types.String()), col("__deleted", types.String())}
	s = open(t, spi.DecodeSpec{Columns: cols, Mode: spi.Upsert, Key: []int{0}}, nil)
	if got, err := s.feed("", `{"id":1,"status":"BEGIN","event_count":1,"data_collections":"x","__deleted":"true"}`); err != nil || got != "+U(1, BEGIN, true)" {
		t.Error(got, err)
	}
}

func TestErrors(t *testing.T) {
	const source = `"source":{"connector":"postgresql","schema":"public","table":"Users"}`
	for _, c := range []struct {
		name, value           string
		field, reason         string
		offset                int
		message, fix, options string
	}{
		{"syntax", `{"after":{"id":1,"v":"a"},"op":"c"`, "", "syntax", 34, `the message ends where "," or "}" should be`, "ignore-parse-errors", ""},
		{"syntax after the end", `{"after":{"id":1,"v":"a"},"op":"c"}}`, "", "syntax", 35, "the end of the message", "ignore-parse-errors", ""},
		{"syntax in what nobody wants", `{"after":{"id":1},"op":"c","x":{"y":[01]}}`, "", "syntax", 38, `'1' stands where`, "", ""},
		{"UTF-8", "{\"after\":{\"id\":1,\"z\":\"\xc3\"},\"op\":\"c\"}", "", "syntax", 22, "invalid UTF-8", "", ""},
		{"no op", `{"after":{"id":1}}`, "op", "op", -1, "the message has no op", "ignore-parse-errors", ""},
		{"row", `{"id":1,"v":"a"}`, "op", "op", -1, "the message has no op", "declare the table's PRIMARY KEY", ""},
		{"row without key", `{"v":"a"}`, "op", "op", -1, "the message has no op", "must have the columns of the PRIMARY KEY", "upsert"},
		{"row of a wrong type", `{"id":1,"v":"a","x":{},"id":"x"}`, "id", "type", 28, `wants INT, found the string "x"`, "", "upsert"},
		{"null op", `{"after":{"id":1},"op":null}`, "op", "op", 23, "wants one of c, r, u and d, found null", "", ""},
		{"unknown op", `{"after":{"id":1},"op":"x"}`, "op", "op", 23, `found "x"`, "", ""},
		{"long op", `{"after":{"id":1},"op":"cc"}`, "op", "op", 23, `found "cc"`, "", ""},
		{"truncate", `{"before":null,"after":null,"op":"t"}`, "op", "op", 33, "the table was truncated", "set 'debezium-json.truncate' = 'ignore'", ""},
		{"no after", `{"op":"c"}`, "after", "after", -1, "is missing from the event of an insert", "", ""},
		{"null after", `{"after":null,"op":"u"}`, "after", "after", 9, "is null in the event of an update", "", ""},
		{"after is no object", `{"after":[1],"op":"c"}`, "after", "type", 9, "wants an object, found the array [1]", "", ""},
		{"before is no object", `{"before":"x","after":{"id":1},"op":"u"}`, "before", "type", 10, `wants an object, found the string "x"`, "", "upsert"},
		{"u without before", `{"before":null,"after":{"id":1},` + source + `,"op":"u"}`, "before", "before", 10, "event of an update", `run ALTER TABLE public."Users" REPLICA IDENTITY FULL in the source database, or declare the table's PRIMARY KEY and leave 'table.exec.source.cdc-events-duplicate' at true`, ""},
		{"d without before", `{"after":null,"source":{"connector":"mysql","table":"u"},"op":"d"}`, "before", "before", -1, "event of a delete", "binlog_row_image=FULL", ""},
		{"d without any key", `{"after":null,"op":"d"}`, "before", "before", -1, "event of a delete", "ALTER TABLE <the table> REPLICA IDENTITY FULL", "upsert"},
		{"d with a null key", `{"before":{"id":null,"v":"a"},"after":null,"op":"d"}`, "before", "before", 10, "does not hold the whole primary key in the event of a delete", "REPLICA IDENTITY FULL", "upsert"},
		{"d with half a key", `{"before":{"v":"a"},"after":null,"op":"d"}`, "before", "before", 10, "does not hold the whole primary key", "REPLICA IDENTITY FULL", "upsert"},
		{"with schema", `{"schema":{},"payload":{"before":null,"after":{"id":1},` + source + `,"op":"u"}}`, "before", "before", 33, "", `public."Users"`, ""},
		{"type", `{"after":{"id":{"a":1},"v":"a"},"op":"c"}`, "after.id", "type", 15, `wants INT, found the object {"a":1}`, "STRING takes any", ""},
		{"fraction", `{"after":{"id":1.5},"op":"c"}`, "after.id", "type", 15, "wants INT, found the number 1.5", "", ""},
		{"range", `{"after":{"id":2147483648},"op":"c"}`, "after.id", "range", 15, "the number 2147483648 does not fit INT", "declare BIGINT", ""},
		{"second row", `{"before":{"id":1,"v":"a"},"after":{"id":"x"},"op":"u"}`, "after.id", "type", 41, `wants INT, found the string "x"`, "", ""},
		{"row before", `{"before":{"id":true,"v":"a"},"after":{"id":1},"op":"u"}`, "before.id", "type", 16, "wants INT, found true", "", ""},
		{"key changed to no type", `{"before":{"id":true},"after":{"id":1},"op":"u"}`, "before.id", "type", 16, "wants INT, found true", "", "upsert"},
		{"null key", `{"after":{"id":null},"op":"c"}`, "after.id", "null", 15, "is null, but declared INT NOT NULL", "PRIMARY KEY", "upsert"},
		{"missing key", `{"after":{"v":"a"},"op":"c"}`, "after.id", "null", -1, "is missing, but declared INT NOT NULL", "", "upsert"},
		{"TOAST", `{"after":{"id":1,"v":"__debezium_unavailable_value"},"op":"u","before":{"id":1}}`, "after.v", "unavailable", 21, "did not change and was not sent", "REPLICA IDENTITY FULL", "upsert"},
		{"missing key with another like it", `{"after":{"v":"a","Id":1},"op":"c"}`, "after.id", "null", -1, `is missing, but declared INT NOT NULL; there is a field "Id"`, "", "upsert"},
		{"row with another field like it", `{"id":1,"V":"a"}`, "v", "missing", -1, `the field is missing; there is a field "V"`, "", "upsert fail-on-missing-field=true"},
		{"Avro", "\x00\x00\x00\x00\x07\x02\x02a", "", "syntax", 0, "not valid JSON", "Avro, Protobuf, JSON Schema", ""},
		{"missing field", `{"after":{"id":1},"op":"c"}`, "after.v", "missing", -1, "the field is missing", "'debezium-json.fail-on-missing-field' = 'false'", "fail-on-missing-field=true"},
		{"array", `[{"op":"c"}]`, "", "type", 0, "wants an object, found the array", "", ""},
		{"payload is no object", `{"schema":{},"payload":3}`, "payload", "type", 23, "wants an object, found the number 3", "", ""},
		{"no payload", `{"after":{"id":1},"op":"c"}`, "payload", "schema", -1, "has no payload", "leave out the option 'debezium-json.schema-include'", "schema-include=true"},
		{"payload unasked", `{"schema":{},"payload":{"after":{"id":1},"op":"c"}}`, "op", "op", -1, "has no op", "leave out the option 'debezium-json.schema-include'", "schema-include=false"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := spi.DecodeSpec{Columns: pairColumns, Mode: spi.Retract}
			o := spi.Options{}
			for _, option := range strings.Fields(c.options) {
				if k, v, ok := strings.Cut(option, "="); ok {
					o[k] = v
				} else {
					spec.Mode, spec.Key = spi.Upsert, []int{0}
				}
			}
			s := open(t, spec, o)
			for range 3 {
				got, err := s.feed("", c.value)
				if got != "" {
					t.Errorf("emitted %s", got)
				}
				if err == nil {
					t.Fatal("no error")
				}
				e := decodeError(t, err)
				if e.Field != c.field || strings.TrimPrefix(string(e.Code), "message-") != c.reason || e.Offset != c.offset || !strings.Contains(e.Msg, c.message) || !strings.Contains(e.Fix, c.fix) {
					t.Errorf("field %q reason %q offset %d\n%v", e.Field, strings.TrimPrefix(string(e.Code), "message-"), e.Offset, err)
				}
				if e.Fix == "" {
					t.Error("no remedy")
				}
			}
		})
	}
}

func TestMetadata(t *testing.T) {
	cols := []spi.Column{
		col("id", types.Of(types.Int)),
		col("t FROM source.timestamp", types.TimestampLTZOf(3)), col("db FROM source.database", types.String()),
		col("s FROM source.schema", types.String()), col("tab FROM source.table", types.String()),
		col("p FROM source.properties", types.MapOf(types.String(), types.String())),
		col("i FROM ingestion-timestamp", types.TimestampLTZOf(6)), col("sch FROM schema", types.String()),
		col("t2 FROM source.timestamp", types.TimestampLTZOf(0)),
	}
	const payload = `{"source":{"ts_ms":1764450000123,"db":"app","schema":null,"table":"t","lsn":9007199254740993,"snapshot":"false","x":true},"ts_ms":1764450000999,"before":{"id":1},"after":{"id":2},"op":"u"}`
	const rest = `2025-11-29 21:00:00.123, app, NULL, t, {ts_ms=1764450000123, db=app, schema=NULL, table=t, lsn=9007199254740993, snapshot=false, x=true}, 2025-11-29 21:00:00.999000, `
	s := open(t, spi.DecodeSpec{Columns: cols, Mode: spi.Retract}, nil)
	for value, schema := range map[string]string{payload: "NULL", `{"schema":{"type": "struct"},"payload":` + payload + `}`: `{"type":"struct"}`} {
		want := "-U(1, " + rest + schema + ", 2025-11-29 21:00:00) +U(2, " + rest + schema + ", 2025-11-29 21:00:00)"
		for range 3 {
			if got, err := s.feed("", value); err != nil || got != want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
			}
		}
	}
	if got, err := s.feed("", `{"after":{"id":2},"op":"c"}`); err != nil || got != "+I(2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)" {
		t.Error(got, err)
	}
	if _, err := s.feed("", `{"after":{"id":2},"op":"c","source":{"ts_ms":"x"}}`); err == nil || decodeError(t, err).Field != "source.timestamp" {
		t.Error(err)
	}
	if n := len(Format{}.Metadata()); n != 7 {
		t.Error(n, "metadata keys")
	}
}

// TestSkippedColumns leaves the connector's columns to Fill.
func TestSkippedColumns(t *testing.T) {
	cols := []spi.Column{col("part FROM partition", types.Of(types.Int)), col("id", types.Of(types.Int)), col("k", types.String())}
	s := open(t, spi.DecodeSpec{Columns: cols, Skip: []bool{true, false, true}, Mode: spi.Retract}, nil)
	if got, err := s.feed("", `{"after":{"id":1,"k":"x"},"op":"c"}`); err != nil || got != "+I(NULL, 1, NULL)" {
		t.Error(got, err)
	}
}

// TestAdaptiveTypes reads Debezium's integers by the declared precision.
func TestAdaptiveTypes(t *testing.T) {
	for _, c := range []struct {
		typ         types.Type
		value, want string
	}{
		{types.Of(types.Date), "19782", "2024-02-29"},
		{types.Of(types.Date), "-719162", "0001-01-01"},
		{types.Of(types.Date), `"2024-02-29"`, "2024-02-29"},
		{types.Of(types.Date), "2147483648", "range"},
		{types.Type{Kind: types.Time, Precision: 3}, "45296789", "12:34:56.789"},
		{types.Type{Kind: types.Time, Precision: 0}, "45296789", "12:34:56"},
		{types.Type{Kind: types.Time, Precision: 6}, "45296789012", "12:34:56.789012"},
		{types.Type{Kind: types.Time, Precision: 9}, "45296789012345", "12:34:56.789012345"},
		{types.Type{Kind: types.Time, Precision: 6}, "86400000000", "range"},
		{types.Type{Kind: types.Time, Precision: 6}, "-1", "range"},
		{types.TimestampOf(3), "1709210096789", "2024-02-29 12:34:56.789"},
		{types.TimestampOf(0), "-1", "1969-12-31 23:59:59"},
		{types.TimestampOf(6), "1709210096789012", "2024-02-29 12:34:56.789012"},
		{types.TimestampOf(5), "1709210096789019", "2024-02-29 12:34:56.78901"},
		{types.TimestampOf(9), "1709210096789012345", "2024-02-29 12:34:56.789012345"},
		{types.TimestampOf(9), "-1", "1969-12-31 23:59:59.999999999"},
		{types.TimestampOf(3), "9223372036825200000", "range"},
		{types.TimestampOf(3), "922337203685477580", "range"},
		{types.TimestampOf(3), `"2024-02-29T12:34:56.789"`, "2024-02-29 12:34:56.789"},
		{types.TimestampOf(3), `"2024-02-29 12:34:56.789"`, "2024-02-29 12:34:56.789"},
		{types.TimestampLTZOf(6), `"2024-02-29T09:34:56.789012Z"`, "2024-02-29 09:34:56.789012"},
		{types.TimestampLTZOf(3), "1709210096789", "2024-02-29 12:34:56.789"},
		{types.Of(types.Double), `"NaN"`, "NaN"},
		{types.Of(types.Double), `"-Infinity"`, "-Infinity"},
		{types.DecimalOf(10, 2), `"1.00"`, "1.00"},
		{types.DecimalOf(10, 2), `1.5`, "1.50"},
		{types.DecimalOf(10, 2), `"ZA=="`, "1.00"},
		{types.DecimalOf(38, 0), `99999999999999999999999999999999999999`, "99999999999999999999999999999999999999"},
		{types.Bytes(), `"3q2+7w=="`, "x'deadbeef'"},
		{types.Bytes(), `"X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="`, "unavailable"},
		{types.ArrayOf(types.String()), `["__debezium_unavailable_value"]`, "unavailable"},
		{types.ArrayOf(types.Of(types.Int)), string("[95,95,100,101,98,101,122,105,117,109,95,117,110,97,118,97,105,108,97,98,108,101,95,118,97,108,117,101]"), "unavailable"},
		{types.Of(types.BigInt), `"__debezium_unavailable_value"`, "unavailable"},
		// A bytea may be declared as the text that it is sent as.
		{types.String(), `"__debezium_unavailable_value"`, "unavailable"},
		{types.String(), `"X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="`, "unavailable"},
		{types.String(), `"5f5f646562657a69756d5f756e617661696c61626c655f76616c7565"`, "unavailable"},
		{types.String(), `"__debezium_unavailable_value_"`, "__debezium_unavailable_value_"},
		{types.String(), `"__debezium_unavailable_valuE"`, "__debezium_unavailable_valuE"},
		{types.String(), `"X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=+"`, "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=+"},
	} {
		cols := []spi.Column{col("c", c.typ)}
		s := open(t, spi.DecodeSpec{Columns: cols, Mode: spi.Retract}, nil)
		got, err := s.feed("", `{"after":{"c":`+c.value+`},"op":"c"}`)
		if err != nil {
			got = strings.TrimPrefix(string(decodeError(t, err).Code), "message-")
		} else {
			got = strings.TrimSuffix(strings.TrimPrefix(got, "+I("), ")")
		}
		if got != c.want {
			t.Errorf("%s from %s: got %s (%v), want %s", c.typ, c.value, got, err, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		spec spi.DecodeSpec
		o    spi.Options
		want string
	}{
		{spi.DecodeSpec{Columns: pairColumns, Mode: spi.AppendOnly}, nil, "no append-only streams"},
		{spi.DecodeSpec{Columns: pairColumns, Mode: spi.Upsert}, nil, "without a primary key"},
		{spi.DecodeSpec{Columns: pairColumns, Mode: spi.Upsert, Key: []int{0}, Skip: []bool{true, false}}, nil, `column "id" is no field`},
		{spi.DecodeSpec{Columns: []spi.Column{col("x FROM source.nothing", types.String())}, Mode: spi.Retract}, nil, `no metadata "source.nothing"`},
		{spi.DecodeSpec{Columns: []spi.Column{col("x FROM source.timestamp", types.String())}, Mode: spi.Retract}, nil, "cannot be declared STRING"},
		{spi.DecodeSpec{Columns: []spi.Column{col("x", types.MapOf(types.Of(types.Int), types.String()))}, Mode: spi.Retract}, nil, "JSON has no INT as the key of a map"},
		{spi.DecodeSpec{Columns: []spi.Column{pairColumns[0], pairColumns[0]}, Mode: spi.Retract}, nil, `two columns have the name "id"`},
		{spi.DecodeSpec{Columns: pairColumns, Mode: spi.Retract}, spi.Options{"truncate": "yes"}, "wants one of error, ignore, clear"},
		{spi.DecodeSpec{Columns: pairColumns, Mode: spi.Retract}, spi.Options{"schema-include": "maybe"}, "wants true or false"},
		{spi.DecodeSpec{Columns: pairColumns, Mode: spi.Retract}, spi.Options{"time-precision-mode": "seconds"}, "wants one of adaptive"},
		{spi.DecodeSpec{Columns: pairColumns, Mode: spi.Retract}, spi.Options{"ignore-parse-errors": "1"}, "wants true or false"},
		{spi.DecodeSpec{Columns: pairColumns, Mode: spi.Retract}, spi.Options{"timestamp-format.standard": "RFC"}, "wants one of SQL, ISO-8601"},
		{spi.DecodeSpec{Columns: pairColumns, Mode: spi.Retract}, spi.Options{"ignore-parse-errors": "true", "fail-on-missing-field": "true"}, "cannot both be true"},
	} {
		if _, err := (Format{}).NewDecoder(c.spec, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	if _, err := (Format{}).NewEncoder(spi.EncodeSpec{Columns: []spi.Column{col("x FROM source.table", types.String())}}, nil); err == nil {
		t.Error("a sink of metadata")
	}
}

// TestNoAllocations holds the steady state of the hot path to no allocation.
func TestNoAllocations(t *testing.T) {
	for _, ms := range [][]spi.Message{workload(512), withSchema(workload(512))} {
		for _, mode := range []spi.Mode{spi.Retract, spi.Upsert} {
			d, out := newBenchDecoder(t, mode)
			all := func() {
				out.Batch.Reset()
				for _, m := range ms {
					if err := d.Decode(m, out); err != nil {
						t.Fatal(err)
					}
				}
			}
			for range 3 {
				all()
			}
			if n := testing.AllocsPerRun(3, all); n != 0 {
				t.Errorf("%s: %v allocations", mode, n)
			}
		}
	}
}

// A table that a TRUNCATE empties keeps its rows, however the option is written: whatever reads the events as such
// must be planned for it.
func TestTruncateKeepsRows(t *testing.T) {
	for value, want := range map[string]bool{"clear": true, "CLEAR": true, "ignore": false, "error": false} {
		o := spi.Options{"truncate": value}
		p, err := Format{}.Partial(o, "", true)
		if err != nil || p.Keep != want {
			t.Errorf("%s: %+v %v", value, p, err)
		}
		if s := open(t, spi.DecodeSpec{Columns: pairColumns, Mode: spi.Upsert, Key: []int{0}}, o); s.clear != want {
			t.Errorf("%s: the decoder clears: %t", value, s.clear)
		}
	}
	if _, err := (Format{}).Partial(spi.Options{"truncate": "clean"}, "", true); err == nil {
		t.Error("an unknown value")
	}
}
