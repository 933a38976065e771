package kafka

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/embed"
)

// change is a change of table's rows.
type change struct {
	op   changelog.Op
	id   int64
	name string
}

func batchOf(cs ...change) *changelog.Batch {
	var b changelog.Batch
	var rb row.Builder
	for _, c := range cs {
		rb.Begin(b.Buf(), 2)
		rb.Int64(0, c.id)
		rb.String(1, c.name)
		b.Commit(c.op, rb.Finish([]types.Phys{types.PhysInt, types.PhysBytes}))
	}
	return &b
}

func openWriter(t testing.TB, tb *spi.Table, mode spi.Mode, writers int) (spi.Sink, *warnings) {
	t.Helper()
	s, w, err := tryOpenSink(tb, mode, writers)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, w
}

func tryOpenSink(tb *spi.Table, mode spi.Mode, writers int) (spi.Sink, *warnings, error) {
	w := &warnings{}
	spec := spi.SinkSpec{Table: tb, Mode: mode, Writers: writers, Key: tb.PrimaryKey, TimeZone: time.UTC, Warn: w.add}
	for i := range tb.Columns {
		spec.Columns = append(spec.Columns, i)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := registry().Connector(tb.Options["connector"]).OpenSink(ctx, spec)
	return s, w, err
}

// barrier ends an epoch and waits for it.
func barrier(t testing.TB, w spi.Writer, epoch uint64) {
	t.Helper()
	if err := tryBarrier(w, epoch); err != nil {
		t.Fatal(err)
	}
}

func tryBarrier(w spi.Writer, epoch uint64) error {
	done := make(chan error, 2)
	w.Barrier(context.Background(), epoch, func(err error) { done <- err })
	select {
	case err := <-done:
		return err
	case <-time.After(2 * time.Minute):
		return fmt.Errorf("epoch %d was not acknowledged", epoch)
	}
}

func consume(t testing.TB, b *embed.Broker, topic string, n int) []embed.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	rs, err := b.Consume(ctx, topic, n)
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

func TestSinkWritesChanges(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	tb := table(b.Addr(), "format", "cdc", "topic", "out")
	s, _ := openWriter(t, tb, spi.Retract, 1)
	w := s.Writer(0)
	if err := w.Write(t.Context(), batchOf(change{changelog.Insert, 1, "a"}, change{changelog.Insert, 2, "b"})); err != nil {
		t.Fatal(err)
	}
	barrier(t, w, 1)
	if err := w.Write(t.Context(), batchOf(change{changelog.Delete, 1, "a"})); err != nil {
		t.Fatal(err)
	}
	barrier(t, w, 2)
	barrier(t, w, 3) // nothing in it
	got := consume(t, b, "out", 3)
	parts := map[string]int32{}
	for _, r := range got {
		if r.Key != nil {
			t.Errorf("a key without key.format: %q", r.Key)
		}
		if p, ok := parts[string(r.Value[1:])]; ok && p != r.Partition {
			t.Errorf("a row and its deletion lie in partitions %d and %d", p, r.Partition)
		}
		parts[string(r.Value[1:])] = r.Partition
	}
	if st := s.Stats(); st.Rows != 3 || st.Bytes == 0 {
		t.Errorf("stats %+v", st)
	}
}

func TestUpsertSink(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "out", 4)
	tb := upsertTable(b.Addr(), "topic", "out")
	s, _ := openWriter(t, tb, spi.Upsert, 2)
	w := s.Writer(1)
	if err := w.Write(t.Context(), batchOf(change{changelog.Insert, 7, "a"}, change{changelog.UpdateAfter, 7, "b"}, change{changelog.Delete, 7, "b"})); err != nil {
		t.Fatal(err)
	}
	barrier(t, w, 1)
	got := consume(t, b, "out", 3)
	for i, want := range []string{"7|a", "7|b", ""} {
		if string(got[i].Key) != "7" || string(got[i].Value) != want || (got[i].Value == nil) != (i == 2) || int(got[i].Partition) != keyPartition([]byte("7"), 4) {
			t.Errorf("record %d: %q %q in %d", i, got[i].Key, got[i].Value, got[i].Partition)
		}
	}
}
