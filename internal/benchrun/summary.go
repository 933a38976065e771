package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// summary is what sluice says of a job when it ends.
type summary struct {
	in  int64 // records read
	out int64 // changes handed to the sink
}

// The last number before, or after, "in" and "out": `5,099,701 records in`,
// `records in: 5099701`.
var (
	summaryIn  = regexp.MustCompile(`(?i)([\d,_]+) (?:records |rows |changes )?in\b|\b(?:records |rows |changes )?in: ?([\d,_]+)`)
	summaryOut = regexp.MustCompile(`(?i)([\d,_]+) (?:records |rows |changes )?out\b|\b(?:records |rows |changes )?out: ?([\d,_]+)`)
)

// parseSummary finds the summary in what sluice wrote to stderr.
func parseSummary(stderr string) (summary, error) {
	in, errIn := lastNumber(summaryIn, stderr)
	out, errOut := lastNumber(summaryOut, stderr)
	if err := firstError(errIn, errOut); err != nil {
		return summary{}, fmt.Errorf("sluice's summary does not say how many records came in and went out: %w\n%s", err, stderr)
	}
	return summary{in, out}, nil
}

func lastNumber(re *regexp.Regexp, text string) (int64, error) {
	all := re.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return 0, fmt.Errorf("nothing matches %v", re)
	}
	last := all[len(all)-1]
	return strconv.ParseInt(strings.NewReplacer(",", "", "_", "").Replace(last[1]+last[2]), 10, 64)
}

// check compares a summary with the workload. How many changes go out depends on
// where the epochs are cut, for an epoch's changes are consolidated; but every
// record comes in once, and what is added less what is taken away is the result.
func (s summary) check(f facts) error {
	if s.in != f.records() {
		return fmt.Errorf("sluice read %d records, the topics hold %d", s.in, f.records())
	}
	if s.out < f.want.Rows || (s.out-f.want.Rows)%2 != 0 {
		return fmt.Errorf("sluice handed %d changes to the sink, which cannot leave the %d rows of the result", s.out, f.want.Rows)
	}
	return nil
}
