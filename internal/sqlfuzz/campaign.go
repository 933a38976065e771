package sqlfuzz

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluicesql/sluice/internal/oracle"
)

// Campaign runs the cases of consecutive seeds.
type Campaign struct {
	From, Count uint64
	Workers     int
	Features    Features
	// Open opens an engine for each worker.
	Open func() (oracle.Engine, error)
	// Out takes progress, every Progress; failures are written into Dir, reduced by at most Reduce runs each.
	Out      io.Writer
	Progress time.Duration
	Dir      string
	Reduce   int
	// MaxFailures ends the campaign early; 0 is one.
	MaxFailures int
}

// Summary is what came of a campaign.
type Summary struct {
	Counts map[Outcome]uint64
	// Refusals are the reasons for which sluice or the second engine did not take queries, with their number.
	Refusals map[string]int
	// Failures are the scripts of what differed, by seed.
	Failures map[uint64]*oracle.Script
	Elapsed  time.Duration
}

// campaign is a Campaign on its way.
type campaign struct {
	*Campaign
	mu    sync.Mutex
	next  uint64
	done  uint64
	sum   Summary
	start time.Time
	shown time.Time
}

// Run runs the campaign. The error says that it could not run, not that something differs.
func (c *Campaign) Run() (Summary, error) {
	now := time.Now()
	r := &campaign{Campaign: c, start: now, shown: now, sum: Summary{
		Counts: map[Outcome]uint64{}, Refusals: map[string]int{}, Failures: map[uint64]*oracle.Script{},
	}}
	errs := make(chan error, c.Workers)
	for range c.Workers {
		go func() { errs <- r.work() }()
	}
	var first error
	for range c.Workers {
		if err := <-errs; first == nil {
			first = err
		}
	}
	r.sum.Elapsed = time.Since(r.start)
	return r.sum, first
}

func (r *campaign) work() error {
	engine, err := r.Open()
	if err != nil {
		return err
	}
	for {
		seed, ok := r.take()
		if !ok {
			return nil
		}
		res := Run(seed, r.Features, engine)
		if err := r.note(res); err != nil {
			return err
		}
	}
}

func (r *campaign) take() (uint64, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == r.Count || len(r.sum.Failures) >= max(1, r.MaxFailures) {
		return 0, false
	}
	r.next++
	return r.From + r.next - 1, true
}

func (r *campaign) note(res Result) error {
	var script *oracle.Script
	if res.Outcome == Failed {
		script = res.Minimise(r.Reduce)
		script.Comment = fmt.Sprintf("seed %d\n%s", res.Seed, script.Comment)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	r.sum.Counts[res.Outcome]++
	switch res.Outcome {
	case Failed:
		r.sum.Failures[res.Seed] = script
		fmt.Fprintf(r.Out, "seed %d FAILED:\n%s\n", res.Seed, script)
		if r.Dir != "" {
			if err := os.WriteFile(filepath.Join(r.Dir, fmt.Sprintf("seed-%d.txt", res.Seed)), []byte(script.String()), 0o666); err != nil {
				return err
			}
		}
	case Refused, Unreadable:
		r.sum.Refusals[failureKind(res.Err)]++
	}
	if time.Since(r.shown) >= r.Progress {
		r.shown = time.Now()
		fmt.Fprintf(r.Out, "%8d of %d, %s: %s\n", r.done, r.Count, time.Since(r.start).Round(time.Second), r.sum.counts())
	}
	return nil
}

func (s *Summary) counts() string {
	return fmt.Sprintf("%d agreed, %d differed, %d refused, %d not readable to the second engine",
		s.Counts[Agreed], s.Counts[Failed], s.Counts[Refused], s.Counts[Unreadable])
}

// String is the summary for people.
func (s *Summary) String() string {
	var b strings.Builder
	b.WriteString(s.counts())
	for _, why := range slices.Sorted(maps.Keys(s.Refusals)) {
		fmt.Fprintf(&b, "\n%6d × %s", s.Refusals[why], why)
	}
	return b.String()
}
