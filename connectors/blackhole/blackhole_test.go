package blackhole

import (
	"errors"
	"testing"

	"github.com/sluicesql/sluice/connectors/conformance"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

func TestConformance(t *testing.T) {
	r := spi.NewRegistry()
	Register(r)
	var b changelog.Batch
	var rb row.Builder
	rb.Begin(b.Buf(), 1)
	rb.Int64(0, 1)
	b.Commit(changelog.Insert, rb.Finish(nil))
	tb := &spi.Table{Name: "b", Columns: []spi.Column{{Name: "id", Type: types.Of(types.BigInt)}}, Options: spi.Options{}}
	conformance.Sink(t, conformance.SinkCase{Connector: r.Connector("blackhole"), Table: tb, Batch: &b})
	if _, err := r.Connector("blackhole").CheckSource(tb); !errors.Is(err, spi.ErrNotSource) {
		t.Errorf("reading gives %v", err)
	}
}
