package runtime

import (
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/planner"
)

// The positions of a replayed epoch are those of all sources: VALUES end at their own, whichever comes first.
func TestValuesEndAtTheirOwnPosition(t *testing.T) {
	n := &planner.Values{Rows: make([][]row.Datum, 5)}
	pos := []spi.Position{{Topic: "orders", Offset: 1}, {Topic: "VALUES a", Offset: 3}, {Topic: "VALUES b", Offset: 2}}
	for name, want := range map[string]int{"VALUES a": 3, "VALUES b": 2, "VALUES c": 0} {
		r := newValuesSource(name, n, nil).Reader(0).(valuesReader)
		r.Limit(pos)
		if r.end() != want {
			t.Errorf("%s end at %d, not at %d", name, r.end(), want)
		}
		if r.Limit(nil); r.end() != 5 {
			t.Errorf("%s without a limit end at %d", name, r.end())
		}
	}
}
