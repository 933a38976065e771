package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const joinedSQL = `
SET 'pipeline.name' = 'pairs-%s';
CREATE TABLE a (n BIGINT, k BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '2000',
  'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '100000000', 'fields.k.min' = '1', 'fields.k.max' = '50');
CREATE TABLE b (n BIGINT, k BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '20',
  'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '100000000', 'fields.k.min' = '1', 'fields.k.max' = '50');
CREATE TABLE pairs (n BIGINT, m BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO pairs SELECT a.n, b.n FROM a JOIN b ON a.k = b.k;
`

// waitFor waits until a command says something.
func waitFor(t *testing.T, what string, args ...string) string {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		o := sluice(t, t.TempDir(), "", args...)
		if strings.Contains(o.stdout, what) {
			return o.stdout
		}
		if time.Now().After(deadline) {
			t.Fatalf("%v never said %q:\n%s%s", args, what, o.stdout, o.stderr)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// The commands that ask a running job for something, by its directory, its name and its id.
func TestRunningJobIsAsked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	save := filepath.Join(t.TempDir(), "save")
	name := "pairs-" + filepath.Base(filepath.Dir(dir)) + t.Name()
	sql := strings.ReplaceAll(joinedSQL, "pairs-%s", name)
	p := start(t, sql, "run", "--parallelism", "2", "--state-dir", dir, "-")
	waitFor(t, "RUNNING", "status", dir)
	ask := func(args ...string) outcome { t.Helper(); return sluice(t, t.TempDir(), "", args...).succeeded(t) }
	ask("pause", name)
	if s := ask("status", dir).stdout; !strings.Contains(s, "PAUSED") {
		t.Errorf("status of a paused job:\n%s", s)
	}
	// Programs find every figure under a name of one form.
	status := ask("status", "--format", "json", dir).stdout
	if odd := regexp.MustCompile(`"[^"]*[A-Z][^"]*": [\[{0-9n]`).FindAllString(status, -1); odd != nil || !strings.Contains(status, `"records": `) || !strings.Contains(status, `"rows": `) {
		t.Errorf("names %q in the status:\n%s", odd, status)
	}
	before := ask("state", "info", dir).stdout
	for _, part := range []string{"a job runs on it", "paused:           yes", "format:           version 2", "written by:       sluice ", "Join: (k) = (k)", "INSERT INTO pairs", "generation 0", "| a     |"} {
		if !strings.Contains(before, part) {
			t.Errorf("state info does not say %q:\n%s", part, before)
		}
	}
	time.Sleep(100 * time.Millisecond)
	if again := ask("state", "info", dir).stdout; again != before {
		t.Errorf("a paused job went on:\n%s\n%s", before, again)
	}
	id := regexp.MustCompile(`job: +([0-9a-f]{32})`).FindStringSubmatch(before)[1]
	if jobs := ask("jobs").stdout; !strings.Contains(jobs, id) || !strings.Contains(jobs, "PAUSED") || !strings.Contains(jobs, name) {
		t.Errorf("jobs:\n%s", jobs)
	}
	ask("resume", id[:12])
	ask("savepoint", dir, save)
	if o := sluice(t, t.TempDir(), "", "savepoint", dir, save); o.code != exitFailed || !strings.Contains(o.stderr, "new or empty") {
		t.Errorf("a savepoint over another: %d %s", o.code, o.stderr)
	}
	if o := sluice(t, t.TempDir(), sql, "run", "--state-dir", dir, "-"); o.code != exitFailed || !strings.Contains(o.stderr, "another process uses it") {
		t.Errorf("a second process on the directory: %d %s", o.code, o.stderr)
	}
	saves := t.TempDir()
	o := sluice(t, t.TempDir(), "SET 'execution.checkpointing.savepoint-dir' = '"+saves+"'; SHOW JOBS; STOP JOB '"+name+"' WITH SAVEPOINT;", "run", "-").succeeded(t)
	if !strings.Contains(o.stdout, saves+"/savepoint-"+id[:8]) || !strings.Contains(o.stdout, name) {
		t.Errorf("STOP JOB WITH SAVEPOINT printed\n%s", o.stdout)
	}
	if code := p.end(); code != 0 || !strings.Contains(p.stderr.String(), "sluice: ") {
		t.Errorf("the job ended with %d: %s", code, p.stderr.String())
	}
	if o := sluice(t, t.TempDir(), "STOP JOB '"+name+"';", "run", "-"); o.code != exitFailed || !strings.Contains(o.stderr, "stdin:1:10: no job \""+name+"\" runs") {
		t.Errorf("STOP JOB of a job that has ended: %d %s", o.code, o.stderr)
	}
	if o := sluice(t, t.TempDir(), "", "stop", dir); o.code != exitFailed || !strings.Contains(o.stderr, "no job runs on it") {
		t.Errorf("stop of a job that has ended: %d %s", o.code, o.stderr)
	}

	// The last savepoint starts the job in another directory; the savepoint stays what it is.
	entries, err := os.ReadDir(saves)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v %v", entries, err)
	}
	last := filepath.Join(saves, entries[0].Name())
	other := filepath.Join(t.TempDir(), "other")
	p = start(t, sql, "run", "--parallelism", "3", "--state-dir", other, "--from-savepoint", last, "-")
	info := waitFor(t, "generation 1", "state", "info", other)
	if !strings.Contains(info, "restored:         from "+last) {
		t.Errorf("info of the restored directory:\n%s", info)
	}
	ask("stop", other)
	if code := p.end(); code != 0 {
		t.Errorf("the restored job ended with %d: %s", code, p.stderr.String())
	}
	if s := ask("state", "info", last).stdout; !strings.Contains(s, "savepoint:        of job "+id) || !strings.Contains(s, "generation 0") {
		t.Errorf("info of the savepoint:\n%s", s)
	}
	if o := sluice(t, t.TempDir(), sql, "run", "--state-dir", last, "-"); o.code != exitFailed || !strings.Contains(o.stderr, "--from-savepoint") {
		t.Errorf("a savepoint as state directory: %d %s", o.code, o.stderr)
	}
}
