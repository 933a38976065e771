package kafka

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/internal/embed"
)

// box is an outbox in memory.
type box struct{ blocks [][]byte }

// Append implements spi.Outbox.
func (b *box) Append(block []byte) error {
	b.blocks = append(b.blocks, slices.Clone(block))
	return nil
}

func (b *box) all(yield func([]byte, error) bool) {
	for _, block := range b.blocks {
		if !yield(block, nil) {
			return
		}
	}
}

func onceTable(addr string, options ...string) *spi.Table {
	return table(addr, append([]string{"sink.delivery-guarantee", "exactly-once", "sink.transactional-id-prefix", "p", "topic", "out", "format", "cdc"}, options...)...)
}

func openOnce(t testing.TB, tb *spi.Table, writers int) spi.TransactionalSink {
	t.Helper()
	mode := spi.Retract
	if tb.Options["connector"] == "upsert-kafka" {
		mode = spi.Upsert
	}
	s, _ := openWriter(t, tb, mode, writers)
	return s.(spi.TransactionalSink)
}

// fenced opens a sink and does what comes before Deliver.
func fenced(t testing.TB, tb *spi.Table) (s spi.TransactionalSink, m spi.Marker, found bool) {
	t.Helper()
	s = openOnce(t, tb, 1)
	if _, _, err := s.Marker(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Fence(t.Context()); err != nil {
		t.Fatal(err)
	}
	m, found, err := s.Marker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s, m, found
}

// pack packs changes as one packer would between two checkpoints.
func pack(t testing.TB, s spi.TransactionalSink, cs ...change) *box {
	t.Helper()
	b := &box{}
	if err := s.Packer(0).Pack(batchOf(cs...), b); err != nil {
		t.Fatal(err)
	}
	if err := s.Packer(0).Flush(b); err != nil {
		t.Fatal(err)
	}
	return b
}

func marker(checkpoint uint64) spi.Marker {
	return spi.Marker{Job: strings.Repeat("a", 32), Generation: 1, Checkpoint: checkpoint, Chunk: 1}
}

// inTopic reads what a read_committed consumer sees once n records are there, and checks that there is no more.
func inTopic(t testing.TB, b *embed.Broker, topic string, n int) []string {
	t.Helper()
	var out []string
	for _, r := range consume(t, b, topic, n) {
		out = append(out, string(r.Key)+"="+string(r.Value))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if more, err := b.Consume(ctx, topic, n+1); err == nil {
		t.Errorf("topic %s has more than %d records: %v", topic, n, more)
	}
	slices.Sort(out)
	return out
}

// A transaction's records appear with its marker, and the marker is what the next start reads.
func TestOnceSinkDelivers(t *testing.T) {
	t.Parallel()
	for _, connector := range []string{"kafka", "upsert-kafka"} {
		for _, compression := range []string{"none", "lz4"} {
			t.Run(connector+"/"+compression, func(t *testing.T) {
				t.Parallel()
				b := startBroker(t)
				createTopic(t, b, "out", 3)
				tb := onceTable(b.Addr(), "properties.compression.type", compression)
				if connector == "upsert-kafka" {
					tb = upsertTable(b.Addr(), "sink.delivery-guarantee", "exactly-once", "sink.transactional-id-prefix", "p", "topic", "out", "properties.compression.type", compression)
				}
				s, _, found := fenced(t, tb)
				if found {
					t.Error("a new sink has a marker")
				}
				var want []string
				for n := uint64(1); n <= 3; n++ {
					var cs []change
					for i := range 100 {
						cs = append(cs, change{changelog.Insert, int64(n)*1000 + int64(i), strings.Repeat("x", 50)})
					}
					if err := s.Deliver(t.Context(), marker(n), pack(t, s, cs...).all); err != nil {
						t.Fatal(err)
					}
					want = inTopic(t, b, "out", int(n)*100)
				}
				if err := s.Deliver(t.Context(), marker(4), (&box{}).all); err != nil {
					t.Fatal(err)
				}
				if got := inTopic(t, b, "out", 300); strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("a marker alone changed the records")
				}
				if st := s.Stats(); st.Rows != 300 || st.Bytes == 0 {
					t.Errorf("stats %+v", st)
				}
				if _, m, found := fenced(t, tb); !found || m != marker(4) {
					t.Errorf("marker %v, %v", m, found)
				}
			})
		}
	}
}

// A block is a batch: large output is many of them, of many partitions, and more than one lot.
func TestOnceSinkManyBatches(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "out", 7)
	s, _, _ := fenced(t, onceTable(b.Addr(), "properties.buffer.memory", "100000", "properties.max.request.size", "300000"))
	out := &box{}
	const rows = 20_000
	for i := 0; i < rows; i += 1000 {
		var cs []change
		for j := range 1000 {
			cs = append(cs, change{changelog.Insert, int64(i + j), strings.Repeat("x", 300)})
		}
		if err := s.Packer(0).Pack(batchOf(cs...), out); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Packer(0).Flush(out); err != nil {
		t.Fatal(err)
	}
	if len(out.blocks) < 7 {
		t.Errorf("%d blocks", len(out.blocks))
	}
	if err := s.Deliver(t.Context(), marker(1), out.all); err != nil {
		t.Fatal(err)
	}
	if got := inTopic(t, b, "out", rows); len(slices.Compact(got)) != rows {
		t.Errorf("%d different records", len(slices.Compact(got)))
	}
}

// The second process with a transactional id fences the first, whose next delivery says so.
func TestOnceSinkFences(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "out", 1)
	first, _, _ := fenced(t, onceTable(b.Addr()))
	if err := first.Deliver(t.Context(), marker(1), pack(t, first, change{changelog.Insert, 1, "a"}).all); err != nil {
		t.Fatal(err)
	}
	second, m, _ := fenced(t, onceTable(b.Addr()))
	if m != marker(1) {
		t.Errorf("marker %v", m)
	}
	start := time.Now()
	err := first.Deliver(t.Context(), marker(2), pack(t, first, change{changelog.Insert, 2, "zombie"}).all)
	wantError(t, start, err, "kafka topic out", "another process", "transactional id p-")
	if err := second.Deliver(t.Context(), marker(2), pack(t, second, change{changelog.Insert, 2, "b"}).all); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(inTopic(t, b, "out", 2)); strings.Contains(got, "zombie") {
		t.Error(got)
	}
}

// A look before Fence leaves the process alone that has the sink.
func TestOnceSinkLooksWithoutFencing(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "out", 1)
	first, _, _ := fenced(t, onceTable(b.Addr()))
	if err := first.Deliver(t.Context(), marker(1), pack(t, first, change{changelog.Insert, 1, "a"}).all); err != nil {
		t.Fatal(err)
	}
	if m, found, err := openOnce(t, onceTable(b.Addr()), 1).Marker(t.Context()); err != nil || !found || m != marker(1) {
		t.Errorf("%v, %v, %v", m, found, err)
	}
	if err := first.Deliver(t.Context(), marker(2), pack(t, first, change{changelog.Insert, 2, "b"}).all); err != nil {
		t.Fatal(err)
	}
	inTopic(t, b, "out", 2)
}
