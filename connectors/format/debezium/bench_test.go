package debezium

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

var domainColumns = []spi.Column{
	{Name: "id", Type: types.Of(types.Int)},
	{Name: "user_id", Type: types.Of(types.Int)},
	{Name: "domain_name", Type: types.String()},
}

// workload is a stream of events as Debezium's PostgreSQL connector writes them, of about 500 bytes: of
// the ops that are not snapshots most are updates.
func workload(n int) []spi.Message {
	ms := make([]spi.Message, n)
	lsn, ts := 26541240, 1764450000000
	for i := range ms {
		lsn, ts = lsn+88, ts+1
		row := func(version int) string {
			return fmt.Sprintf(`{"id":%d,"user_id":%d,"domain_name":"site-%d-v%d.example.%s"}`, i*7919%300000, i*104729%100000, i*7919%300000, version, []string{"com", "org", "net", "io", "dev", "co.uk"}[i%6])
		}
		before, after, op := row(0), row(1), "u"
		switch i % 10 {
		case 3:
			before, op = "null", "c"
		case 7:
			after, op = "null", "d"
		}
		ms[i].Key = fmt.Appendf(nil, `{"id":%d}`, i*7919%300000)
		ms[i].Value = fmt.Appendf(nil, `{"before":%s,"after":%s,"source":{"version":"3.0.8.Final","connector":"postgresql","name":"app","ts_ms":%d,"snapshot":"false","db":"app","sequence":"[\"%d\",\"%d\"]","ts_us":%d,"ts_ns":%d,"schema":"public","table":"domains","txId":%d,"lsn":%d,"xmin":null},"transaction":null,"op":"%s","ts_ms":%d,"ts_us":%d,"ts_ns":%d}`,
			before, after, ts, lsn-88, lsn, ts*1000, ts*1000000, 771+i, lsn, op, ts+123, (ts+123)*1000+457, ((ts+123)*1000+457)*1000+89)
	}
	return ms
}

// withSchema wraps messages into {schema, payload} with a schema of about 4 KB.
func withSchema(ms []spi.Message) []spi.Message {
	field := func(typ, name string) string {
		return fmt.Sprintf(`{"type":%q,"optional":true,"field":%q}`, typ, name)
	}
	var fields []string
	for i := range 70 {
		fields = append(fields, field("int64", fmt.Sprintf("field_%02d", i)))
	}
	schema := `{"type":"struct","fields":[` + strings.Join(fields, ",") + `],"optional":false,"name":"app.public.domains.Envelope","version":2}`
	out := make([]spi.Message, len(ms))
	for i, m := range ms {
		out[i] = spi.Message{Key: m.Key, Value: fmt.Appendf(nil, `{"schema":%s,"payload":%s}`, schema, m.Value)}
	}
	return out
}

func newBenchDecoder(b testing.TB, mode spi.Mode) (spi.Decoder, *spi.Out) {
	b.Helper()
	return newBenchDecoderOf(b, domainColumns, mode)
}

func newBenchDecoderOf(b testing.TB, columns []spi.Column, mode spi.Mode) (spi.Decoder, *spi.Out) {
	b.Helper()
	d, err := Format{}.NewDecoder(spi.DecodeSpec{Columns: columns, Mode: mode, Key: []int{0}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	out := spi.NewOut(columns)
	out.Batch = &changelog.Batch{}
	return d, out
}

func benchDecode(b *testing.B, ms []spi.Message, mode spi.Mode) {
	benchDecodeColumns(b, ms, domainColumns, mode)
}

func benchDecodeColumns(b *testing.B, ms []spi.Message, columns []spi.Column, mode spi.Mode) {
	d, out := newBenchDecoderOf(b, columns, mode)
	size := 0
	for _, m := range ms {
		size += len(m.Value)
		if err := d.Decode(m, out); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(size / len(ms)))
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		if i%1024 == 0 {
			out.Batch.Reset()
		}
		if err := d.Decode(ms[i&4095], out); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeBare(b *testing.B) {
	b.Run("upsert", func(b *testing.B) { benchDecode(b, workload(4096), spi.Upsert) })
	b.Run("retract", func(b *testing.B) { benchDecode(b, workload(4096), spi.Retract) })
}

func BenchmarkDecodeWithSchema(b *testing.B) {
	b.Run("upsert", func(b *testing.B) { benchDecode(b, withSchema(workload(4096)), spi.Upsert) })
	b.Run("retract", func(b *testing.B) { benchDecode(b, withSchema(workload(4096)), spi.Retract) })
}

// rowsOnly are the same changes as ExtractNewRecordState leaves them, with __deleted and two added fields.
func rowsOnly(n int) []spi.Message {
	ms := make([]spi.Message, n)
	for i := range ms {
		deleted, op := "false", "u"
		if i%10 == 7 {
			deleted, op = "true", "d"
		}
		ms[i].Key = fmt.Appendf(nil, `{"id":%d}`, i*7919%300000)
		ms[i].Value = fmt.Appendf(nil, `{"id":%d,"user_id":%d,"domain_name":"site-%d-v1.example.com","__deleted":%q,"__op":%q,"__source_ts_ms":%d}`,
			i*7919%300000, i*104729%100000, i*7919%300000, deleted, op, 1764450000000+i)
	}
	return ms
}

// BenchmarkDecodeUnwrapped reads rows without an envelope, of about 130 bytes.
func BenchmarkDecodeUnwrapped(b *testing.B) {
	b.Run("bare", func(b *testing.B) { benchDecode(b, rowsOnly(4096), spi.Upsert) })
	b.Run("schema", func(b *testing.B) { benchDecode(b, withSchema(rowsOnly(4096)), spi.Upsert) })
}

// BenchmarkDecodeTypes reads a row of twelve columns of encoded types.
func BenchmarkDecodeTypes(b *testing.B) {
	columns := []spi.Column{
		col("id", types.Of(types.BigInt)), col("price", types.DecimalOf(12, 2)), col("rate", types.DecimalOf(20, 6)), col("weight", types.Of(types.Double)),
		col("active", types.Of(types.Boolean)), col("born", types.Of(types.Date)), col("at", types.TimestampOf(6)), col("made", types.TimestampLTZOf(6)),
		col("opens", types.Type{Kind: types.Time, Precision: 6}), col("photo", types.Bytes()), col("tags", types.ArrayOf(types.String())), col("note", types.String()),
	}
	ms := make([]spi.Message, 4096)
	for i := range ms {
		ms[i].Value = fmt.Appendf(nil, `{"before":null,"after":{"id":%d,"price":"AMg=","rate":"%d.%06d","weight":%d.25,"active":%t,"born":%d,"at":%d,"made":"2024-02-29T09:%02d:%02d.%06dZ","opens":%d,"photo":"3q2+7w==","tags":["a%d","b"],"note":"n-%d"},"source":{"version":"3.0.8.Final","table":"t","lsn":%d},"op":"c","ts_ms":%d}`,
			i*7919, i, i*37%1000000, i, i%3 == 0, 10000+i, 1709210096789012+i*1000003, i%60, i%59, i*7919%1000000, i*20000003%86400000000, i, i, 26541240+i*88, 1764450000000+i)
	}
	benchDecodeColumns(b, ms, columns, spi.Upsert)
}

// BenchmarkEncodingJSON is what the standard library takes to find the same three columns of after.
func BenchmarkEncodingJSON(b *testing.B) {
	ms := workload(4096)
	type row struct {
		ID         int32  `json:"id"`
		UserID     int32  `json:"user_id"`
		DomainName string `json:"domain_name"`
	}
	for i := 0; b.Loop(); i++ {
		var e struct {
			Before, After *row
			Op            string
		}
		if err := json.Unmarshal(ms[i&4095].Value, &e); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	cols := []spi.Column{
		{Name: "user_id", Type: types.Of(types.Int)}, {Name: "firstname", Type: types.String()},
		{Name: "lastname", Type: types.String()}, {Name: "domain_name", Type: types.String()},
	}
	e, err := Format{}.NewEncoder(spi.EncodeSpec{Columns: cols, Mode: spi.Retract}, nil)
	if err != nil {
		b.Fatal(err)
	}
	var rb row.Builder
	rb.Begin(nil, len(cols))
	rb.Int64(0, 73412)
	rb.String(1, "Mónica")
	rb.String(2, "Lindqvist-40917")
	rb.String(3, "site-288123-v1.example.co.uk")
	r := row.Row(rb.Finish(nil))
	for _, c := range []struct {
		name          string
		before, after row.Row
	}{{"insert", nil, r}, {"update", r, r}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				if buf, err = e.Encode(buf[:0], c.before, c.after); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(buf)))
		})
	}
}
