package repl

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/cmd/sluice/internal/result"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// counting is a viewer, with room for 6 rows, of a result that got the rows 1 to n, one after another.
func counting(t *testing.T, n int) *viewer {
	t.Helper()
	live := result.NewLive()
	table := &spi.Table{Columns: []spi.Column{{Name: "n", Type: types.Of(types.BigInt)}}}
	sink, err := result.Open(spi.SinkSpec{Table: table, Columns: []int{0}, Mode: spi.Retract, Writers: 1}, result.Options{Mode: result.Table, Live: live})
	if err != nil {
		t.Fatal(err)
	}
	b := &changelog.Batch{}
	var r row.Builder
	for i := range n {
		r.Begin(b.Buf(), 1)
		r.Int64(0, int64(i+1))
		b.Commit(changelog.Insert, r.Finish(nil))
	}
	w := sink.Writer(0)
	if err := w.Write(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	w.Barrier(context.Background(), 1, func(err error) {
		if err != nil {
			t.Error(err)
		}
	})
	return &viewer{o: LiveOptions{Result: live, Status: func() string { return "" }}, sort: -1, width: 40, height: 12}
}

// Up goes to what stands above in every pane, though the changelog begins at its end.
func TestViewScrolls(t *testing.T) {
	v := counting(t, 20)
	for _, step := range []struct {
		key         string
		first, last int
	}{
		{"t", 1, 6}, {"up", 1, 6}, {"down", 2, 7}, {"end", 15, 20}, {"up", 14, 19}, {"home", 1, 6}, {"pgdown", 6, 11},
		{"c", 15, 20}, {"down", 15, 20}, {"up", 14, 19}, {"down", 15, 20}, {"home", 1, 6}, {"down", 2, 7}, {"end", 15, 20}, {"pgup", 10, 15},
	} {
		v.key(step.key)
		var shown []string
		lines := v.tableLines
		if v.pane == changelogPane {
			lines = v.changeLines
		}
		for _, l := range lines()[3:] {
			shown = append(shown, strings.Trim(strings.TrimPrefix(l, "| +I "), "| "))
		}
		want := []string{fmt.Sprint(step.first), fmt.Sprint(step.last)}
		if len(shown) != 6 || shown[0] != want[0] || shown[5] != want[1] {
			t.Errorf("%s in the pane %s: %v is shown, not %v", step.key, paneNames[v.pane], shown, want)
		}
	}
}
