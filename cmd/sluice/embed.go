package main

import (
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

func (b *localBroker) close() {
	if b != nil {
		b.Close()
	}
}
