package kafka

import (
	"fmt"
	"testing"

	"github.com/sluicesql/sluice/connectors/conformance"
	"github.com/sluicesql/sluice/engine/changelog"
)

func TestConformance(t *testing.T) {
	b := startBroker(t)
	createTopic(t, b, "t", 4)
	createTopic(t, b, "out", 4)
	createTopic(t, b, "upserts", 3)
	var kv []string
	for i := range 60 {
		kv = append(kv, fmt.Sprint("k", i%7), fmt.Sprintf("%d|row %d", i, i))
	}
	produce(t, b, "t", kv...)
	t.Run("source", func(t *testing.T) {
		tb := table(b.Addr(), "scan.bounded.mode", "latest-offset", "properties.group.id", "g")
		conformance.Source(t, conformance.SourceCase{Connector: registry().Connector("kafka"), Table: tb, Records: 60, Foreign: true})
	})
	t.Run("sink", func(t *testing.T) {
		tb := table(b.Addr(), "topic", "out", "format", "cdc")
		conformance.Sink(t, conformance.SinkCase{
			Connector: registry().Connector("kafka"), Table: tb, Foreign: true,
			Batch:   batchOf(change{changelog.Delete, 1, "a"}, change{changelog.Insert, 1, "b"}),
			Written: func() int { return int(b.Len("out")) },
		})
	})
	t.Run("upsert source", func(t *testing.T) {
		kv = nil
		for i := range 40 {
			kv = append(kv, fmt.Sprint(i%5), []string{fmt.Sprintf("%d|row %d", i%5, i), "null"}[i%4/3])
		}
		produce(t, b, "upserts", kv...)
		tb := upsertTable(b.Addr(), "topic", "upserts", "scan.bounded.mode", "latest-offset")
		conformance.Source(t, conformance.SourceCase{Connector: registry().Connector("upsert-kafka"), Table: tb, Records: 40, Foreign: true})
	})
	t.Run("upsert sink", func(t *testing.T) {
		createTopic(t, b, "upout", 4)
		conformance.Sink(t, conformance.SinkCase{
			Connector: registry().Connector("upsert-kafka"), Table: upsertTable(b.Addr(), "topic", "upout"), Foreign: true,
			Batch:   batchOf(change{changelog.Delete, 1, "a"}, change{changelog.UpdateAfter, 2, "b"}),
			Written: func() int { return int(b.Len("upout")) },
		})
	})
}

// TestNoLeaks opens and closes source and sink while the broker's own goroutines rest.
func TestNoLeaks(t *testing.T) {
	b := startBroker(t)
	createTopic(t, b, "t", 4)
	produce(t, b, "t", "a", "1|a")
	conformance.NoLeaks(t, func() {
		tb := table(b.Addr(), "properties.group.id", "g")
		src, _, err := tryOpen(tb, nil)
		if err != nil {
			t.Fatal(err)
		}
		read(t, src.Reader(0), tb, 1)
		src.Close()
		s, _, err := tryOpenSink(table(b.Addr(), "topic", "t"), 0, 2)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Writer(0).Write(t.Context(), batchOf(change{changelog.Insert, 1, "x"})); err != nil {
			t.Fatal(err)
		}
		barrier(t, s.Writer(0), 1)
		s.Close()
	})
}
