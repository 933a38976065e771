package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// --summary-json holds what the summary says; the profiles are there.
func TestWrittenFiles(t *testing.T) {
	dir := workspace(t)
	o := sluice(t, dir, joinSQL, "run", "--quiet", "--embed", "debezium/postgres/users_domains.full.jsonl", "--set-var", "PREFIX=pg.public",
		"--summary-json", "s.json", "--cpuprofile", "cpu.prof", "--memprofile", "mem.prof", "--trace", "trace.out", "-").succeeded(t)
	if o.stderr != "" {
		t.Errorf("--quiet, but standard error has\n%s", o.stderr)
	}
	for _, name := range []string{"cpu.prof", "mem.prof", "trace.out"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "s.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Outcome    string  `json:"outcome"`
		Jobs       int     `json:"jobs"`
		Seconds    float64 `json:"seconds"`
		RecordsIn  int     `json:"records_in"`
		EventsIn   int     `json:"events_in"`
		ChangesOut int     `json:"changes_out"`
		PeakRSS    int64   `json:"peak_rss_bytes"`
	}
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	changes := bytes.Count([]byte(o.stdout), []byte("\n"))
	if s.Outcome != "done" || s.Jobs != 1 || s.Seconds <= 0 || s.RecordsIn != 58 || s.EventsIn >= 58 || s.ChangesOut != changes || s.PeakRSS == 0 {
		t.Errorf("%d changes, summary %s", changes, b)
	}
}
