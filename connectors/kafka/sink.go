package kafka

import (
	"context"
	"github.com/sluicesql/sluice/connectors/spi"
)

func openSink(ctx context.Context, cfg sinkConfig, spec spi.SinkSpec) (spi.Sink, error) { panic(1) }
