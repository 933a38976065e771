package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sluicesql/sluice/internal/cdcbench"
)

func TestReadSummary(t *testing.T) {
	file := filepath.Join(t.TempDir(), "summary.json")
	text := `{"outcome":"done","records_in":5099701,"changes_out":7000001,"state_rows":4012000,"state_bytes":398000000,"epochs":12}` + "\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := readSummary(file); err != nil || got != (summary{5_099_701, 7_000_001, 4_012_000, 398_000_000}) {
		t.Errorf("%+v, %v", got, err)
	}
	if err := os.WriteFile(file, []byte("sluice: done"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := readSummary(file); err == nil {
		t.Errorf("not JSON, but taken for %+v", got)
	}
	if _, err := readSummary(file + ".missing"); err == nil {
		t.Error("no file, no error")
	}
}

func TestSummaryCheck(t *testing.T) {
	f := facts{counts: cdcbench.Counts{UserEnvelopes: 40, DomainEnvelopes: 50, Tombstones: 10}, want: cdcbench.Result{Rows: 30}}
	for _, c := range []struct {
		in, out int64
		ok      bool
	}{
		{100, 30, true},
		{100, 36, true},
		{100, 31, false}, // no adding and taking away leaves 30
		{100, 28, false},
		{99, 30, false},
	} {
		if err := (summary{RecordsIn: c.in, ChangesOut: c.out}).check(f); (err == nil) != c.ok {
			t.Errorf("%d in, %d out: %v", c.in, c.out, err)
		}
	}
}
