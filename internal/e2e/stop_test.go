package e2e

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/sluicesql/sluice/internal/cdcbench"
)

// A job without an end is stopped by SIGTERM under load and when it is idle, and
// goes on with what came meanwhile. Nothing is lost, and nothing comes twice,
// neither among the upserts nor among the envelopes.
func TestOrderlyStops(t *testing.T) {
	w := newWorkload(t, kafka(t), 1_000)
	dir := filepath.Join(t.TempDir(), "state")
	w.snapshot()
	for n := range 4 {
		before := length(t, w.addr, w.upserts)
		p := w.follow("--state-dir", dir, parallelism(n))
		stop := w.feed(10, 5*time.Millisecond)
		until(t, "the job writes", func() bool { p.running(); return length(t, w.addr, w.upserts) > before })
		if n == 2 { // everything has been read
			stop()
			w.await(p, w.retract, cdcbench.Retract)
		}
		p.terminate().says("stopped after")
		if s := p.summary(); s.Outcome != "stopped" || s.Checkpoints == 0 {
			t.Errorf("summary of an orderly stop: %+v", s)
		}
		stop()
	}
	w.change(500)
	w.finish("--state-dir", dir, parallelism(4))
	w.verify(w.upserts, cdcbench.Upsert)
	w.verify(w.retract, cdcbench.Retract)
	w.verifyReread()
}

// A job that is stopped before anything has arrived has not failed, and one that
// has started at latest-offset misses nothing that comes while it is down.
func TestStopBeforeTheFirstRecord(t *testing.T) {
	addr := kafka(t)
	dir := filepath.Join(t.TempDir(), "state")
	in, out := newTopic(t, addr, "in", 2), newTopic(t, addr, "out", 2)
	sql := fillIn(`
CREATE TABLE i (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'kafka', 'topic' = '$IN',
  'properties.bootstrap.servers' = '$KAFKA', 'scan.startup.mode' = 'latest-offset', 'scan.bounded.mode' = '$END', 'format' = 'debezium-json');
CREATE TABLE o (id INT, v STRING) WITH ('connector' = 'kafka', 'topic' = '$OUT', 'properties.bootstrap.servers' = '$KAFKA', 'format' = 'debezium-json');
INSERT INTO o SELECT id, v FROM i;`, "KAFKA", addr, "IN", in, "OUT", out)
	produce(t, addr, inserted(in, 1, `{"id":1,"v":"before the job was there"}`))

	p := start(t, fillIn(sql, "END", "unbounded"), "--state-dir", dir)
	awaitFile(t, p, filepath.Join(dir, "epochs.log"))
	time.Sleep(500 * time.Millisecond)
	p.terminate()

	produce(t, addr, inserted(in, 2, `{"id":2,"v":"while it was down"}`))
	run(t, fillIn(sql, "END", "latest-offset"), "--state-dir", dir).exited(0)
	same(t, "rows", sumOfRetractions(t, addr, out, "id", "v"), []string{"2|while it was down"})
}
