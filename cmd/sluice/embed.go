package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/sluicesql/sluice/connectors/kafka"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/embed"
	"github.com/sluicesql/sluice/planner"
)

// embedFlag is the flag --embed: files of records for a broker inside the process.
type embedFlag []string

// add adds the flag. condition goes before what it does.
func (e *embedFlag) add(flags *pflag.FlagSet, condition string) {
	flags.StringArrayVar((*[]string)(e), "embed", nil, condition+"start a Kafka broker inside the process, loaded with the records of `RECORDS.jsonl`; ${"+brokersVariable+"} names it (repeatable)")
}

// localBroker is the broker inside the process; nil is none.
type localBroker struct {
	*embed.Broker
}

// startBroker starts a broker for the records of files, which are loaded when the tables are known. Without files there
// is none.
func startBroker(records []string) (*localBroker, error) {
	if len(records) == 0 {
		return nil, nil
	}
	broker, err := embed.Start(records...)
	if err != nil {
		return nil, wrong(fmt.Errorf("--embed: %w", err))
	}
	return &localBroker{broker}, nil
}

// variables is the variable that names the broker.
func (b *localBroker) variables() map[string]string {
	if b == nil {
		return nil
	}
	return map[string]string{brokersVariable: b.Addr()}
}

// load loads the records, the first time that it is called. A topic that a table of the session wants in one order gets
// one partition.
func (b *localBroker) load(s *planner.Session, registry *spi.Registry) error {
	if b == nil {
		return nil
	}
	err := b.Load(func(topic string) bool {
		for _, name := range s.Tables() {
			if kafka.OneOrder(registry, s.Table(name).Spec, topic) {
				return true
			}
		}
		return false
	})
	if err != nil {
		return &failure{exitFailed, fmt.Errorf("--embed: %w", err)}
	}
	return nil
}

// registry is r, whose tables on this broker need no credentials.
func (b *localBroker) registry(r *spi.Registry) *spi.Registry {
	if b == nil {
		return r
	}
	return r.Wrapped(func(c spi.Connector) spi.Connector { return &openConnector{c, b} })
}

// openConnector is a connector that leaves out the credentials of tables on the broker inside the process, which takes
// everybody and speaks no TLS.
type openConnector struct {
	spi.Connector
	broker *localBroker
}

// OpenSource implements spi.Connector.
func (c *openConnector) OpenSource(ctx context.Context, s spi.Scan) (spi.Source, error) {
	s.Table, s.DeadLetters = c.broker.open(s.Table), c.broker.open(s.DeadLetters)
	return c.Connector.OpenSource(ctx, s)
}

// OpenSink implements spi.Connector.
func (c *openConnector) OpenSink(ctx context.Context, s spi.SinkSpec) (spi.Sink, error) {
	s.Table = c.broker.open(s.Table)
	return c.Connector.OpenSink(ctx, s)
}

// open is a table without credentials, where it is on the broker.
func (b *localBroker) open(t *spi.Table) *spi.Table {
	if b == nil || t == nil || t.Options["properties.bootstrap.servers"] != b.Addr() {
		return t
	}
	open := *t
	open.Options = kafka.WithoutCredentials(t.Options)
	return &open
}

func (b *localBroker) close() {
	if b != nil {
		b.Close()
	}
}
