package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	enginestate "github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/sql/ast"
)

// TestScripts runs the scripts of testdata/scripts; see script. Times, rates and memory are shown as N.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		t.Parallel()
		s := newScript(t)
		datadriven.RunTest(t, path, s.step)
	})
}

// script runs the directives
//
//	file NAME              writes the input to a file, with ---- for ====
//	run                    runs the command of the input's first line, the rest being its standard input,
//	                       and shows its output: standard error with "! " before each line, and the exit
//	                       code unless it is 0
//	kill                   likewise, and kills it when it has written a line
//	broker [FAULT]         starts a broker, whose address is in KAFKA_BROKERS from then on, with the records of the
//	                       input; see startTroubled
//	hold DIR               holds a state directory as a process does that runs on it
//
// in a folder of its own; see workspace. No other script sees its jobs.
type script struct {
	dir string
	env []string
}

func newScript(t *testing.T) *script {
	jobs, err := os.MkdirTemp(filepath.Dir(binary), "jobs-") // the names of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	return &script{dir: workspace(t), env: []string{"XDG_RUNTIME_DIR=" + jobs}}
}

func (s *script) step(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "file":
		name := filepath.Join(s.dir, d.CmdArgs[0].Key)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(strings.ReplaceAll(d.Input, "\n====\n", "\n----\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return ""
	case "broker":
		fault := ""
		if len(d.CmdArgs) > 0 {
			fault = d.CmdArgs[0].String()
		}
		s.env = append(s.env, brokersVariable+"="+startTroubled(t, fault, d.Input))
		return ""
	case "hold":
		store, err := enginestate.Open(enginestate.Options{Dir: filepath.Join(s.dir, d.CmdArgs[0].Key)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		return ""
	case "run", "kill":
		line, stdin, _ := strings.Cut(d.Input, "\n")
		args, ok := strings.CutPrefix(line, "sluice ")
		if !ok {
			d.Fatalf(t, "%q does not run sluice", line)
		}
		if d.Cmd == "kill" {
			ctx, cancel := context.WithTimeout(t.Context(), runTimeout)
			defer cancel()
			return killed(t, s.command(ctx, stdin, shellWords(args)))
		}
		o := s.run(t, stdin, shellWords(args))
		s.checked(t, stdin, shellWords(args), o)
		return transcript(o)
	}
	d.Fatalf(t, "unknown directive %s", d.Cmd)
	return ""
}

// command prepares a run of the binary in the script's folder.
func (s *script) command(ctx context.Context, stdin string, args []string) *exec.Cmd {
	cmd := command(ctx, s.dir, args...)
	cmd.Env, cmd.Stdin = append(cmd.Env, s.env...), strings.NewReader(stdin)
	return cmd
}

// run runs the binary to its end.
func (s *script) run(t *testing.T, stdin string, args []string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runTimeout)
	defer cancel()
	return runToEnd(ctx, t, s.command(ctx, stdin, args))
}

// refusal is an error in SQL, by its place and code.
var refusal = regexp.MustCompile(`^\S+:\d+:\d+: .* \[([a-z-]+)\]\n`)

// checked holds sluice check to a run that was refused: it says the same of mistakes in the SQL. What is wrong with an
// option is never said without its place, as what is found at the start of a job alone would be, unless it is in a file
// that the option names, or on the command line.
func (s *script) checked(t *testing.T, stdin string, args []string, o outcome) {
	t.Helper()
	if args[0] != "run" || o.code == 0 {
		return
	}
	m := refusal.FindStringSubmatch(o.stderr)
	if m == nil || o.code != exitWrong {
		if found := coded.FindStringSubmatch(strings.SplitN(o.stderr, "\n", 2)[0]); found != nil && strings.HasPrefix(found[1], "option") {
			t.Errorf("%v: found at the start alone: %s", args, o.stderr)
		}
		return
	}
	if fault.Code(m[1]) == ast.CodeScript { // of how the script is run
		return
	}
	kept := []string{"check"}
	for i := 1; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--set" || a == "--set-var" || a == "--env":
			kept = append(kept, a, args[i+1])
			i++
		case slices.Contains([]string{"--quiet", "--allow-rebuild"}, a):
		case strings.HasPrefix(a, "--"):
			i++
		default:
			kept = append(kept, a)
		}
	}
	if c := s.run(t, stdin, kept); !strings.Contains("\n"+c.stdout, "\n"+m[0]) {
		t.Errorf("%v says\n%sand %v\n%s%s", args, o.stderr, kept, c.stdout, c.stderr)
	}
}

// killed runs a command until it has written a line, which it returns.
func killed(t *testing.T, cmd *exec.Cmd) string {
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err := errors.Join(err, cmd.Process.Kill()); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	return line
}

var (
	word  = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^ ])+`)
	quote = regexp.MustCompile(`'([^']*)'|"([^"]*)"`)
)

// shellWords splits a command line at its blanks, but for those within quotes.
func shellWords(s string) []string {
	words := word.FindAllString(s, -1)
	for i := range words {
		words[i] = quote.ReplaceAllString(words[i], "$1$2")
	}
	return words
}

func transcript(o outcome) string {
	var b strings.Builder
	for line := range strings.Lines(o.stdout) {
		b.WriteString(normalised(line))
	}
	for line := range strings.Lines(o.stderr) {
		b.WriteString("! " + normalised(line))
	}
	if o.code != 0 {
		fmt.Fprintf(&b, "exit %d\n", o.code)
	}
	return b.String()
}

var volatile = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`127\.0\.0\.1:\d{5}\b`), "127.0.0.1:PORT"},
	{regexp.MustCompile(`(sluice: \w+ (?:in|after)) [^:]+:`), "$1 N:"},
	{regexp.MustCompile(`\([\d,]+/s\)`), "(N/s)"},
	{regexp.MustCompile(`(?m)(\(| in )[\d.]+m?s(\)?)$`), "${1}N$2"},
	{regexp.MustCompile(`[\d.]+ (?:B|[kMG]B) peak`), "N peak"},
	{regexp.MustCompile(`\b[0-9a-f]{32}\b`), "JOB"},
	{regexp.MustCompile(`\b[0-9a-f]{8}…`), "ID…"},
	{regexp.MustCompile(`(\bsluice )[^ ]+( \(commit \w+\))? go[\d.]+ \w+/\w+`), "${1}VERSION"},
	{regexp.MustCompile(`(on disk: +)[\d.]+ [kMG]?B`), "${1}N"},
	{regexp.MustCompile(`(?m)(; )[\d.]+[nµm]?s\b(; state|$)`), "${1}N${2}"},
	{regexp.MustCompile(`(ran for )[^;]+(; epochs: )\d+`), "${1}N${2}N"},
	{regexp.MustCompile(`("(?:time_ns|elapsed_ns|epochs)":)\d+`), "${1}0"},
	{regexp.MustCompile(`/tmp/\S*?/(\d{3}/)`), "/DIR/"},
}

func normalised(s string) string {
	for _, v := range volatile {
		s = v.pattern.ReplaceAllString(s, v.with)
	}
	return s
}
