package main

import (
	"os/exec"
	"testing"
)

// A shell reads a path as it is.
func TestShellQuoted(t *testing.T) {
	for _, path := range []string{"demo", "../a-b/c_d.1", "my folder", "it's", "a`id`", `a\b`, "a[bc]", "a$HOME", "a;b", "~", "*", "ü"} {
		out, err := exec.Command("sh", "-c", "printf %s "+shellQuoted(path)).Output()
		if err != nil || string(out) != path {
			t.Errorf("%q: a shell reads %s as %q: %v", path, shellQuoted(path), out, err)
		}
	}
	if got := shellQuoted("a/b-c_1.d"); got != "a/b-c_1.d" {
		t.Errorf("quoted where it need not be: %s", got)
	}
}
