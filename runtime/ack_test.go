package runtime_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/internal/memconn"
	"github.com/sluicesql/sluice/internal/oracle"
	"github.com/sluicesql/sluice/runtime"
)

// refusing is a sink none of whose writers is ever acknowledged.
type refusing struct{}

func (refusing) Writer(int) spi.Writer                         { return refusing{} }
func (refusing) Stats() spi.SinkStats                          { return spi.SinkStats{} }
func (refusing) Close() error                                  { return nil }
func (refusing) Write(context.Context, *changelog.Batch) error { return nil }
func (refusing) Barrier(_ context.Context, _ uint64, ack func(error)) {
	ack(errors.New("the disk is full"))
}

// A job ends with one cause, however many writers met it.
func TestOneCause(t *testing.T) {
	hub := memconn.NewHub(1)
	for _, tab := range oracle.Tables() {
		hub.SetTable(tab.Name, oracle.Generate(tab, 1, oracle.HistoryOptions{Changes: 50, Partitions: 4}))
	}
	job, err := runtime.Start(context.Background(), runtime.Config{
		Plan: planOver(t, hub, "SELECT id FROM users"), Parallelism: 4,
		OpenResult: func(spi.SinkSpec) (spi.Sink, error) { return refusing{}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	err = job.Wait()
	if err == nil || strings.Count(err.Error(), "the disk is full") != 1 {
		t.Errorf("ended with %v", err)
	}
}
