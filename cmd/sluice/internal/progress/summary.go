package progress

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/runtime"
)

// Summary is what a run did, over all its jobs. Its JSON form is that of --summary-json.
type Summary struct {
	// Outcome is done, stopped or failed.
	Outcome          string  `json:"outcome"`
	Seconds          float64 `json:"seconds"`
	Jobs             int     `json:"jobs"`
	RecordsIn        int64   `json:"records_in"`
	EventsIn         int64   `json:"events_in"`
	BytesIn          int64   `json:"bytes_in"`
	RecordsSkipped   int64   `json:"records_skipped"`
	RecordsPerSecond float64 `json:"records_per_second"`
	// SkippedFor divides RecordsSkipped by table and reason.
	SkippedFor map[string]map[string]int64 `json:"skipped_for,omitempty"`
	// NoChange are the records without a change, by table and kind, and UnknownFields the fields that a table does not
	// declare, with the place where each came first.
	NoChange      map[string]map[string]int64  `json:"no_change,omitempty"`
	UnknownFields map[string]map[string]string `json:"unknown_fields,omitempty"`
	ChangesOut    int64                        `json:"changes_out"`
	// UnknownDeletes are deletes of keys that were not there, which changed nothing.
	UnknownDeletes int64 `json:"unknown_deletes"`
	StateRows      int64 `json:"state_rows"`
	StateBytes     int64 `json:"state_bytes"`
	PeakStateBytes int64 `json:"peak_state_bytes"`
	// PeakRSSBytes is the process's largest resident memory; 0 where the system does not tell.
	PeakRSSBytes int64  `json:"peak_rss_bytes"`
	Epochs       uint64 `json:"epochs"`
	Checkpoints  uint64 `json:"checkpoints"`
}

// Outcomes of a run.
const (
	Done    = "done"
	Stopped = "stopped"
	Failed  = "failed"
)

// Add counts a job that has ended. State is that of the job with the most of it.
func (s *Summary) Add(j runtime.Stats) {
	in := Total(j)
	s.Jobs++
	s.RecordsIn += in.Records
	s.EventsIn += in.Events
	s.BytesIn += in.Bytes
	s.RecordsSkipped += in.Skipped
	for table, src := range j.Sources {
		s.SkippedFor = addCounts(s.SkippedFor, table, src.SkippedFor)
		s.NoChange = addCounts(s.NoChange, table, src.NoChange)
		if len(src.Unknown) > 0 {
			if s.UnknownFields == nil {
				s.UnknownFields = map[string]map[string]string{}
			}
			s.UnknownFields[table] = src.Unknown
		}
	}
	s.ChangesOut += j.RowsOut
	s.UnknownDeletes += j.UnknownDeletes
	if j.PeakStateBytes >= s.PeakStateBytes {
		s.StateRows, s.StateBytes, s.PeakStateBytes = j.StateRows, j.StateBytes, j.PeakStateBytes
	}
	s.Epochs += j.Epochs
	s.Checkpoints += j.Checkpoints
}

// addCounts adds the counts of a table to all.
func addCounts(all map[string]map[string]int64, table string, counts map[string]int64) map[string]map[string]int64 {
	for what, n := range counts {
		if all == nil {
			all = map[string]map[string]int64{}
		}
		if all[table] == nil {
			all[table] = map[string]int64{}
		}
		all[table][what] += n
	}
	return all
}

// End completes the summary.
func (s *Summary) End(outcome string, elapsed time.Duration) {
	s.Outcome = outcome
	s.Seconds = elapsed.Seconds()
	if s.Seconds > 0 {
		s.RecordsPerSecond = float64(s.RecordsIn) / s.Seconds
	}
	s.PeakRSSBytes = peakRSS()
}

// String is the summary as one line.
func (s *Summary) String() string {
	var b strings.Builder
	word := s.Outcome + " in"
	if s.Outcome != Done {
		word = s.Outcome + " after"
	}
	fmt.Fprintf(&b, "sluice: %s %s: %s records in (%s/s), %s changes out, state %s rows, %s peak",
		word, seconds(s.Seconds), display.Count(s.RecordsIn), display.Count(int64(s.RecordsPerSecond)),
		display.Count(s.ChangesOut), display.Count(s.StateRows), display.Size(s.PeakStateBytes))
	if s.RecordsSkipped > 0 {
		fmt.Fprintf(&b, ", %s records skipped", display.Count(s.RecordsSkipped))
		if len(s.SkippedFor) > 0 {
			fmt.Fprintf(&b, " (%s)", perTable(s.SkippedFor))
		}
	}
	if len(s.NoChange) > 0 {
		fmt.Fprintf(&b, ", without a change %s", perTable(s.NoChange))
	}
	if s.PeakRSSBytes > 0 {
		fmt.Fprintf(&b, ", %s peak memory", display.Size(s.PeakRSSBytes))
	}
	return b.String()
}

// perTable lists counts, as in "users: 3 syntax, 1 type; domains: 1 op".
func perTable(counts map[string]map[string]int64) string {
	var tables []string
	for _, table := range slices.Sorted(maps.Keys(counts)) {
		tables = append(tables, table+": "+display.Counts(counts[table]))
	}
	return strings.Join(tables, "; ")
}

func seconds(s float64) string {
	switch {
	case s < 1:
		return fmt.Sprintf("%.0f ms", s*1000)
	case s < 100:
		return fmt.Sprintf("%.1f s", s)
	}
	return time.Duration(s * float64(time.Second)).Truncate(time.Second).String()
}

// JSON is the summary as one JSON object, with a line break at the end.
func (s *Summary) JSON() []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // numbers and strings alone: NaN cannot occur
	}
	return append(b, '\n')
}

// Total adds up the counters of all sources. The lag is unknown when that of any source is.
func Total(s runtime.Stats) spi.SourceStats {
	var sum spi.SourceStats
	for _, src := range s.Sources {
		sum.Records += src.Records
		sum.Events += src.Events
		sum.Skipped += src.Skipped
		sum.Bytes += src.Bytes
		sum.Errors += src.Errors
		if src.Lag < 0 || sum.Lag < 0 {
			sum.Lag = -1
		} else {
			sum.Lag += src.Lag
		}
	}
	return sum
}
