package progress

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/runtime"
)

func TestLine(t *testing.T) {
	at := func(sec int, users, domains spi.SourceStats) runtime.Stats {
		return runtime.Stats{
			Sources: map[string]spi.SourceStats{"users": users, "domains": domains},
			Elapsed: time.Duration(sec) * time.Second, RowsOut: 1234, StateRows: 5000, StateBytes: 2_500_000,
		}
	}
	var l Line
	got := l.Next(at(1, spi.SourceStats{Records: 1000, Lag: 5}, spi.SourceStats{Records: 500, Lag: 6}))
	if want := "1s · 1,500 records in · 1,500/s · lag 11 · 1,234 changes out · state 5,000 rows, 2.5 MB"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	got = l.Next(at(2, spi.SourceStats{Records: 2000, Lag: -1, Skipped: 3}, spi.SourceStats{Records: 2000, Lag: 6, Errors: 1}))
	if want := "2s · 4,000 records in · 1,900/s · 1,234 changes out · state 5,000 rows, 2.5 MB · 3 skipped · 1 failed attempts to reach a source"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSummary(t *testing.T) {
	var s Summary
	s.Add(runtime.Stats{
		Sources: map[string]spi.SourceStats{"users": {Records: 5_100_000, Events: 5_000_000}},
		RowsOut: 7_012_345, StateRows: 4_012_000, StateBytes: 1, PeakStateBytes: 398_000_000, Epochs: 7,
	})
	s.Add(runtime.Stats{RowsOut: 0, PeakStateBytes: 5})
	s.End(Done, 7600*time.Millisecond)
	const want = `^sluice: done in 7\.6 s: 5,100,000 records in \(671,052/s\), 7,012,345 changes out, state 4,012,000 rows, 398 MB peak(, [\d.]+ .B peak memory)?$`
	if !regexp.MustCompile(want).MatchString(s.String()) {
		t.Error(s.String())
	}
	var m map[string]any
	if err := json.Unmarshal(s.JSON(), &m); err != nil || m["records_in"] != 5.1e6 || m["outcome"] != "done" || m["jobs"] != 2.0 {
		t.Errorf("%v %v", m, err)
	}
	s.Add(runtime.Stats{Sources: map[string]spi.SourceStats{
		"users":   {Skipped: 1200, SkippedFor: map[string]int64{"type": 1, "syntax": 1199}},
		"domains": {Skipped: 2, SkippedFor: map[string]int64{"op": 2}},
	}})
	s.End(Stopped, 90*time.Millisecond)
	if want := ", 1,202 records skipped (domains: 2 op; users: 1,199 syntax, 1 type)"; !strings.Contains(s.String(), want) {
		t.Errorf("%s does not say %s", s.String(), want)
	}
	if !strings.HasPrefix(s.String(), "sluice: stopped after 90 ms: ") {
		t.Error(s.String())
	}
}

// The status is gone before anything else appears, and stays away while a line is unfinished.
func TestConsole(t *testing.T) {
	var b strings.Builder
	c := NewConsole(&b, func() int { return 8 })
	w := c.Wrap(&b)
	c.Show("working hard")
	_, _ = w.Write([]byte("+I[1"))
	c.Show("x")
	_, _ = w.Write([]byte("]\n"))
	c.Show("y")
	c.Show("")
	if want := "workin…\r\x1b[K+I[1]\ny\r\x1b[K"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
