package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs are the pages for users.
var docs = []string{"README.md", "docs/*.md", "docs/howto/*.md", "examples/README.md", "examples/*/README.md"}

// pagesOf are the files that patterns name, from the repository's root.
func pagesOf(t *testing.T, patterns ...string) []string {
	t.Helper()
	root := repository(t)
	var names []string
	for _, pattern := range patterns {
		pages, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(pages) == 0 {
			t.Fatalf("no page is %s: %v", pattern, err)
		}
		for _, page := range pages {
			name, err := filepath.Rel(root, page)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
	}
	return names
}

// block is a fenced code block of a page.
type block struct {
	page string
	line int
	info string
	text string
}

var fence = regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$")

// blocksOf are the blocks of a page, whose name is from the repository's root.
func blocksOf(t *testing.T, page string) []block {
	t.Helper()
	text := string(read(t, filepath.Join(repository(t), page)))
	var blocks []block
	for _, m := range fence.FindAllStringSubmatchIndex(text, -1) {
		blocks = append(blocks, block{page, 1 + strings.Count(text[:m[0]], "\n"), text[m[2]:m[3]], text[m[4]:m[5]]})
	}
	return blocks
}

// TestDocs runs the blocks marked ```sh run, which succeed, and ```sh run fails, which don't. A block of
// ```text right after it is what it prints, and one of ```text stderr what it prints on standard error.
func TestDocs(t *testing.T) {
	root := repository(t)
	ran := 0
	for _, page := range pagesOf(t, docs...) {
		blocks := blocksOf(t, page)
		for i, b := range blocks {
			if !strings.HasPrefix(b.info, "sh run") {
				continue
			}
			ran++
			t.Run(strings.ReplaceAll(page, "/", "_")+":"+strings.Fields(b.text)[0], func(t *testing.T) {
				t.Parallel()
				o := runBlock(t, root, b)
				if failed := o.code != 0; failed != (b.info == "sh run fails") {
					t.Fatalf("%s:%d: exit code %d\nstdout:\n%s\nstderr:\n%s", page, b.line, o.code, o.stdout, o.stderr)
				}
				for _, e := range blocks[i+1 : min(i+3, len(blocks))] {
					switch {
					case e.info == "text" && e.text != o.stdout:
						t.Errorf("%s:%d: prints\n%s", page, b.line, o.stdout)
					case e.info == "text stderr" && e.text != o.stderr:
						t.Errorf("%s:%d: prints on standard error\n%s", page, b.line, o.stderr)
					case !strings.HasPrefix(e.info, "text"):
						return
					}
				}
			})
		}
	}
	if ran == 0 {
		t.Error("no page has a command to run")
	}
}

// runBlock runs a block by the shell. One that builds from source runs in the repository itself.
func runBlock(t *testing.T, root string, b block) outcome {
	t.Helper()
	if !strings.Contains(b.text, "go run ") {
		return runScript(t, workspace(t), b.text)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*runTimeout) // nothing may have been compiled before
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-e", "-c", b.text)
	cmd.Dir, cmd.WaitDelay = root, command(ctx, root).WaitDelay
	return runToEnd(ctx, t, cmd)
}

// runScript runs a script by the shell, which finds the binary, to its end.
func runScript(t *testing.T, dir, script string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), runTimeout)
	defer cancel()
	cmd := command(ctx, dir)
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-e", "-c", script}
	return runToEnd(ctx, t, cmd)
}
