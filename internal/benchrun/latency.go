package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/sluicesql/sluice/internal/cdcbench"
	"github.com/sluicesql/sluice/internal/realkafka"
)

// probing is how long and how fast the latency probe goes.
type probing struct {
	size             cdcbench.Size
	rate             int
	warmUp, duration time.Duration
}

// fullProbe is the published one.
var fullProbe = probing{
	// Its topics are its own: the probe leaves its changes in them.
	size:     cdcbench.Size{Name: "latency", Users: 100_000},
	rate:     5_000,
	warmUp:   10 * time.Second,
	duration: 30 * time.Second,
}

// latencies are those of the same probe with state in memory and on disk.
type latencies struct {
	probing  probing
	inMemory cdcbench.Latency
	onDisk   cdcbench.Latency // checkpoint every second
}

func (b *bench) measureLatency(ctx context.Context, p probing) (*latencies, error) {
	inMemory, err := b.probe(ctx, p, false)
	if err != nil {
		return nil, err
	}
	onDisk, err := b.probe(ctx, p, true)
	if err != nil {
		return nil, err
	}
	return &latencies{p, inMemory, onDisk}, nil
}

// probe runs the unbounded job on a fresh snapshot, measures, ends the job in an
// orderly way and verifies all that it wrote.
func (b *bench) probe(ctx context.Context, p probing, durable bool) (l cdcbench.Latency, err error) {
	b.log("loading workload %s", p.size.Name)
	m, err := cdcbench.Load(ctx, b.addr, p.size, cdcbench.DefaultSeed)
	if err != nil {
		return l, err
	}
	output := "bench_joined_" + p.size.Name
	if err := realkafka.RecreateTopic(ctx, b.addr, output, cdcbench.Partitions); err != nil {
		return l, err
	}
	state := ""
	if durable {
		state = filepath.Join(b.dir, "state")
		if err := os.RemoveAll(state); err != nil {
			return l, err
		}
	}
	args, err := b.args(query{size: p.size, trust: trusted, output: output, durable: durable}, state)
	if err != nil {
		return l, err
	}
	b.settle()
	jobCtx, abandon := context.WithCancel(ctx)
	defer abandon()
	job, err := b.startChild(jobCtx, io.Discard, args...)
	if err != nil {
		return l, err
	}
	l, err = b.probeJob(ctx, p, m, output)
	if err != nil {
		abandon()
		_, waitErr := job.wait()
		return l, errors.Join(err, waitErr)
	}
	b.log("latency, state on disk: %t: %v", durable, l)
	if err := job.interrupt(); err != nil {
		return l, err
	}
	if _, err := job.wait(); err != nil {
		return l, fmt.Errorf("after an interrupt: %w", err)
	}
	_, err = cdcbench.Verify(ctx, b.addr, output, cdcbench.Retract, m.Expected())
	return l, err
}

// probeJob waits until the job has joined the snapshot, and probes.
func (b *bench) probeJob(ctx context.Context, p probing, m *cdcbench.Model, output string) (cdcbench.Latency, error) {
	if err := b.awaitRecords(ctx, output, m.Expected().Rows); err != nil {
		return cdcbench.Latency{}, err
	}
	return cdcbench.Probe{
		Addr: b.addr, Model: m, Size: p.size, Output: output,
		Rate: p.rate, WarmUp: p.warmUp, Duration: p.duration,
	}.Run(ctx)
}

// snapshotPatience is how long a job may take to join the snapshot of the latency
// workload; it takes a second or two.
const snapshotPatience = time.Minute

func (b *bench) awaitRecords(ctx context.Context, topic string, want int64) error {
	deadline := time.Now().Add(snapshotPatience)
	for {
		n, err := realkafka.EndOffsets(ctx, b.addr, topic)
		if err != nil {
			return err
		}
		if n >= want {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("topic %s has %d records after %v, expected %d: the job does not get through the snapshot", topic, n, snapshotPatience, want)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
