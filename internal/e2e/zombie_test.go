package e2e

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/sluicesql/sluice/internal/cdcbench"
	"github.com/sluicesql/sluice/internal/realkafka"
	"github.com/sluicesql/sluice/runtime"
)

// Two processes never both write. A second one on the state directory is refused, and so is one with a state directory
// of its own and the same transactional id: the first goes on undisturbed. One that goes on from a savepoint of the
// first fences it.
func TestZombies(t *testing.T) {
	w := newWorkload(t, kafka(t), 500)
	dir := filepath.Join(t.TempDir(), "state")
	w.snapshot()
	sql := w.fill(workloadSQL+onceSQL, "unbounded")
	first := start(t, sql, "--state-dir", dir, "--parallelism=2")
	w.await(first, w.once, cdcbench.Exact)

	run(t, sql, "--state-dir", dir).exited(1).says("another process uses it")
	run(t, sql, "--state-dir", filepath.Join(t.TempDir(), "other")).exited(1).says("table once: the sink holds the output of job", "kafka-consumer-groups.sh")
	before := length(t, w.addr, w.once)
	w.change(500)
	until(t, "the first process writes on", func() bool { first.running(); return length(t, w.addr, w.once) > before })
	w.await(first, w.once, cdcbench.Exact)

	saved := filepath.Join(t.TempDir(), "savepoint")
	if out, err := exec.Command(binary, "savepoint", dir, saved).CombinedOutput(); err != nil {
		t.Fatalf("savepoint: %v\n%s", err, out)
	}
	restored := filepath.Join(t.TempDir(), "restored")
	second := start(t, sql, "--from-savepoint", saved, "--state-dir", restored, "--parallelism=3")
	until(t, "the second process runs", func() bool {
		second.running()
		r, err := runtime.Dial(restored)
		if err == nil {
			_, err = r.Status()
		}
		return err == nil
	})
	w.change(500) // which the first cannot deliver any more
	first.exited(1).says("another process has started with transactional id")
	w.await(second, w.once, cdcbench.Exact)
	second.terminate()
	w.verify(w.once, cdcbench.Exact)
}

// With a checkpoint every 50 ms, a read_committed consumer waits about that long. The latency is logged, not judged.
func TestTrickleExactlyOnce(t *testing.T) {
	addr := kafka(t)
	size := cdcbench.Size{Name: realkafka.UniqueName("trickle"), Users: 500}
	model, err := cdcbench.Load(t.Context(), addr, size, cdcbench.DefaultSeed)
	if err != nil {
		t.Fatal(err)
	}
	w := &workload{t: t, addr: addr, users: size.UsersTopic(), domains: size.DomainsTopic(), model: model}
	w.retract, w.upserts, w.once = newTopic(t, addr, "retract", 4), newTopic(t, addr, "upserts", 4), newTopic(t, addr, "once", 4)
	p := start(t, w.fill(workloadSQL+onceSQL, "unbounded"), "--state-dir", filepath.Join(t.TempDir(), "state"), "--parallelism=2", "--set", "execution.checkpointing.interval=50 ms")
	w.await(p, w.once, cdcbench.Exact)
	l, err := cdcbench.Probe{Addr: addr, Model: model, Size: size, Output: w.once, Rate: 300, Duration: 3 * time.Second}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Log(l)
	w.await(p, w.once, cdcbench.Exact)
	p.terminate()
	w.verify(w.once, cdcbench.Exact)
}
