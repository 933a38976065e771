package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long anything may take. Nothing takes nearly as long, but for a
// machine that is very busy.
const patience = 3 * time.Minute

// process is a run of the binary.
type process struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr output
	summaryFile    string
	ended          chan struct{} // closed when the process has been waited for
}

// output is what a process has written so far.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// start runs a script with sluice run. The process ends with the test at the
// latest.
func start(t *testing.T, sql string, args ...string) *process {
	t.Helper()
	return startFiles(t, sql, append(args, "-")...)
}

// startFiles is start with what to run among the arguments.
func startFiles(t *testing.T, stdin string, args ...string) *process {
	t.Helper()
	p := &process{t: t, summaryFile: filepath.Join(t.TempDir(), "summary.json"), ended: make(chan struct{})}
	p.cmd = exec.Command(binary, append([]string{"run", "--summary-json", p.summaryFile}, args...)...)
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + os.TempDir(),
		"GORACE=atexit_sleep_ms=0 halt_on_error=1"} // the race detector sleeps for a second at every exit
	p.cmd.Stdin = strings.NewReader(stdin)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // the exit code says it
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it has ended, or else the test has failed
		<-p.ended
	})
	return p
}

// run runs a script to its end.
func run(t *testing.T, sql string, args ...string) *process {
	t.Helper()
	return start(t, sql, args...).wait()
}

// wait waits until the process has ended.
func (p *process) wait() *process {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.stuck("the process does not end")
	}
	return p
}

// stuck fails the test, with the stacks of the process.
func (p *process) stuck(what string) {
	p.t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGQUIT)
	time.Sleep(time.Second)
	p.t.Fatalf("%s\nstdout:\n%s\nstderr:\n%s", what, tail(p.stdout.String()), p.stderr.String())
}

// exited waits for the end and fails the test unless the exit code is code.
func (p *process) exited(code int) *process {
	p.t.Helper()
	p.wait()
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Fatalf("exit code %d (%v), want %d\nstdout:\n%s\nstderr:\n%s", got, p.cmd.ProcessState, code, tail(p.stdout.String()), p.stderr.String())
	}
	return p
}

// says fails the test unless standard error holds all the texts.
func (p *process) says(texts ...string) *process {
	p.t.Helper()
	for _, s := range texts {
		if !strings.Contains(p.stderr.String(), s) {
			p.t.Errorf("stderr lacks %q:\n%s", s, p.stderr.String())
		}
	}
	return p
}

// terminate asks for an orderly stop, which must succeed.
func (p *process) terminate() *process {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	return p.exited(0)
}

// kill ends the process as a crash would.
func (p *process) kill() {
	p.t.Helper()
	p.signal(syscall.SIGKILL)
	p.wait()
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatalf("%v\nstderr:\n%s", err, p.stderr.String())
	}
}

// running fails the test when the process has ended.
func (p *process) running() {
	p.t.Helper()
	select {
	case <-p.ended:
		p.t.Fatalf("ended too early (%v)\nstdout:\n%s\nstderr:\n%s", p.cmd.ProcessState, tail(p.stdout.String()), p.stderr.String())
	default:
	}
}

// summary is what --summary-json says.
type summary struct {
	Outcome     string `json:"outcome"`
	RecordsIn   int64  `json:"records_in"`
	Skipped     int64  `json:"records_skipped"`
	ChangesOut  int64  `json:"changes_out"`
	StateRows   int64  `json:"state_rows"`
	Checkpoints int64  `json:"checkpoints"`
}

func (p *process) summary() summary {
	p.t.Helper()
	b, err := os.ReadFile(p.summaryFile)
	if err != nil {
		p.t.Fatal(err)
	}
	var s summary
	if err := json.Unmarshal(b, &s); err != nil {
		p.t.Fatalf("%s: %v", b, err)
	}
	return s
}

// until polls until ok reports true.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

func tail(s string) string { return s[max(0, len(s)-2000):] }

// fillIn replaces $NAME by values: fillIn(text, "NAME", value, …).
func fillIn(text string, namesAndValues ...string) string {
	for i := 0; i < len(namesAndValues); i += 2 {
		text = strings.ReplaceAll(text, "$"+namesAndValues[i], namesAndValues[i+1])
	}
	return text
}

// awaitFile waits until a running process has made a file.
func awaitFile(t *testing.T, p *process, file string) {
	t.Helper()
	until(t, file+" is there", func() bool {
		p.running()
		_, err := os.Stat(file)
		return err == nil
	})
}
