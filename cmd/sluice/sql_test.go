package main

import (
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
