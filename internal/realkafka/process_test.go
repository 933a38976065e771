package realkafka

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func start(t *testing.T, removeAtEnd string, argv ...string) (p *Process, log func() string) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	p, err = StartProcess(argv, f, removeAtEnd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	return p, func() string {
		b, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

func TestTermLetsTheChildFinish(t *testing.T) {
	p, log := start(t, "", "/bin/sh", "-c", `trap 'echo goodbye; exit 0' TERM; echo ready; while :; do sleep 0.05; done`)
	await(t, "ready", func() bool { return strings.Contains(log(), "ready") })
	if err := p.Term(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log(), "goodbye") {
		t.Errorf("log = %q", log())
	}
}

func TestTermKillsAChildThatStays(t *testing.T) {
	p, log := start(t, "", "/bin/sh", "-c", `trap '' TERM; echo ready; while :; do sleep 0.05; done`)
	await(t, "ready", func() bool { return strings.Contains(log(), "ready") })
	if err := p.Term(100 * time.Millisecond); err == nil {
		t.Error("a child that had to be killed was called stopped")
	}
	if !p.Exited() {
		t.Error("still running")
	}
}

func TestKillRemovesTheFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "broker")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p, _ := start(t, dir, "/bin/sh", "-c", "while :; do sleep 0.05; done")
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if exists(dir) {
		t.Error("the folder is still there")
	}
}

func TestExitedSeesAChildThatEndsByItself(t *testing.T) {
	p, _ := start(t, "", "/bin/sh", "-c", "exit 3")
	await(t, "exit", p.Exited)
	if p.err == nil || !strings.Contains(p.err.Error(), "exit status 3") {
		t.Errorf("err = %v", p.err)
	}
}
