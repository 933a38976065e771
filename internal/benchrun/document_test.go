package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestWriteIntoReplacesWhatWasMeasured(t *testing.T) {
	doc := filepath.Join(t.TempDir(), "docs", "performance.md")
	first := &report{start: []started{{"x", 90 * time.Millisecond, 120 * time.Millisecond}}, memory: &memory{
		small: timed{peak: 1e8, facts: facts{liveRows: 10}}, large: timed{peak: 2e8, facts: facts{liveRows: 20}, said: summary{StateRows: 21}},
	}}
	if err := first.writeInto(doc); err != nil {
		t.Fatal(err)
	}
	text := read(t, doc)
	if err := os.WriteFile(doc, []byte(strings.Replace(text, "## Start", "## Start\n\nBy hand.", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	second := &report{start: []started{{"x", 80 * time.Millisecond, 110 * time.Millisecond}}}
	if err := second.writeInto(doc); err != nil {
		t.Fatal(err)
	}
	got := read(t, doc)
	for _, want := range []string{"# Performance\n", "By hand.", "| x | 80 ms | 110 ms |", "| 20 | 21 | 1 | 0 MB | 200 MB |", "adds 10000000 bytes"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "120 ms") || strings.Count(got, "## Start") != 1 {
		t.Errorf("the old section is still there:\n%s", got)
	}
	if err := second.writeInto(doc); err != nil || read(t, doc) != got {
		t.Errorf("writing the same again changes the document (%v)", err)
	}
}

func TestReplaceSectionWithoutItsEnd(t *testing.T) {
	if _, err := replaceSection(beginMarker("start")+"\n", section{"start", "x"}); err == nil {
		t.Error("no error")
	}
}

func TestGroup(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -123456: "-123,456"} {
		if got := group(n); got != want {
			t.Errorf("group(%d) = %s, want %s", n, got, want)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
