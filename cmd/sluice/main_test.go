package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The tests of this package run the binary as people do. It is built once, with the race detector when the
// tests have it.
var (
	binary     string
	buildFlags []string
)

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sluice-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "sluice")
	build := exec.Command("go", append(append([]string{"build"}, buildFlags...), "-o", binary, ".")...)
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// repository is the root of the module, seen from this package.
func repository(t testing.TB) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// workspace is an empty folder but for links to examples/ and to the captures of a real Debezium.
func workspace(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, target := range map[string]string{"examples": "examples", "debezium": "internal/testdata/debezium"} {
		if err := os.Symlink(filepath.Join(repository(t), target), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// outcome is what a run of the binary left behind.
type outcome struct {
	stdout, stderr string
	code           int
}

const runTimeout = time.Minute

// command prepares a run of the binary, in an environment without surprises.
func command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + filepath.Dir(binary) + ":" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + os.TempDir(), "XDG_RUNTIME_DIR=" + filepath.Join(filepath.Dir(binary), "run"), "GREETED=world",
		"GORACE=atexit_sleep_ms=0 halt_on_error=1"} // the race detector sleeps for a second at every exit
	cmd.WaitDelay = time.Second
	return cmd
}

// sluice runs the binary to its end.
func sluice(t testing.TB, dir, stdin string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), runTimeout)
	defer cancel()
	cmd := command(ctx, dir, args...)
	cmd.Stdin = strings.NewReader(stdin)
	return runToEnd(ctx, t, cmd)
}

// runToEnd runs the command, none of whose errors may lack its code. Its output is kept unless it goes elsewhere already.
func runToEnd(ctx context.Context, t testing.TB, cmd *exec.Cmd) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if cmd.Stderr = &stderr; cmd.Stdout == nil {
		cmd.Stdout = &stdout
	}
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	if ctx.Err() != nil {
		t.Fatalf("%v did not end\nstdout:\n%s\nstderr:\n%s", cmd.Args, stdout.String(), stderr.String())
	}
	for _, line := range uncoded(stderr.String()) {
		t.Errorf("%v: an error without a code: %s", cmd.Args[1:], line)
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// succeeded fails the test unless the run did its work.
func (o outcome) succeeded(t testing.TB) outcome {
	t.Helper()
	if o.code != 0 {
		t.Fatalf("exit code %d\nstdout:\n%s\nstderr:\n%s", o.code, o.stdout[max(0, len(o.stdout)-2000):], o.stderr)
	}
	return o
}
