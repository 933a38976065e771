package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sluicesql/sluice/internal/cdcbench"
	"github.com/sluicesql/sluice/internal/realkafka"
)

// timed is the outcome of several runs of one job.
type timed struct {
	facts   facts
	elapsed time.Duration // the median
	fastest time.Duration
	slowest time.Duration
	cpu     time.Duration // the median, where it is measured
	peak    int64         // resident bytes, of the run that took most
	said    summary       // of the last run
}

// rate is envelopes a second.
func (t timed) rate() float64 { return float64(t.facts.counts.Envelopes()) / t.elapsed.Seconds() }

// throughput is what both pipelines reach on one workload.
type throughput struct {
	blackhole timed // state in memory, nothing written
	kafka     timed // state on disk with a checkpoint every second, written to Kafka
}

func (b *bench) measureThroughput(ctx context.Context, size cdcbench.Size, t trust) (*throughput, error) {
	blackhole, err := b.timeBlackhole(ctx, size, t)
	if err != nil {
		return nil, err
	}
	kafka, err := b.timeKafka(ctx, size, t)
	if err != nil {
		return nil, err
	}
	return &throughput{blackhole, kafka}, nil
}

// timeBlackhole runs Kafka → join → blackhole with state in memory.
func (b *bench) timeBlackhole(ctx context.Context, size cdcbench.Size, t trust) (timed, error) {
	f, err := b.load(ctx, size)
	if err != nil {
		return timed{}, err
	}
	args, err := b.args(query{size: size, trust: t, bounded: true}, "")
	if err != nil {
		return timed{}, err
	}
	return b.repeat(f, "blackhole, "+t.String(), func() (finished, summary, error) {
		return b.runJob(ctx, f, args)
	})
}

// timeKafka runs Kafka → join → Kafka with state on disk, and verifies what was
// written in every run.
func (b *bench) timeKafka(ctx context.Context, size cdcbench.Size, t trust) (timed, error) {
	return b.timeKafkaWithin(ctx, size, t, 0)
}

// timeKafkaWithin is timeKafka with a memory budget; 0 is the default's.
func (b *bench) timeKafkaWithin(ctx context.Context, size cdcbench.Size, t trust, budget int64) (timed, error) {
	f, err := b.load(ctx, size)
	if err != nil {
		return timed{}, err
	}
	output := "bench_joined_" + size.Name
	state := filepath.Join(b.dir, "state")
	args, err := b.args(query{size: size, trust: t, bounded: true, output: output, durable: true, budget: budget}, state)
	if err != nil {
		return timed{}, err
	}
	return b.repeat(f, "kafka, "+t.String(), func() (finished, summary, error) {
		if err := firstError(os.RemoveAll(state), realkafka.RecreateTopic(ctx, b.addr, output, cdcbench.Partitions)); err != nil {
			return finished{}, summary{}, err
		}
		b.settle()
		run, s, err := b.runJob(ctx, f, args)
		if err != nil {
			return run, s, err
		}
		records, err := cdcbench.Verify(ctx, b.addr, output, cdcbench.Retract, f.want)
		if err == nil && records != s.ChangesOut {
			err = fmt.Errorf("topic %s holds %d records, but sluice counted %d changes", output, records, s.ChangesOut)
		}
		return run, s, err
	})
}

// runJob runs a bounded job and checks its summary.
func (b *bench) runJob(ctx context.Context, f facts, args []string) (finished, summary, error) {
	if err := os.RemoveAll(b.summaryFile()); err != nil {
		return finished{}, summary{}, err
	}
	run, err := b.runChild(ctx, args...)
	if err != nil {
		return run, summary{}, err
	}
	s, err := readSummary(b.summaryFile())
	if err == nil {
		err = s.check(f)
	}
	return run, s, err
}

// repeat runs a job b.runs times. run returns how the process went and what it
// said of itself.
func (b *bench) repeat(f facts, name string, run func() (finished, summary, error)) (timed, error) {
	t := timed{facts: f}
	var times []time.Duration
	for i := range b.runs {
		one, said, err := run()
		if err != nil {
			return timed{}, fmt.Errorf("workload %s into %s: %w", f.size.Name, name, err)
		}
		times = append(times, one.elapsed)
		t.peak = max(t.peak, one.peak)
		t.said = said
		b.log("%s into %s, run %d: %.2f s, %.0f envelopes/s, %d MB, %d changes out", f.size.Name, name, i+1,
			one.elapsed.Seconds(), float64(f.counts.Envelopes())/one.elapsed.Seconds(), one.peak/1_000_000, said.ChangesOut)
	}
	slices.Sort(times)
	t.elapsed, t.fastest, t.slowest = median(times), times[0], times[len(times)-1]
	return t, nil
}

// median of sorted times.
func median(sorted []time.Duration) time.Duration {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func (t trust) String() string {
	if t == trusted {
		return "trusted"
	}
	return "exact"
}
