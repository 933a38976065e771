package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// summary is what sluice says of a run when it ends, as --summary-json writes it.
type summary struct {
	RecordsIn  int64 `json:"records_in"`
	ChangesOut int64 `json:"changes_out"`
	StateRows  int64 `json:"state_rows"`
	StateBytes int64 `json:"state_bytes"`
}

func readSummary(file string) (summary, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return summary{}, fmt.Errorf("sluice's summary: %w", err)
	}
	var s summary
	if err := json.Unmarshal(text, &s); err != nil {
		return summary{}, fmt.Errorf("sluice's summary: %w\n%s", err, text)
	}
	return s, nil
}

// check compares a summary with the workload. How many changes go out depends on
// where the epochs are cut, for an epoch's changes are consolidated; but every
// record comes in once, and what is added less what is taken away is the result.
func (s summary) check(f facts) error {
	if s.RecordsIn != f.records() {
		return fmt.Errorf("sluice read %d records, the topics hold %d", s.RecordsIn, f.records())
	}
	if s.ChangesOut < f.want.Rows || (s.ChangesOut-f.want.Rows)%2 != 0 {
		return fmt.Errorf("sluice handed %d changes to the sink, which cannot leave the %d rows of the result", s.ChangesOut, f.want.Rows)
	}
	return nil
}
