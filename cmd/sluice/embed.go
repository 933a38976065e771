package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/sluicesql/sluice/internal/embed"
)

// embedFlag is the flag --embed: files of records for a broker inside the process.
type embedFlag []string

// add adds the flag. condition goes before what it does.
func (e *embedFlag) add(flags *pflag.FlagSet, condition string) {
	flags.StringArrayVar((*[]string)(e), "embed", nil, condition+"start a Kafka broker inside the process, loaded with the records of `RECORDS.jsonl`; ${"+brokersVariable+"} names it (repeatable)")
}

// startBroker starts a broker with the records of files, and gives the variable that names it. Without files there is
// neither. end ends the broker.
func startBroker(records []string) (variables map[string]string, end func(), err error) {
	if len(records) == 0 {
		return nil, func() {}, nil
	}
	broker, err := embed.Start(records...)
	if err != nil {
		return nil, nil, wrong(fmt.Errorf("--embed: %w", err))
	}
	return map[string]string{brokersVariable: broker.Addr()}, broker.Close, nil
}
