package repl

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A history that has grown is cut back to its last inputs, which keep the times at which they were typed.
func TestHistoryIsCutBack(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	var b strings.Builder
	for i := range 2 * maxHistory {
		fmt.Fprintf(&b, `{"time":"2020-01-02T03:04:05Z","sql":"SELECT %d"}`+"\n", i)
	}
	lines := b.String()
	if err := os.WriteFile(file, []byte(lines+`{"time":"2020`), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := OpenHistory(file, strings.TrimSpace)
	if err != nil {
		t.Fatal(err)
	}
	if first, err := h.GetLine(0); h.Len() != maxHistory || first != fmt.Sprintf("SELECT %d", maxHistory) || err != nil {
		t.Errorf("%d lines, the first %q %v", h.Len(), first, err)
	}
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(kept) == 0 || !strings.HasSuffix(lines, string(kept)) {
		t.Errorf("the file begins %.200q", kept)
	}
}

// Of a file that is damaged, all whole lines are read, and what is added then is read too.
func TestHistoryIsReadDamaged(t *testing.T) {
	whole := func(sql string) string {
		return string(historyLine{SQL: sql}.encode())
	}
	for name, text := range map[string]string{
		"cut short":   whole("SELECT 1") + whole("SELECT 2")[:20],
		"no JSON":     "garbage\n" + whole("SELECT 1") + "\x00\xff\n\n[]\n7\n",
		"other JSON":  whole("SELECT 1") + `{"time":"yesterday","sql":"x"}` + "\n{}\n",
		"of one line": strings.TrimSuffix(whole("SELECT 1"), "\n"),
	} {
		file := filepath.Join(t.TempDir(), "history")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, add := range []string{"SELECT 'a\nb'", "SELECT 4"} {
			h, err := OpenHistory(file, strings.TrimSpace)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.Write(add); err != nil {
				t.Fatal(err)
			}
		}
		h, err := OpenHistory(file, strings.TrimSpace)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range h.Len() {
			s, err := h.GetLine(i)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, s)
		}
		if want := []string{"SELECT 1", "SELECT 'a\nb'", "SELECT 4"}; !slices.Equal(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Shells that share a file lose nothing of each other, and keep no secret, nothing empty and nothing twice in a row.
func TestHistoryIsShared(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dir", "history")
	open := func() *History {
		h, err := OpenHistory(file, func(s string) string { return strings.ReplaceAll(s, "secret", "******") })
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	a, b := open(), open()
	for _, w := range []struct {
		h   *History
		sql string
	}{{a, "SELECT 1"}, {b, "SELECT 2"}, {a, " SELECT 1 "}, {a, "  "}, {a, "SELECT 'secret'"}, {b, "SELECT 3"}} {
		if _, err := w.h.Write(w.sql); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, l := range open().lines {
		got = append(got, l.SQL)
	}
	if want := []string{"SELECT 1", "SELECT 2", "SELECT '******'", "SELECT 3"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
