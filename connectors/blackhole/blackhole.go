// Package blackhole holds the connector blackhole, which takes every change, counts it and forgets it.
package blackhole

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
)

// Register adds the connector.
func Register(r *spi.Registry) { r.AddConnector(connector{}) }

type connector struct{}

func (connector) Name() string           { return "blackhole" }
func (connector) Help() string           { return "Takes every change and forgets it" }
func (connector) Metadata() []spi.Column { return nil }

func (connector) Options() []spi.Option {
	return []spi.Option{{Name: "sink.parallelism", Kind: spi.IntOption, Help: "Number of writers"}}
}

func (connector) CheckSource(*spi.Table) (spi.SourceTraits, error) {
	return spi.SourceTraits{}, fmt.Errorf("connector blackhole: %w", spi.ErrNotSource)
}

func (connector) OpenSource(context.Context, spi.Scan) (spi.Source, error) {
	return nil, fmt.Errorf("connector blackhole: %w", spi.ErrNotSource)
}

func (connector) CheckSink(t *spi.Table) (spi.SinkTraits, error) {
	n, err := spi.Parallelism(t.Options, "sink.parallelism")
	return spi.SinkTraits{Accepts: spi.Retract, Parallelism: n}, err
}

func (connector) OpenSink(context.Context, spi.SinkSpec) (spi.Sink, error) { return &sink{}, nil }

type sink struct{ rows, bytes atomic.Int64 }

func (s *sink) Writer(int) spi.Writer { return writer{s} }
func (s *sink) Stats() spi.SinkStats {
	return spi.SinkStats{Rows: s.rows.Load(), Bytes: s.bytes.Load()}
}
func (s *sink) Close() error { return nil }

type writer struct{ s *sink }

func (w writer) Write(_ context.Context, b *changelog.Batch) error {
	w.s.rows.Add(int64(b.Len()))
	w.s.bytes.Add(int64(b.Size()))
	return nil
}

func (writer) Barrier(_ context.Context, _ uint64, ack func(error)) { ack(nil) }
func (writer) Close() error                                         { return nil }
