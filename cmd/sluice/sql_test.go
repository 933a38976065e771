package main

import (
	"os"
	"strings"
	"testing"
)

// SHOW JOBS lists a job of the shell's own once, also when its state directory is not written from the root.
func TestSQLShowsOwnJobOnce(t *testing.T) {
	o := sluice(t, workspace(t), `
CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '10');
CREATE TABLE nowhere (n BIGINT) WITH ('connector' = 'blackhole');
SET 'execution.checkpointing.dir' = 'own-state';
INSERT INTO nowhere SELECT n FROM ticks;
SHOW JOBS;
STOP JOB '1';
`, "sql").succeeded(t)
	if !strings.Contains(o.stdout, "INSERT INTO nowhere") || strings.Contains(o.stdout, "own-state") {
		t.Errorf("its own job is not listed once:\n%s", o.stdout)
	}
}

// An interrupt of a job that a script waits for ends the script.
func TestSQLInterruptEndsScript(t *testing.T) {
	p := start(t, `
CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '10', 'number-of-rows' = '100000', 'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '100000');
CREATE TABLE sink (n BIGINT) WITH ('connector' = 'print');
INSERT INTO sink SELECT n FROM ticks;
SELECT 'went on' AS x;
`, "sql")
	if l := p.line(); !strings.HasPrefix(l, "+I[") {
		t.Fatalf("the first line is %q", l)
	}
	p.signal(os.Interrupt)
	for {
		l, err := p.lines.ReadString('\n')
		if strings.Contains(l, "went on") {
			t.Error("the script went on")
		}
		if err != nil {
			break
		}
	}
	if code := p.end(); code != exitInterrupted {
		t.Errorf("exit code %d\n%s", code, p.stderr.String())
	}
}
