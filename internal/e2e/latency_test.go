package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/sluicesql/sluice/internal/cdcbench"
	"github.com/sluicesql/sluice/internal/realkafka"
)

// Changes trickle through a running job one by one. Their latency is logged, not
// judged: `make bench` does that on a machine without other work.
func TestTrickle(t *testing.T) {
	addr := kafka(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	size := cdcbench.Size{Name: realkafka.UniqueName("trickle"), Users: 500}
	model, err := cdcbench.Load(ctx, addr, size, cdcbench.DefaultSeed)
	if err != nil {
		t.Fatal(err)
	}
	w := &workload{t: t, addr: addr, users: size.UsersTopic(), domains: size.DomainsTopic(), model: model}
	w.retract, w.upserts = newTopic(t, addr, "retract", 4), newTopic(t, addr, "upserts", 4)
	p := w.follow("--parallelism=2")
	until(t, "the snapshot is joined", func() bool { p.running(); return length(t, addr, w.retract) >= model.Expected().Rows })

	l, err := cdcbench.Probe{Addr: addr, Model: model, Size: size, Output: w.retract, Rate: 500, Duration: 2 * time.Second}.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(l)
	w.await(p, w.upserts, cdcbench.Upsert)
	w.await(p, w.retract, cdcbench.Retract)
	p.terminate()
	w.verify(w.retract, cdcbench.Retract)
	w.verify(w.upserts, cdcbench.Upsert)
}
