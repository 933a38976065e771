package progress

import (
	"fmt"
	"strings"
	"time"

	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
	"github.com/sluicesql/sluice/runtime"
)

// Line makes the lines of status of one job. The zero value is ready for use, by one goroutine.
type Line struct {
	last    runtime.Stats
	started bool
	rate    float64
}

// smoothing is the weight of the newest rate: a line that is rewritten twice a second should not jump.
const smoothing = 0.4

// Next is the status at a new snapshot of the job's counters.
func (l *Line) Next(s runtime.Stats) string {
	in := Total(s)
	if dt := (s.Elapsed - l.last.Elapsed).Seconds(); dt > 0 {
		rate := float64(in.Records-Total(l.last).Records) / dt
		if l.started {
			rate = smoothing*rate + (1-smoothing)*l.rate
		}
		l.rate, l.last, l.started = rate, s, true
	}
	parts := []string{
		s.Elapsed.Truncate(time.Second).String(),
		display.Count(in.Records) + " records in",
		display.Count(int64(l.rate)) + "/s",
	}
	if in.Lag >= 0 {
		parts = append(parts, "lag "+display.Count(in.Lag))
	}
	parts = append(parts,
		display.Count(s.RowsOut)+" changes out",
		fmt.Sprintf("state %s rows, %s", display.Count(s.StateRows), display.Size(s.StateBytes)))
	if in.Skipped > 0 {
		parts = append(parts, display.Count(in.Skipped)+" skipped")
	}
	if in.Errors > 0 {
		parts = append(parts, display.Count(in.Errors)+" failed attempts to reach a source")
	}
	return strings.Join(parts, " · ")
}
