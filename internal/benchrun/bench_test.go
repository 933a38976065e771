package main

import (
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/internal/cdcbench"
	"github.com/sluicesql/sluice/internal/realkafka"
)

// tiny is a workload of its own name, so that tests can share a broker.
func tiny() cdcbench.Size {
	return cdcbench.Size{Name: realkafka.UniqueName("tiny"), Users: 300, Changes: 400}
}

func TestThroughputOnKafka(t *testing.T) {
	b := newStandInBench(t, "right")
	size := tiny()
	got, err := b.measureThroughput(t.Context(), size, trusted)
	if err != nil {
		t.Fatal(err)
	}
	f := got.kafka.facts
	if got.kafka.said.ChangesOut != f.want.Rows || f.want.Rows == 0 {
		t.Errorf("%d changes went out, the join has %d rows", got.kafka.said.ChangesOut, f.want.Rows)
	}
	for name, m := range map[string]timed{"blackhole": got.blackhole, "kafka": got.kafka} {
		if m.elapsed <= 0 || m.fastest > m.elapsed || m.elapsed > m.slowest || m.rate() <= 0 {
			t.Errorf("%s: times make no sense: %+v", name, m)
		}
		if m.peak < 1<<20 {
			t.Errorf("%s: peak RSS of %d bytes", name, m.peak)
		}
	}
	if !b.holds(t.Context(), f) {
		t.Error("the workload is not in its topics")
	}
	f.counts.UserEnvelopes++
	if b.holds(t.Context(), f) {
		t.Error("topics with too few records are taken for the workload")
	}
}

func TestBudget(t *testing.T) {
	b := newStandInBench(t, "right")
	size := tiny()
	got, err := b.measureBudget(t.Context(), size, 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	if text := (&report{budget: got}).budgetSection(); !strings.Contains(text, size.Name) || !strings.Contains(text, "| 64 MB |") {
		t.Error(text)
	}
	if _, err := b.measureBudget(t.Context(), size, -overBudget+1); err == nil || !strings.Contains(err.Error(), "of memory") {
		t.Errorf("a process beyond its budget passed: %v", err)
	}
}

func TestAWrongResultIsAnError(t *testing.T) {
	b := newStandInBench(t, "altered")
	if _, err := b.timeKafka(t.Context(), tiny(), trusted); err == nil || !strings.Contains(err.Error(), "is wrong") {
		t.Errorf("a row of the output is altered: err = %v", err)
	}
	b = newStandInBench(t, "missing")
	if _, err := b.timeBlackhole(t.Context(), tiny(), trusted); err == nil || !strings.Contains(err.Error(), "cannot leave") {
		t.Errorf("a change is missing from the summary: err = %v", err)
	}
}

func TestAFailedJobSaysWhy(t *testing.T) {
	b := newStandInBench(t, "right")
	_, err := b.runChild(t.Context(), "run", "no-such-file.sql")
	if err == nil || !strings.Contains(err.Error(), "no-such-file.sql: no such file") {
		t.Errorf("err = %v", err)
	}
}

func TestLatencyOnKafka(t *testing.T) {
	b := newStandInBench(t, "right")
	size := cdcbench.Size{Name: realkafka.UniqueName("latency"), Users: 200}
	l, err := b.probe(t.Context(), probing{size, 200, 200 * time.Millisecond, time.Second}, true)
	if err != nil {
		t.Fatal(err)
	}
	if l.Samples < 100 || l.P50 <= 0 {
		t.Errorf("got %v", l)
	}
}

func TestStart(t *testing.T) {
	b := newStandInBench(t, "right")
	s, err := b.measureStart(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(s) != len(starts) {
		t.Errorf("got %+v", s)
	}
	for _, s := range s {
		if s.median <= 0 || s.median > s.slowest {
			t.Errorf("got %+v", s)
		}
	}
	if _, err := b.firstResult(t.Context(), changeLine, []string{"run", "no-such-file.sql"}); err == nil || !strings.Contains(err.Error(), "before it printed a result") {
		t.Errorf("a run without rows: err = %v", err)
	}
}

func TestMemoryPerRow(t *testing.T) {
	m := memory{
		small: timed{peak: 100 << 20, facts: facts{liveRows: 1_000_000}},
		large: timed{peak: 300 << 20, facts: facts{liveRows: 3_000_000}},
	}
	if got := m.perRow(); got < 104 || got > 105 {
		t.Errorf("perRow = %v", got)
	}
	if s, err := cdcbench.SizeNamed("M"); err != nil || tenth(s) != (cdcbench.Size{Name: "S", Users: 100_000, Changes: 100_000}) {
		t.Errorf("a tenth of M is %v, %v", tenth(s), err)
	}
}
