package kafka

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/format/raw"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/embed"
)

func registry() *spi.Registry {
	r := spi.NewRegistry()
	r.AddFormat(bar{name: "bar"})
	r.AddFormat(bar{name: "cdc", changing: true})
	raw.Register(r)
	Register(r)
	return r
}

func startBroker(t testing.TB) *embed.Broker {
	t.Helper()
	b, err := embed.StartWith()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

func createTopic(t testing.TB, b *embed.Broker, name string, partitions int32) {
	t.Helper()
	if err := b.CreateTopic(name, partitions); err != nil {
		t.Fatal(err)
	}
}

func produce(t testing.TB, b *embed.Broker, topic string, keysValues ...string) {
	t.Helper()
	var rs []embed.Record
	for i := 0; i < len(keysValues); i += 2 {
		r := embed.Record{Topic: topic, Key: []byte(keysValues[i]), Value: []byte(keysValues[i+1])}
		if keysValues[i] == "" {
			r.Key = nil
		}
		if keysValues[i+1] == "null" {
			r.Value = nil
		}
		rs = append(rs, r)
	}
	if err := b.Produce(context.Background(), rs...); err != nil {
		t.Fatal(err)
	}
}

// table is a table of id BIGINT, name STRING with more columns and options.
func table(addr string, options ...string) *spi.Table {
	t := &spi.Table{Name: "t", Columns: []spi.Column{
		{Name: "id", Type: types.Of(types.BigInt)}, {Name: "name", Type: types.String()},
	}, Options: spi.Options{
		"connector": "kafka", "topic": "t", "properties.bootstrap.servers": addr, "format": "bar", "scan.startup.mode": "earliest-offset",
		"properties.fetch.max.wait.ms": "50",
	}}
	for i := 0; i < len(options); i += 2 {
		if options[i+1] == "-" {
			delete(t.Options, options[i])
		} else {
			t.Options[options[i]] = options[i+1]
		}
	}
	return t
}

// upsertTable is table for upsert-kafka with PRIMARY KEY (id).
func upsertTable(addr string, options ...string) *spi.Table {
	t := table(addr, append([]string{"connector", "upsert-kafka", "format", "-", "scan.startup.mode", "-", "key.format", "bar", "value.format", "bar"}, options...)...)
	t.PrimaryKey = []int{0}
	t.Columns[0].Type.NotNull = true
	return t
}

// warnings collects what a connector warns of.
type warnings struct {
	mu   sync.Mutex
	msgs []string
}

func (w *warnings) add(m string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.msgs = append(w.msgs, m)
}

func (w *warnings) all() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.msgs, "\n")
}

func scanOf(tb *spi.Table, w *warnings) spi.Scan {
	s := spi.Scan{Table: tb, Readers: 1, TimeZone: time.UTC, Warn: w.add}
	for i := range tb.Columns {
		s.Columns = append(s.Columns, i)
	}
	if tb.Options["connector"] == "upsert-kafka" {
		s.Mode, s.Key = spi.Upsert, tb.PrimaryKey
	} else if tb.Options["format"] == "cdc" {
		s.Mode = spi.Retract
	}
	return s
}

func open(t testing.TB, tb *spi.Table, change func(*spi.Scan)) (spi.Source, *warnings) {
	t.Helper()
	src, w, err := tryOpen(tb, change)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src, w
}

func tryOpen(tb *spi.Table, change func(*spi.Scan)) (spi.Source, *warnings, error) {
	w := &warnings{}
	s := scanOf(tb, w)
	if change != nil {
		change(&s)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	src, err := registry().Connector(tb.Options["connector"]).OpenSource(ctx, s)
	return src, w, err
}

// read reads from r until n records were consumed, and returns the changes as text.
func read(t testing.TB, r spi.Reader, tb *spi.Table, n int) []string {
	t.Helper()
	got, err := tryRead(r, tb, n)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func tryRead(r spi.Reader, tb *spi.Table, n int) ([]string, error) {
	var b changelog.Batch
	deadline := time.After(2 * time.Minute)
	for got := 0; got < n && !r.Done(); {
		k, err := r.Read(&b, n-got)
		got += k
		if err != nil {
			return show(&b, tb), err
		}
		if k == 0 {
			select {
			case <-r.Ready():
			case <-time.After(20 * time.Millisecond):
			case <-deadline:
				return show(&b, tb), fmt.Errorf("only %d of %d records arrived", got, n)
			}
		}
	}
	return show(&b, tb), nil
}

// readAll reads until the bounded end.
func readAll(t testing.TB, r spi.Reader, tb *spi.Table) []string {
	t.Helper()
	got, err := tryRead(r, tb, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func show(b *changelog.Batch, tb *spi.Table) []string {
	var out []string
	for i := range b.Len() {
		r := b.Row(i)
		var cols []string
		for j, c := range tb.Columns {
			switch {
			case r.IsNull(j):
				cols = append(cols, "NULL")
			case c.Type.Phys() == types.PhysInt:
				cols = append(cols, fmt.Sprint(r.Int64(j)))
			default:
				cols = append(cols, string(r.Bytes(j)))
			}
		}
		out = append(out, b.Op(i).String()+"["+strings.Join(cols, ", ")+"]")
	}
	return out
}

// tryReadOnce reads what is there.
func tryReadOnce(r spi.Reader, tb *spi.Table) ([]string, error) {
	var b changelog.Batch
	_, err := r.Read(&b, 1000)
	return show(&b, tb), err
}
