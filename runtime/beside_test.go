package runtime_test

import (
	"context"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/memconn"
	"github.com/sluicesql/sluice/internal/oracle"
	"github.com/sluicesql/sluice/runtime"
)

// Checkpoints are committed while later epochs are cut: with a checkpoint for almost every epoch, and epochs as
// fast as they go, the two meet at the epoch log. The race detector watches.
func TestCommitsBesideCuts(t *testing.T) {
	hub := memconn.NewHub(1)
	for _, tab := range oracle.Tables() {
		hub.SetTable(tab.Name, oracle.Generate(tab, 1, oracle.HistoryOptions{Changes: 400, Partitions: 2}))
	}
	sink := hub.Sink("result")
	job, err := runtime.Start(context.Background(), runtime.Config{
		Plan: planOver(t, hub, "SELECT id FROM users"), Parallelism: 2, StateDir: t.TempDir(),
		EpochMaxRows: 1, BatchRows: 1, CheckpointInterval: time.Nanosecond,
		OpenResult: func(sp spi.SinkSpec) (spi.Sink, error) { sink.Open(sp.Writers); return sink, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := job.Wait(); err != nil {
		t.Fatal(err)
	}
	if s := job.Stats(); s.Checkpoints < 2 || s.Epochs <= s.Checkpoints {
		t.Errorf("%d checkpoints in %d epochs", s.Checkpoints, s.Epochs)
	}
}
