package runtime_test

import (
	"context"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/memconn"
	"github.com/sluicesql/sluice/internal/oracle"
	"github.com/sluicesql/sluice/runtime"
)

// A directory belongs to a query from checkpoint 0 on. A job that could not start leaves it to the corrected
// one; after a job that ran, another query is refused.
func TestStateDirectoryBelongsToWhoStarted(t *testing.T) {
	dir := t.TempDir()
	run := func(hub *memconn.Hub, query string) error {
		sink := hub.Sink("result")
		job, err := runtime.Start(context.Background(), runtime.Config{
			Plan: planOver(t, hub, query), Parallelism: 1, StateDir: dir,
			OpenResult: func(sp spi.SinkSpec) (spi.Sink, error) { sink.Open(sp.Writers); return sink, nil },
		})
		if err != nil {
			return err
		}
		return job.Wait()
	}
	if err := run(memconn.NewHub(1), "SELECT firstname FROM users"); err == nil {
		t.Fatal("a job without its table started")
	}
	hub := memconn.NewHub(1)
	for _, tab := range oracle.Tables() {
		hub.SetTable(tab.Name, oracle.Generate(tab, 1, oracle.HistoryOptions{Changes: 10, Partitions: 1}))
	}
	if err := run(hub, "SELECT id FROM users"); err != nil {
		t.Fatalf("after a job that could not start: %v", err)
	}
	if err := run(hub, "SELECT id FROM domains"); err == nil || !strings.Contains(err.Error(), "another query") {
		t.Errorf("another query on the directory of one that ran: %v", err)
	}
}
