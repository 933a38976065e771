// Command benchrun measures sluice and writes the tables of docs/performance.md and docs/reliability.md:
//
//	go run ./internal/benchrun -size M -runs 3
//
// It builds the binary, starts a real Apache Kafka, generates the workload of
// internal/cdcbench and runs every job as a process of its own, timed from start
// to exit. What a job writes is verified by count and checksum; a wrong result is
// an error, not a figure.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/cdcbench"
)

// The jobs, in the order in which they run.
const (
	jobThroughput = "throughput" // into blackhole and into Kafka, trusted source
	jobExact      = "exact"      // the same with the exact default
	jobLatency    = "latency"
	jobStart      = "start"
	jobMemory     = "memory"
	jobOperators  = "operators" // aggregates, top-N and joins over generated changes
	jobBudget     = "budget"    // into Kafka with less memory than the state takes
	// What guarantees cost, and how long recovery takes. It comes last, since it adds to the workload's topics.
	jobReliability = "reliability"
)

var (
	allJobs     = []string{jobThroughput, jobExact, jobLatency, jobStart, jobMemory, jobOperators, jobBudget, jobReliability}
	defaultJobs = []string{jobThroughput, jobExact, jobLatency, jobStart, jobMemory, jobOperators, jobReliability}
)

// options are the command's flags.
type options struct {
	size        cdcbench.Size
	runs        int
	parallelism int
	jobs        []string
	brokers     string
	dir         string
	keep        bool
	doc         string
	budget      int64
	compression string // of the broker's topics, as Kafka's compression.type writes it
}

func parseFlags(args []string) (options, error) {
	var o options
	fs := flag.NewFlagSet("benchrun", flag.ContinueOnError)
	size := fs.String("size", "M", "size of the workload: XS, S, M or XL")
	fs.IntVar(&o.runs, "runs", 3, "runs of every timed job; the median counts")
	fs.IntVar(&o.parallelism, "parallelism", 2, "shards of every job")
	jobs := fs.String("jobs", strings.Join(defaultJobs, ","), "what to measure: "+strings.Join(allJobs, ", "))
	budget := fs.String("budget", "256 mb", "memory budget of the job budget")
	fs.StringVar(&o.brokers, "brokers", "", "a running broker to use instead of one started here; topics users_SIZE, domains_SIZE and bench_* are overwritten there")
	fs.StringVar(&o.dir, "dir", "", "folder for the broker's data, state and logs; empty for one in the temporary folder")
	fs.StringVar(&o.compression, "compression", "producer", "how the broker that is started here stores its topics: producer (as they were sent), or zstd to need less disk")
	fs.BoolVar(&o.keep, "keep", false, "keep that folder at the end")
	fs.StringVar(&o.doc, "doc", "", "document whose tables are replaced, but for those of reliability.md beside it; empty for docs/performance.md with sizes M and XL, and none otherwise")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	var err error
	if o.size, err = cdcbench.SizeNamed(*size); err != nil {
		return o, err
	}
	if o.size.Changes == 0 {
		return o, fmt.Errorf("size %s has no changes and serves latency alone; take XS, S, M or XL", o.size.Name)
	}
	if o.budget, err = spi.ParseMemory(*budget); err != nil {
		return o, fmt.Errorf("-budget: %w", err)
	}
	if o.budget == 0 {
		return o, fmt.Errorf("-budget is more than 0")
	}
	o.jobs = strings.Split(*jobs, ",")
	for _, j := range o.jobs {
		if !slices.Contains(allJobs, j) {
			return o, fmt.Errorf("unknown job %q; there are %s", j, strings.Join(allJobs, ", "))
		}
	}
	if o.runs < 1 || o.parallelism < 1 {
		return o, fmt.Errorf("-runs and -parallelism are at least 1")
	}
	return o, nil
}

func main() {
	o, err := parseFlags(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchrun:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err = run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchrun:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	b, err := newBench(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, b.close()) }()
	report, err := measure(ctx, b, o)
	if err != nil {
		return err
	}
	fmt.Print(report.text())
	doc := o.doc
	if doc == "" {
		if o.size.Name != "M" && o.size.Name != "XL" {
			return nil
		}
		doc = filepath.Join(b.root, "docs", "performance.md")
	}
	return report.writeInto(doc)
}

// measure runs the jobs of o.
func measure(ctx context.Context, b *bench, o options) (*report, error) {
	r := &report{machine: thisMachine(ctx, b.root)}
	for _, job := range allJobs {
		if !slices.Contains(o.jobs, job) {
			continue
		}
		var err error
		switch job {
		case jobThroughput:
			r.throughput, err = b.measureThroughput(ctx, o.size, trusted)
		case jobExact:
			r.exact, err = b.measureThroughput(ctx, o.size, exact)
		case jobLatency:
			r.latency, err = b.measureLatency(ctx, fullProbe)
		case jobStart:
			r.start, err = b.measureStart(ctx)
		case jobOperators:
			r.operators, err = b.measureOperators(operatorChanges)
		case jobBudget:
			r.budget, err = b.measureBudget(ctx, o.size, o.budget)
		case jobMemory:
			r.memory, err = b.measureMemory(ctx, o.size, r.throughput)
		case jobReliability:
			r.reliability, err = b.measureReliability(ctx, o.size)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", job, err)
		}
	}
	return r, nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
