package planner

import (
	"slices"
	"strings"

	"github.com/sluicesql/sluice/connectors/spi"
)

const (
	oneInFlight     = "one checkpoint is in flight at a time, and an epoch never waits for it; see '" + OptCheckpointInterval + "'"
	restartsOutside = "a job that fails ends with its cause; started again with its state directory, as by a service manager, it goes on"
	ofFlinksRuntime = "it sets Flink's runtime, and means nothing here: leave it out"
)

// flinkOptions are options of Flink's that files often set and that cannot be changed here, with what holds instead.
var flinkOptions = slices.Concat(
	[]sessionOption{
		fixed("execution.checkpointing.mode", "EXACTLY_ONCE", "AT_LEAST_ONCE", "state and positions are always committed together; what a sink shows after a crash is its 'sink.delivery-guarantee'"),
		fixed("table.sql-dialect", "default", "hive", "there is one dialect"),
	},
	unsupported(oneInFlight, "execution.checkpointing.timeout", "execution.checkpointing.min-pause", "execution.checkpointing.max-concurrent-checkpoints"),
	unsupported("a checkpoint writes what has changed since the one before, in any case", "execution.checkpointing.incremental", "state.backend.incremental"),
	unsupported("a job whose checkpoint fails ends, since its state could not be kept", "execution.checkpointing.tolerable-failed-checkpoints"),
	unsupported(restartsOutside, "restart-strategy", "restart-strategy.type"),
	unsupported("start with sluice run --from-savepoint DIR", "execution.state-recovery.path", "execution.savepoint.path"),
	unsupported("write '"+OptParallelism+"'", "table.exec.resource.default-parallelism"),
	unsupported("state is divided into 128 key groups, so that 128 shards are the most", "pipeline.max-parallelism"),
	unsupported("sluice run waits for its jobs, and in the shell of sluice sql they run in the background", "table.dml-sync"),
	unsupported("joins are made in the order in which they are written, but for those that EXPLAIN tells", "table.optimizer.join-reorder-enabled"),
	unsupported(ofFlinksRuntime, "pipeline.object-reuse", "pipeline.operator-chaining.enabled", "sql-client.verbose"),
)

// fixed is an option that is always value, and why it is not the other that Flink knows.
func fixed(name, value, other, why string) sessionOption {
	return sessionOption{
		Option:  spi.Option{Name: name, Kind: spi.EnumOption, Default: value, Values: []string{value}, Unlisted: []string{other}, Help: why},
		refused: map[string]string{strings.ToLower(other): why},
	}
}

func unsupported(why string, names ...string) []sessionOption {
	options := make([]sessionOption, len(names))
	for i, n := range names {
		options[i] = sessionOption{Option: spi.Option{Name: n, Unsupported: why}}
	}
	return options
}
