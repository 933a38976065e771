package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every flag whose help lists words takes these alone, in any case, and refuses another in the same way.
func TestChoices(t *testing.T) {
	n := 0
	var look func(*cobra.Command)
	look = func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			shown, _ := pflag.UnquoteUsage(f)
			words := strings.Split(shown, "|")
			if len(words) == 1 {
				return
			}
			n++
			for _, w := range words {
				if err := f.Value.Set(strings.ToUpper(w)); err != nil || f.Value.String() != w {
					t.Errorf("%s --%s %s is %s, %v", cmd.CommandPath(), f.Name, strings.ToUpper(w), f.Value, err)
				}
			}
			last := len(words) - 1
			o := sluice(t, t.TempDir(), "", append(strings.Fields(cmd.CommandPath())[1:], "--"+f.Name, words[last]+"x")...)
			want := "sluice: --" + f.Name + " " + words[last] + "x: it is " + strings.Join(words[:last], ", ") + " or " + words[last] +
				" [command-line]\n      hint: did you mean " + words[last] + "?\n"
			if o.code != exitWrong || o.stderr != want {
				t.Errorf("exit code %d, and\n%swhere it should say\n%s", o.code, o.stderr, want)
			}
		})
		for _, sub := range cmd.Commands() {
			look(sub)
		}
	}
	look(newRoot(newSourceTexts()))
	if n < 8 {
		t.Errorf("only %d flags are choices", n)
	}
}
