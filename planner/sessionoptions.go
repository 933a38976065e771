package planner

import (
	"strings"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/sql/ast"
)

// The names of session options that the planner and the runtime read.
const (
	OptParallelism         = "parallelism.default"
	OptPipelineName        = "pipeline.name"
	OptRuntimeMode         = "execution.runtime-mode"
	OptCheckpointInterval  = "execution.checkpointing.interval"
	OptCheckpointDir       = "execution.checkpointing.dir"
	OptStateCheckpointsDir = "state.checkpoints.dir"
	OptSavepointDir        = "execution.checkpointing.savepoint-dir"
	OptStateSavepointsDir  = "state.savepoints.dir"
	OptStateBackend        = "state.backend.type"
	OptTimeZone            = "table.local-time-zone"
	OptEventsDuplicate     = "table.exec.source.cdc-events-duplicate"
	OptNotNullEnforcer     = "table.exec.sink.not-null-enforcer"
	OptStateTTL            = "table.exec.state.ttl"
	OptUpsertMaterialize   = "table.exec.sink.upsert-materialize"
	OptResultMode          = "sql-client.execution.result-mode"
	OptResultMaxRows       = "sql-client.execution.max-table-result.rows"
	OptMemoryBudget        = "sluice.memory.budget"
	OptEpochMaxAge         = "sluice.epoch.max-age"
	OptEpochMaxRows        = "sluice.epoch.max-rows"
	OptEpochMaxBytes       = "sluice.epoch.max-bytes"
)

// sessionOption is a session option with the values that are known but refused.
type sessionOption struct {
	spi.Option
	// refused maps a value in lower case to the reason why it's refused.
	refused map[string]string
	// only are the values accepted of an option that cannot be changed, in lower case; why tells the reason.
	only []string
	why  string
}

const (
	noMiniBatch = "every epoch is a batch already; see sluice.epoch.max-age, sluice.epoch.max-rows and sluice.epoch.max-bytes"
)

// sessionOptions is the one list of session options: checking, defaults, completion and documentation.
var sessionOptions = append([]sessionOption{
	{Option: spi.Option{Name: OptParallelism, Kind: spi.IntOption, Default: "0",
		Help: "number of shards; 0 for the number of cores"}},
	{Option: spi.Option{Name: OptPipelineName, Default: "",
		Help: "the job's name, with which its warnings begin"}},
	{Option: spi.Option{Name: OptRuntimeMode, Kind: spi.EnumOption, Default: "streaming", Values: []string{"streaming", "batch"},
		Help: "streaming; a job over bounded inputs ends by itself in this mode too"},
		refused: map[string]string{"batch": "bounded inputs end in streaming mode too, with the same result"}},
	{Option: spi.Option{Name: OptCheckpointInterval, Kind: spi.DurationOption, Default: "1 s",
		Help: "time between two checkpoints; 0 for none but the last"}},
	{Option: spi.Option{Name: OptCheckpointDir, Default: "",
		Help: "the directory of state and checkpoints; without one nothing goes to disk"}},
	{Option: spi.Option{Name: OptStateCheckpointsDir, Default: "",
		Help: "the older name of " + OptCheckpointDir}},
	{Option: spi.Option{Name: OptSavepointDir, Default: "",
		Help: "the directory in which STOP JOB … WITH SAVEPOINT makes a directory for its savepoint"}},
	{Option: spi.Option{Name: OptStateSavepointsDir, Default: "",
		Help: "the older name of " + OptSavepointDir}},
	{Option: spi.Option{Name: OptStateBackend, Kind: spi.EnumOption, Default: "hashmap", Values: []string{"hashmap", "pebble", "rocksdb"},
		Help: "hashmap holds all state in memory; pebble as much as the memory budget allows, the rest on disk (rocksdb is accepted as a name for pebble)"}},
	{Option: spi.Option{Name: OptTimeZone, Default: "UTC",
		Help: "the session's time zone, such as Europe/Berlin or UTC, or 'default' for the machine's; the machine's zone is not taken unasked, so that a job gives the same result on every machine"}},
	{Option: spi.Option{Name: OptEventsDuplicate, Kind: spi.BoolOption, Default: "true",
		Help: "true: a table with a PRIMARY KEY is a map from key to row, whatever its events look like (redelivered, repeated by a second snapshot, without the row before); false trusts the source to deliver each change once and complete, and saves the state that guards against it"}},
	{Option: spi.Option{Name: OptNotNullEnforcer, Kind: spi.EnumOption, Default: "ERROR", Values: []string{"ERROR"}, Unlisted: []string{"DROP"},
		Help: "what happens when a NULL arrives at a NOT NULL column of a sink: ERROR ends the job"},
		refused: map[string]string{"drop": "a row dropped in silence is lost; filter it with WHERE … IS NOT NULL"}},
	{Option: spi.Option{Name: OptUpsertMaterialize, Kind: spi.EnumOption, Default: "AUTO", Values: []string{"AUTO", "NONE", "FORCE"},
		Help: "AUTO: where several rows of a query may have one PRIMARY KEY of the sink, they are kept, and the one with the greatest unique key is shown; NONE refuses such queries; FORCE keeps the rows in any case"}},
	{Option: spi.Option{Name: OptStateTTL, Kind: spi.DurationOption, Default: "0 ms",
		Help: "how long state is kept that nothing changes; then it is forgotten, as if its rows had never been; 0: for ever"}},
	{Option: spi.Option{Name: "table.exec.mini-batch.enabled", Kind: spi.BoolOption, Default: "false",
		Help: "false: " + noMiniBatch}, only: []string{"false"}, why: noMiniBatch},
	{Option: spi.Option{Name: "table.exec.mini-batch.allow-latency", Kind: spi.DurationOption, Unsupported: noMiniBatch}},
	{Option: spi.Option{Name: "table.exec.mini-batch.size", Kind: spi.IntOption, Unsupported: noMiniBatch}},
	{Option: spi.Option{Name: "table.exec.source.idle-timeout", Kind: spi.DurationOption, Default: "0 ms",
		Help: "0: nothing waits for watermarks, so no input can hold another back"},
		only: []string{"0", "0 ms", "0ms", "0 s", "0s"}, why: "nothing waits for watermarks yet, so no idle input holds another back"},
	{Option: spi.Option{Name: OptResultMode, Kind: spi.EnumOption, Default: "CHANGELOG", Values: []string{"TABLE", "CHANGELOG", "TABLEAU"},
		Help: "how the result of a SELECT is shown: CHANGELOG prints a line a change, TABLEAU the same in columns, TABLE the rows. In `sluice sql` unbounded results are shown as a live table unless it is set"}},
	{Option: spi.Option{Name: OptResultMaxRows, Kind: spi.IntOption, Default: "1000000",
		Help: "the number of rows that a result shown as a table may have"}},
	{Option: spi.Option{Name: OptMemoryBudget, Kind: spi.MemoryOption, Default: "1536 mb",
		Help: "the memory for state and buffers: what is hot, what waits to be written or read, and the disk store's caches"}},
	{Option: spi.Option{Name: OptEpochMaxAge, Kind: spi.DurationOption, Default: "100 ms",
		Help: "an epoch closes at this age at the latest; it closes at once when the sources have nothing more to give"}},
	{Option: spi.Option{Name: OptEpochMaxRows, Kind: spi.IntOption, Default: "100000",
		Help: "an epoch closes when it holds this many rows"}},
	{Option: spi.Option{Name: OptEpochMaxBytes, Kind: spi.MemoryOption, Default: "64 mb",
		Help: "an epoch closes when it holds this many bytes"}},
}, flinkOptions...)

// SessionOptions declares all session options, for documentation and completion.
func SessionOptions() []spi.Option {
	o := make([]spi.Option, len(sessionOptions))
	for i := range sessionOptions {
		o[i] = sessionOptions[i].Option
	}
	return o
}

func findSessionOption(name string) *sessionOption {
	for i := range sessionOptions {
		if sessionOptions[i].Name == name {
			return &sessionOptions[i]
		}
	}
	return nil
}

// check says what is wrong with a value, as an *spi.OptionError.
func (o *sessionOption) check(value string) error {
	if o.Unsupported != "" {
		return &spi.OptionError{Name: o.Name, Msg: "the option \"" + o.Name + "\" is not supported: " + o.Unsupported}
	}
	if err := checkValue(&o.Option, o.Name, value); err != nil {
		return err
	}
	v := strings.ToLower(strings.TrimSpace(value))
	why := o.refused[v]
	if o.only != nil {
		why = o.why
		for _, w := range o.only {
			if w == v {
				why = ""
			}
		}
	}
	if why != "" {
		return &spi.OptionError{Name: o.Name, Value: true, Msg: "'" + o.Name + "' = '" + value + "' is not supported: " + why}
	}
	if o.Name == OptTimeZone {
		if _, err := timeZone(value); err != nil {
			return &spi.OptionError{Name: o.Name, Value: true, Msg: "unknown time zone \"" + value + "\""}
		}
	}
	return nil
}

// timeZone is the location that a value of table.local-time-zone names.
func timeZone(value string) (*time.Location, error) {
	switch strings.ToLower(value) {
	case "default", "":
		return time.Local, nil
	}
	if loc, ok := fixedZone(value); ok {
		return loc, nil
	}
	return time.LoadLocation(value)
}

// fixedZone reads offsets such as +02:00, GMT+2 and UTC-08:00.
func fixedZone(s string) (*time.Location, bool) {
	off := strings.TrimPrefix(strings.TrimPrefix(s, "GMT"), "UTC")
	for _, layout := range []string{"-07:00", "-07"} {
		if t, err := time.Parse(layout, off); err == nil {
			_, sec := t.Zone()
			return time.FixedZone(s, sec), true
		}
	}
	if len(off) == 2 && (off[0] == '+' || off[0] == '-') && off[1] >= '0' && off[1] <= '9' {
		sec := int(off[1]-'0') * 3600
		if off[0] == '-' {
			sec = -sec
		}
		return time.FixedZone(s, sec), true
	}
	return nil, false
}

// SetOption sets a session option from outside the SQL text, as a command line flag does. Its errors have
// no position.
func (s *Session) SetOption(name, value string) error {
	return s.setOption(name, value, ast.Pos{}, ast.Pos{})
}

// SetOptionAt is SetOption of an option that has a place, in whatever text.
func (s *Session) SetOptionAt(o ast.Option) error {
	return s.setOption(o.Key, o.Value, o.KeyPos, o.ValuePos)
}

func (s *Session) setOption(name, value string, keyPos, valuePos ast.Pos) error {
	o := findSessionOption(name)
	if o == nil {
		var known []string
		for i := range sessionOptions {
			known = append(known, sessionOptions[i].Name)
		}
		return suggest(errAt(keyPos, "unknown option %q", name).Coded(ast.CodeUnknownOption), name, known, "options")
	}
	if err := o.check(value); err != nil {
		return placeOption(err, keyPos, valuePos)
	}
	s.options[name] = value
	return nil
}

// Option is the value of a session option in force.
func (s *Session) Option(name string) string {
	if v, ok := s.options[name]; ok {
		return v
	}
	if o := findSessionOption(name); o != nil {
		return o.Default
	}
	return ""
}

// optionsInForce are all options by name, defaults included.
func (s *Session) optionsInForce() map[string]string {
	m := map[string]string{}
	for i := range sessionOptions {
		if o := &sessionOptions[i]; o.Unsupported == "" {
			m[o.Name] = s.Option(o.Name)
		}
	}
	return m
}

func (s *Session) boolOption(name string) bool {
	return strings.EqualFold(strings.TrimSpace(s.Option(name)), "true")
}

// location is the session's time zone. The value was checked when it was set.
func (s *Session) location() *time.Location {
	loc, err := timeZone(s.Option(OptTimeZone))
	if err != nil {
		return time.UTC
	}
	return loc
}
