package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicesql/sluice/internal/cdcbench"
	"github.com/sluicesql/sluice/internal/realkafka"
)

// reliability is what guarantees cost, and how long a killed process is missed.
type reliability struct {
	often, once timed // Kafka → join → Kafka, at least once and exactly once
	recovery    []recovery
}

// recovery is a kill with the whole workload in the state, and a start after it.
type recovery struct {
	once    bool
	elapsed []time.Duration // from the start of the process to its first output, sorted
}

// measureReliability runs the job with either guarantee in turn, so that both have the same machine.
func (b *bench) measureReliability(ctx context.Context, size cdcbench.Size) (*reliability, error) {
	f, err := b.load(ctx, size)
	if err != nil {
		return nil, err
	}
	var runs [2][]finished
	var said [2]summary
	for range b.runs {
		for i, once := range []bool{false, true} {
			run, s, err := b.runGuarantee(ctx, f, once)
			if err != nil {
				return nil, err
			}
			runs[i], said[i] = append(runs[i], run), s
			b.log("%s into Kafka, exactly once: %t: %.2f s, %.2f s of processor time", size.Name, once, run.elapsed.Seconds(), run.cpu.Seconds())
		}
	}
	r := &reliability{often: timedOf(f, runs[0], said[0]), once: timedOf(f, runs[1], said[1])}
	for _, once := range []bool{false, true} {
		one, err := b.measureRecovery(ctx, f, once)
		if err != nil {
			return nil, err
		}
		r.recovery = append(r.recovery, one)
	}
	return r, nil
}

// guaranteed is the benchmark's job with a guarantee, its state and its output.
func (b *bench) guaranteed(f facts, once, bounded bool) (args []string, state, output string, err error) {
	state, output = filepath.Join(b.dir, "state"), "bench_joined_"+f.size.Name
	args, err = b.args(query{size: f.size, bounded: bounded, output: output, durable: true, once: once}, state)
	return args, state, output, err
}

func (b *bench) runGuarantee(ctx context.Context, f facts, once bool) (finished, summary, error) {
	args, state, output, err := b.guaranteed(f, once, true)
	if err == nil {
		err = firstError(os.RemoveAll(state), realkafka.RecreateTopic(ctx, b.addr, output, cdcbench.Partitions))
	}
	if err != nil {
		return finished{}, summary{}, err
	}
	b.settle()
	run, s, err := b.runJob(ctx, f, args)
	if err == nil {
		_, err = cdcbench.Verify(ctx, b.addr, output, cdcbench.Retract, f.want)
	}
	return run, s, err
}

// timedOf sums up runs.
func timedOf(f facts, runs []finished, said summary) timed {
	t := timed{facts: f, said: said}
	var times, cpu []time.Duration
	for _, r := range runs {
		times, cpu = append(times, r.elapsed), append(cpu, r.cpu)
		t.peak = max(t.peak, r.peak)
	}
	slices.Sort(times)
	slices.Sort(cpu)
	t.elapsed, t.fastest, t.slowest, t.cpu = median(times), times[0], times[len(times)-1], median(cpu)
	return t
}

// measureRecovery kills the job when it has joined everything, makes one change, starts the job again, and waits for
// the changed row in the topic as a read_committed consumer sees it.
func (b *bench) measureRecovery(ctx context.Context, f facts, once bool) (recovery, error) {
	r := recovery{once: once}
	args, state, output, err := b.guaranteed(f, once, false)
	if err == nil {
		err = firstError(os.RemoveAll(state), realkafka.RecreateTopic(ctx, b.addr, output, cdcbench.Partitions))
	}
	if err != nil {
		return r, err
	}
	model, err := cdcbench.Generate(f.size, cdcbench.DefaultSeed, func(cdcbench.Event) error { return ctx.Err() })
	if err != nil {
		return r, err
	}
	job, err := b.startChild(ctx, io.Discard, args...)
	if err != nil {
		return r, err
	}
	defer func() { _ = job.cmd.Process.Kill() }()
	if err := b.awaitQuiet(ctx, output, f.want.Rows); err != nil {
		return r, err
	}
	for range b.runs {
		if err := job.cmd.Process.Kill(); err != nil {
			return r, err
		}
		_, _ = job.wait() // it was killed
		ends, err := cdcbench.ConsumeFromEnd(ctx, b.addr, output)
		if err != nil {
			return r, err
		}
		for range 100 { // some of the changed users have no domain
			e := model.Mark(time.Now().UnixNano())
			topic := f.size.UsersTopic()
			if e.Table == cdcbench.Domains {
				topic = f.size.DomainsTopic()
			}
			if err := realkafka.Produce(ctx, b.addr, &kgo.Record{Topic: topic, Key: cdcbench.AppendKey(nil, e.ID), Value: e.Value}); err != nil {
				return r, err
			}
		}
		start := time.Now()
		if job, err = b.startChild(ctx, io.Discard, args...); err != nil {
			return r, err
		}
		fetches := ends.PollRecords(ctx, 1)
		elapsed := time.Since(start)
		ends.Close()
		if err := fetches.Err(); err != nil {
			return r, err
		}
		r.elapsed = append(r.elapsed, elapsed)
		b.log("killed and started again, exactly once: %t: first output after %v", once, elapsed)
		if err := b.awaitQuiet(ctx, output, f.want.Rows); err != nil {
			return r, err
		}
	}
	slices.Sort(r.elapsed)
	return r, job.interrupt()
}

// awaitQuiet waits until a topic has so many records and gets no more for a while.
func (b *bench) awaitQuiet(ctx context.Context, topic string, least int64) error {
	deadline := time.Now().Add(10 * time.Minute)
	for last, quiet := int64(-1), 0; quiet < 6; {
		n, err := realkafka.EndOffsets(ctx, b.addr, topic)
		if err != nil {
			return err
		}
		if quiet++; n != last || n < least {
			quiet = 0
		}
		last = n
		if time.Now().After(deadline) {
			return errors.New("the job does not come to rest")
		}
		time.Sleep(500 * time.Millisecond)
	}
	return nil
}

func (r *report) reliabilitySection() string {
	var b strings.Builder
	m := r.reliability
	f := m.often.facts
	fmt.Fprintf(&b, "Workload %s: %s envelopes joined into %s rows, Kafka → join → Kafka, Pebble, checkpoint every second, runs in turn. %s\n\n",
		f.size.Name, group(f.counts.Envelopes()), group(f.want.Rows), r.machine)
	b.WriteString("| guarantee | whole process, fastest–slowest | processor time | peak RSS |\n|---|---|---|---|\n")
	for _, row := range []struct {
		name string
		t    timed
	}{{"at-least-once", m.often}, {"exactly-once", m.once}} {
		fmt.Fprintf(&b, "| %s | %.2f s, %.2f–%.2f | %.2f s | %s |\n", row.name, row.t.elapsed.Seconds(), row.t.fastest.Seconds(), row.t.slowest.Seconds(), row.t.cpu.Seconds(), megabytes(row.t.peak))
	}
	fmt.Fprintf(&b, "\nExactly once takes %s of the time and %s of the processor time of at least once.\n\n", percent(m.once.elapsed, m.often.elapsed), percent(m.once.cpu, m.often.cpu))
	b.WriteString("Killed with `kill -9` when all that was in the state, and started again: from the start of the process to the first new output, as a read_committed consumer sees it.\n\n| guarantee | median | slowest |\n|---|---|---|\n")
	for _, one := range m.recovery {
		name := map[bool]string{false: "at-least-once", true: "exactly-once"}[one.once]
		fmt.Fprintf(&b, "| %s | %.2f s | %.2f s |\n", name, median(one.elapsed).Seconds(), one.elapsed[len(one.elapsed)-1].Seconds())
	}
	return b.String()
}
