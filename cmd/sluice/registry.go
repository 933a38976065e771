package main

import (
	"io"

	"github.com/sluicesql/sluice/connectors/blackhole"
	"github.com/sluicesql/sluice/connectors/datagen"
	"github.com/sluicesql/sluice/connectors/format/csv"
	"github.com/sluicesql/sluice/connectors/format/debezium"
	jsonformat "github.com/sluicesql/sluice/connectors/format/json"
	"github.com/sluicesql/sluice/connectors/format/raw"
	"github.com/sluicesql/sluice/connectors/kafka"
	printer "github.com/sluicesql/sluice/connectors/print"
	"github.com/sluicesql/sluice/connectors/spi"
)

// newRegistry holds the connectors and formats that this binary has. The connector print writes to stdout
// and stderr.
func newRegistry(stdout, stderr io.Writer) *spi.Registry {
	r := spi.NewRegistry()
	blackhole.Register(r)
	datagen.Register(r)
	kafka.Register(r)
	printer.Register(r, stdout, stderr)
	csv.Register(r)
	debezium.Register(r)
	jsonformat.Register(r)
	raw.Register(r)
	return r
}
