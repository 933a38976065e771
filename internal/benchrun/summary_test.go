package main

import (
	"testing"

	"github.com/sluicesql/sluice/internal/cdcbench"
)

func TestParseSummary(t *testing.T) {
	for _, text := range []string{
		"5,099 records in, 2,986 records out in 7.1 s\n",
		"progress: 12 records in, 5 records out\nrecords in: 5099\nrecords out: 2986\n",
		"done: in 5_099, out 2_986", // not one of the forms
		"5099 in · 2986 out · 7.1 s · 700k/s",
	} {
		got, err := parseSummary(text)
		if text[:4] == "done" {
			if err == nil {
				t.Errorf("%q was taken for %+v", text, got)
			}
			continue
		}
		if err != nil || got != (summary{5099, 2986}) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

func TestSummaryCheck(t *testing.T) {
	f := facts{counts: cdcbench.Counts{UserEnvelopes: 40, DomainEnvelopes: 50, Tombstones: 10}, want: cdcbench.Result{Rows: 30}}
	for s, ok := range map[summary]bool{
		{100, 30}: true,
		{100, 36}: true,
		{100, 31}: false, // no adding and taking away leaves 30
		{100, 28}: false,
		{99, 30}:  false,
	} {
		if err := s.check(f); (err == nil) != ok {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
