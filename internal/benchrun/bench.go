package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/sluicesql/sluice/internal/cdcbench"
	"github.com/sluicesql/sluice/internal/realkafka"
)

// bench is what every job needs: the binary, a broker and a folder.
type bench struct {
	root        string // of the project
	sluice      string // the binary
	dir         string // for state, logs and the broker's data
	addr        string // of the broker
	runs        int
	parallelism int
	log         func(format string, args ...any)
	settle      func() // before a timed run

	broker  *realkafka.Broker
	keepDir bool
	loaded  map[string]facts // by size
}

// newBench builds the binary and starts the broker.
func newBench(ctx context.Context, o options) (*bench, error) {
	b := &bench{
		dir:         o.dir,
		runs:        o.runs,
		parallelism: o.parallelism,
		keepDir:     o.keep || o.dir != "",
		log:         func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) },
		settle:      settleDisk,
	}
	gomod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOMOD: %w", err)
	}
	b.root = filepath.Dir(strings.TrimSpace(string(gomod)))
	if b.dir == "" {
		b.dir, err = os.MkdirTemp("", "sluice-bench-")
	} else {
		err = os.MkdirAll(b.dir, 0o755)
	}
	if err != nil {
		return nil, err
	}
	if err := b.build(ctx); err != nil {
		return nil, errors.Join(err, b.close())
	}
	if err := b.connect(ctx, o); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// build makes the binary as it is released: static, and without the debugging
// information.
func (b *bench) build(ctx context.Context) error {
	b.sluice = filepath.Join(b.dir, "sluice")
	b.log("building %s", b.sluice)
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-trimpath", "-o", b.sluice, "./cmd/sluice")
	cmd.Dir = b.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build sluice: %w\n%s", err, out)
	}
	return nil
}

func (b *bench) connect(ctx context.Context, o options) error {
	if o.brokers != "" {
		b.broker = realkafka.External(o.brokers)
	} else {
		b.log("starting Apache Kafka %s", realkafka.Version)
		var err error
		b.broker, err = realkafka.Start(ctx, filepath.Join(b.dir, "kafka"), realkafka.Options{
			Heap:       "1g",
			JVM:        []string{"-Xms1g", "-XX:+UseG1GC"},
			Properties: map[string]string{"compression.type": o.compression},
		})
		if err != nil {
			return err
		}
	}
	b.addr = b.broker.Addr()
	return nil
}

// close ends the broker and removes the folder.
func (b *bench) close() error {
	var err error
	if b.broker != nil {
		err = b.broker.Stop()
	}
	if b.keepDir {
		b.log("data, state and logs are in %s", b.dir)
		return err
	}
	return errors.Join(err, os.RemoveAll(b.dir))
}

// facts are what is known of a workload that lies in its topics.
type facts struct {
	size     cdcbench.Size
	counts   cdcbench.Counts
	want     cdcbench.Result
	liveRows int64
}

// records is the number of Kafka records, tombstones included.
func (f facts) records() int64 { return f.counts.Envelopes() + f.counts.Tombstones }

// load puts a workload into its topics, if they do not hold it already.
func (b *bench) load(ctx context.Context, size cdcbench.Size) (facts, error) {
	if f, ok := b.loaded[size.Name]; ok {
		return f, nil
	}
	m, err := cdcbench.Generate(size, cdcbench.DefaultSeed, func(cdcbench.Event) error { return ctx.Err() })
	if err != nil {
		return facts{}, err
	}
	f := facts{size: size, counts: m.Counts, want: m.Expected(), liveRows: m.LiveRows()}
	if !b.holds(ctx, f) {
		b.log("loading workload %s: %d envelopes, %d MB", size.Name, f.counts.Envelopes(), f.counts.ValueBytes/1_000_000)
		if _, err := cdcbench.Load(ctx, b.addr, size, cdcbench.DefaultSeed); err != nil {
			return facts{}, err
		}
	}
	b.settle()
	if b.loaded == nil {
		b.loaded = map[string]facts{}
	}
	b.loaded[size.Name] = f
	return f, nil
}

// holds reports whether the topics of f are there with the number of records that
// they must have. A topic that is not there holds nothing.
func (b *bench) holds(ctx context.Context, f facts) bool {
	users, err := realkafka.EndOffsets(ctx, b.addr, f.size.UsersTopic())
	if err != nil || users != f.counts.UserEnvelopes {
		return false
	}
	domains, err := realkafka.EndOffsets(ctx, b.addr, f.size.DomainsTopic())
	return err == nil && domains == f.counts.DomainEnvelopes+f.counts.Tombstones
}

// settleDisk lets the disk catch up, so that what one run wrote is not written during
// the next one's time.
func settleDisk() {
	syscall.Sync()
	time.Sleep(time.Second)
}
