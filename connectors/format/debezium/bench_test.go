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
	d, err := Format{}.NewDecoder(spi.DecodeSpec{Columns: domainColumns, Mode: mode, Key: []int{0}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	out := spi.NewOut(domainColumns)
	out.Batch = &changelog.Batch{}
	return d, out
}

func benchDecode(b *testing.B, ms []spi.Message, mode spi.Mode) {
	d, out := newBenchDecoder(b, mode)
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
