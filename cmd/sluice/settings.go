package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	goruntime "runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"github.com/sluicesql/sluice/cmd/sluice/internal/progress"
	"github.com/sluicesql/sluice/cmd/sluice/internal/result"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/runtime"
	"github.com/sluicesql/sluice/sql/ast"
)

const maxParallelism = keyenc.KeyGroups

// optionFlag is the flag --set: session options set before the first statement.
type optionFlag []string

func (o *optionFlag) add(flags *pflag.FlagSet) {
	flags.StringArrayVar((*[]string)(o), "set", nil, "set the session option `KEY=VALUE` before the first statement (repeatable)")
}

// apply sets the options. Its errors name the flag, since there is no place in a file to name.
func (o optionFlag) apply(s *planner.Session) error {
	for _, f := range o {
		key, value, err := keyValue("set", f)
		if err != nil {
			return err
		}
		if err := s.SetOption(key, value); err != nil {
			msg, hint := err.Error(), ""
			if e, ok := errors.AsType[*ast.Error](err); ok {
				msg, hint = e.Msg, e.Hint
			}
			return wrong(&ast.Error{Msg: "--set " + key + ": " + msg, Hint: hint, Code: fault.CommandLine})
		}
	}
	return nil
}

// settings are the session options of a job, with the flags that go before them.
type settings struct {
	options spi.Options
	flags   *runFlags
}

func (r *runner) settings(j *planner.Job) settings {
	return settings{options: j.Plan.Options, flags: r.flags}
}

// int, duration and memory read options whose form the planner checked when they were set.
func (s settings) int(name string) int {
	n, err := s.options.Int(name, 0)
	if err != nil {
		panic(err)
	}
	return int(n)
}

func (s settings) duration(name string) time.Duration {
	d, err := s.options.Duration(name, 0)
	if err != nil {
		panic(err)
	}
	return d
}

func (s settings) memory(name string) int64 {
	n, err := spi.ParseMemory(s.options.Get(name, "0"))
	if err != nil {
		panic(err)
	}
	return n
}

func (s settings) parallelism() (int, error) {
	if n := s.flags.parallelism; n > 0 {
		return n, nil
	}
	switch n := s.int(planner.OptParallelism); {
	case n < 0 || n > maxParallelism:
		return 0, fmt.Errorf("%s = %d: the number of shards is 1 to %d, or 0 for the number of cores", planner.OptParallelism, n, maxParallelism)
	case n > 0:
		return n, nil
	}
	return min(goruntime.GOMAXPROCS(0), maxParallelism), nil
}

// stateDir is the directory of state and checkpoints, or empty. Flink's options hold a URI.
func (s settings) stateDir() (string, error) {
	dir := s.flags.stateDir
	for _, name := range []string{planner.OptCheckpointDir, planner.OptStateCheckpointsDir} {
		if dir == "" {
			dir = s.options.Get(name, "")
		}
	}
	if scheme, rest, ok := strings.Cut(dir, "://"); ok {
		if scheme != "file" {
			return "", fmt.Errorf("the state directory %s: only directories of this machine are supported (file://…)", dir)
		}
		dir = rest
	}
	return dir, nil
}

func (s settings) pebble() bool {
	switch strings.ToLower(s.options.Get(planner.OptStateBackend, "")) {
	case "pebble", "rocksdb":
		return true
	}
	return false
}

// resultMode is how the result of a query is shown: --result and the planner have checked the name.
func (s settings) resultMode() result.Mode {
	mode := s.flags.result
	if mode == "" {
		mode = s.options.Get(planner.OptResultMode, result.Changelog.String())
	}
	return result.ModeNamed(mode)
}

// jobPrefix is what a job with a name puts before its messages.
func (s settings) jobPrefix() string {
	if name := s.options.Get(planner.OptPipelineName, ""); name != "" {
		return name + ": "
	}
	return ""
}

// config is how the runtime is to run a job.
func (r *runner) config(j *planner.Job) (runtime.Config, error) {
	s := r.settings(j)
	cfg := runtime.Config{
		Plan:               j.Plan,
		SQL:                r.sql,
		Version:            versionLine(),
		Redact:             r.sources.secrets.Text,
		AllowRebuild:       r.flags.allowRebuild,
		Reemit:             r.flags.reemit,
		Skips:              r.flags.skips,
		FromSavepoint:      r.flags.fromSavepoint,
		EpochMaxRows:       s.int(planner.OptEpochMaxRows),
		EpochMaxBytes:      s.memory(planner.OptEpochMaxBytes),
		EpochMaxAge:        s.duration(planner.OptEpochMaxAge),
		CheckpointInterval: s.duration(planner.OptCheckpointInterval),
		TimeZone:           j.Plan.Location(),
		PendingOutput:      runtime.PendingOutput(s.flags.pendingOutput),
		Warn:               func(msg string) { fmt.Fprintf(r.notes, "sluice: warning: %s%s\n", s.jobPrefix(), msg) },
	}
	var err error
	if cfg.Parallelism, err = s.parallelism(); err != nil {
		return cfg, err
	}
	if cfg.StateDir, err = s.stateDir(); err != nil {
		return cfg, err
	}
	if s.options.Get(planner.OptCheckpointInterval, "") != "" && cfg.CheckpointInterval == 0 {
		cfg.CheckpointInterval = math.MaxInt64 // 0 means none but the last
	}
	switch {
	case cfg.StateDir != "":
		cfg.MemoryBudget = s.memory(planner.OptMemoryBudget)
	case s.pebble():
		return cfg, fmt.Errorf("%s = pebble needs a directory: give --state-dir DIR, or set %s", planner.OptStateBackend, planner.OptCheckpointDir)
	}
	return cfg, nil
}

// resultOptions are how the result of a job is shown; check has found them in order. running will hold the
// job.
func (r *runner) resultOptions(j *planner.Job, running *atomic.Pointer[runtime.Job]) result.Options {
	s := r.settings(j)
	mode := s.resultMode()
	o := result.Options{Mode: mode, Out: r.out, Plain: !isTerminal(os.Stdout), MaxRows: s.int(planner.OptResultMaxRows)}
	if mode == result.Table && !bounded(j.Plan) && isTerminal(os.Stdout) {
		o.Screen = &result.Screen{
			Size:     func() (int, int) { return terminalSize(os.Stdout) },
			Status:   liveStatus(running),
			Interval: paintInterval,
		}
	}
	return o
}

// liveStatus is the line below a table that is kept up to date.
func liveStatus(running *atomic.Pointer[runtime.Job]) func() string {
	var line progress.Line
	status, next := "starting", time.Time{}
	return func() string {
		job := running.Load()
		if now := time.Now(); job != nil && now.After(next) {
			status, next = line.Next(job.Stats())+" · Ctrl-C ends", now.Add(progressInterval)
		}
		return status
	}
}

// bounded reports whether a job ends by itself.
func bounded(p *planner.Plan) bool {
	for _, s := range p.Sinks {
		if !s.Bounded {
			return false
		}
	}
	return true
}
