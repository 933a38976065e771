package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// everyCommand calls visit with each command that can be run.
func everyCommand(c *cobra.Command, visit func(c *cobra.Command)) {
	if c.HasParent() && c.Runnable() && !c.Hidden {
		visit(c)
	}
	for _, sub := range c.Commands() {
		everyCommand(sub, visit)
	}
}

// completed is what a shell is told for a command line.
func completed(t *testing.T, args ...string) string {
	t.Helper()
	return sluice(t, t.TempDir(), "", append([]string{"__complete"}, args...)...).succeeded(t).stdout
}

// Shells complete every command, every flag, and every value that a flag's help lists.
func TestCompletion(t *testing.T) {
	values := 0
	everyCommand(newRoot(newSourceTexts()), func(c *cobra.Command) {
		path := strings.Fields(c.CommandPath())[1:]
		if above := completed(t, append(path[:len(path)-1:len(path)-1], "")...); !strings.Contains("\n"+above, "\n"+c.Name()+"\t") {
			t.Errorf("%s is not completed: %s", c.CommandPath(), above)
		}
		flags := completed(t, append(path, "--")...)
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains("\n"+flags, "\n--"+f.Name+"\t") {
				t.Errorf("%s: --%s is not completed: %s", c.CommandPath(), f.Name, flags)
			}
			name, _ := pflag.UnquoteUsage(f)
			if !strings.Contains(name, "|") {
				return
			}
			values++
			got := completed(t, append(path, "--"+f.Name, "")...)
			if want := strings.ReplaceAll(name, "|", "\n") + "\n:"; !strings.HasPrefix(got, want) {
				t.Errorf("%s --%s is completed by %s", c.CommandPath(), f.Name, got)
			}
		})
	})
	if values < 5 {
		t.Errorf("only %d flags have values", values)
	}
	if got := completed(t, "run", "--set", "state.back"); !strings.Contains(got, "state.backend.type=\t") || strings.Contains(got, "parallelism") {
		t.Errorf("--set is completed by %s", got)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		script := sluice(t, t.TempDir(), "", "completion", shell).succeeded(t).stdout
		if !strings.Contains(script, "__complete") {
			t.Errorf("%s: the script asks nothing:\n%s", shell, script)
		}
		if path, err := exec.LookPath(shell); err == nil && shell == "bash" {
			check := exec.Command(path, "-n")
			check.Stdin = strings.NewReader(script)
			if out, err := check.CombinedOutput(); err != nil {
				t.Errorf("%s cannot read its script: %v: %s", shell, err, out)
			}
		}
	}
}

// There is a manual page for each command, which has its flags and examples.
func TestManualPages(t *testing.T) {
	dir := t.TempDir()
	sluice(t, dir, "", "man", "man1").succeeded(t)
	plain := strings.NewReplacer(`\-`, "-", `\&`, "", `\fB`, "", `\fP`, "")
	everyCommand(newRoot(newSourceTexts()), func(c *cobra.Command) {
		page := plain.Replace(string(read(t, filepath.Join(dir, "man1", strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"))))
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(page, "--"+f.Name) {
				t.Errorf("%s: the page has no --%s", c.CommandPath(), f.Name)
			}
		})
		if example, _, _ := strings.Cut(strings.TrimSpace(c.Example), "\n"); !strings.Contains(page, example) {
			t.Errorf("%s: the page has no example %q", c.CommandPath(), example)
		}
	})
}
