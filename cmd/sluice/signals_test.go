package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// process is a run of the binary that has not ended.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	lines  *bufio.Reader
	stdout io.Closer
	stderr bytes.Buffer
}

func start(t *testing.T, sql string, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), runTimeout)
	t.Cleanup(cancel)
	p := &process{t: t, cmd: command(ctx, workspace(t), args...)}
	p.cmd.Stdin = strings.NewReader(sql)
	p.cmd.Stderr = &p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.lines, p.stdout = bufio.NewReader(out), out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// line is the next line of standard output.
func (p *process) line() string {
	p.t.Helper()
	l, err := p.lines.ReadString('\n')
	if err != nil {
		_ = p.cmd.Wait()
		p.t.Fatalf("%v\nstderr:\n%s", err, p.stderr.String())
	}
	return strings.TrimSuffix(l, "\n")
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// end waits for the process and returns its exit code.
func (p *process) end() int {
	p.t.Helper()
	_, _ = io.Copy(io.Discard, p.lines)
	err := p.cmd.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		p.t.Fatal(err)
	}
	for _, line := range uncoded(p.stderr.String()) {
		p.t.Errorf("%v: an error without a code: %s", p.cmd.Args[1:], line)
	}
	return p.cmd.ProcessState.ExitCode()
}

const endlessSQL = `
CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000');
SELECT n FROM ticks;
`

// The first signal ends a job in order, with success.
func TestSignalStopsInOrder(t *testing.T) {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		p := start(t, endlessSQL, "run", "--parallelism", "1", "-")
		if l := p.line(); !strings.HasPrefix(l, "+I[") {
			t.Errorf("first line %q", l)
		}
		p.signal(s)
		if code := p.end(); code != 0 || !strings.HasPrefix(p.stderr.String(), "sluice: stopped after ") {
			t.Errorf("%v: exit code %d, stderr:\n%s", s, code, p.stderr.String())
		}
	}
}

// A second signal ends the process also when the first cannot take effect: here, since nobody reads the output.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	p := start(t, strings.ReplaceAll(endlessSQL, "'1000'", "'1000000'"), "run", "-")
	p.line()
	time.Sleep(time.Second) // the pipe fills up
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	for {
		_ = p.cmd.Process.Signal(os.Interrupt) // two at once count as one, so that more may be needed; it may have ended
		select {
		case err := <-ended:
			if err == nil || p.cmd.ProcessState.ExitCode() != exitInterrupted {
				t.Errorf("%v\nstderr:\n%s", err, p.stderr.String())
			}
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Interrupted before anything was finished: 130.
func TestSignalBeforeTheFirstEpoch(t *testing.T) {
	l := listen(t)
	p := start(t, joinSQL, "run", "--set-var", "PREFIX=p", "--set-var", "KAFKA_BROKERS="+l.Addr().String(), "-")
	p.interruptedUnanswered(l)
}

// listen is where a broker would listen.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// interruptedUnanswered interrupts a process that waits for a broker at l that never answers: it ends at once, and says nothing.
func (p *process) interruptedUnanswered(l net.Listener) {
	p.t.Helper()
	c, err := l.Accept()
	if err != nil {
		p.t.Fatal(err)
	}
	defer c.Close()
	p.signal(os.Interrupt)
	if code := p.end(); code != exitInterrupted || p.stderr.Len() > 0 {
		p.t.Errorf("exit code %d, stderr:\n%s", code, p.stderr.String())
	}
}

// A run that was to be measured and was interrupted shows nothing, and is no success: not when it had begun, nor before.
func TestSignalWhileMeasured(t *testing.T) {
	p := start(t, `
CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000', 'number-of-rows' = '100000000');
CREATE TABLE shown (n BIGINT) WITH ('connector' = 'print');
EXPLAIN ANALYZE INSERT INTO shown SELECT n FROM ticks;
`, "run", "--parallelism", "1", "-")
	p.line()
	p.signal(os.Interrupt)
	for {
		l, err := p.lines.ReadString('\n')
		if err != nil {
			break
		}
		if !strings.HasPrefix(l, "+I[") {
			t.Fatalf("shown: %s", l)
		}
	}
	if code := p.end(); code != exitInterrupted || !strings.HasPrefix(p.stderr.String(), "sluice: stopped after ") {
		t.Errorf("exit code %d, stderr:\n%s", code, p.stderr.String())
	}

	l := listen(t)
	p = start(t, `
CREATE TABLE events (n BIGINT) WITH ('connector' = 'kafka', 'topic' = 'events', 'format' = 'json', 'scan.bounded.mode' = 'latest-offset',
  'scan.startup.mode' = 'earliest-offset', 'properties.bootstrap.servers' = '`+l.Addr().String()+`');
SELECT n FROM events;
`, "explain", "--analyze", "-")
	p.interruptedUnanswered(l)
}

// Whoever reads the output may stop to do so.
func TestReaderGoesAway(t *testing.T) {
	p := start(t, endlessSQL, "run", "-")
	p.line()
	if err := p.stdout.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil || p.stderr.Len() > 0 {
		t.Errorf("%v, stderr:\n%s", err, p.stderr.String())
	}
}

// A name from a variable that is not set is no reason to run without state, or from the beginning.
func TestEmptyNames(t *testing.T) {
	for _, flag := range []string{"--state-dir", "--from-savepoint", "--summary-json"} {
		for _, args := range [][]string{{flag, ""}, {flag + "="}} {
			o := sluice(t, t.TempDir(), "SELECT 1 AS one;", append(append([]string{"run"}, args...), "-")...)
			if o.code != exitWrong || o.stdout != "" || !strings.Contains(o.stderr, flag+" is empty") {
				t.Errorf("%q: %d %s%s", args, o.code, o.stdout, o.stderr)
			}
		}
	}
}

// A job with a state directory goes on where the one before stopped.
func TestStateDirectory(t *testing.T) {
	dir := t.TempDir()
	const sql = `
CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '20000', 'number-of-rows' = '40000',
  'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '40000');
SELECT n FROM ticks;
`
	seen := map[string]bool{}
	p := start(t, sql, "run", "--parallelism", "1", "--state-dir", dir, "-")
	for range 10 {
		seen[p.line()] = true
	}
	p.signal(os.Interrupt)
	for {
		l, err := p.lines.ReadString('\n')
		if err != nil {
			break
		}
		seen[strings.TrimSuffix(l, "\n")] = true
	}
	if code := p.end(); code != 0 {
		t.Fatalf("exit code %d, stderr:\n%s", code, p.stderr.String())
	}
	before := len(seen)
	if before == 40000 {
		t.Fatal("the job was not interrupted")
	}
	o := sluice(t, dir, sql, "run", "--parallelism", "1", "--state-dir", dir, "-").succeeded(t)
	for l := range strings.Lines(o.stdout) {
		l = strings.TrimSuffix(l, "\n")
		if seen[l] {
			t.Fatalf("%s came twice", l)
		}
		seen[l] = true
	}
	if len(seen) != 40000 {
		t.Errorf("%d rows before the stop, %d in all", before, len(seen))
	}
}
