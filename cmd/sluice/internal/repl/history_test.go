package repl

import (
	"fmt"
	"os"
	"path/filepath"
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
