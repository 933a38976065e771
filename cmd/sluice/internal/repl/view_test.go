package repl

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/cmd/sluice/internal/result"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/runtime"
)

// counting is a viewer, with room for 6 rows, of a result of one column, which grow adds rows to.
func counting(t *testing.T) (v *viewer, grow func(rows ...int)) {
	t.Helper()
	live := result.NewLive()
	table := &spi.Table{Columns: []spi.Column{{Name: "n", Type: types.Of(types.BigInt)}}}
	sink, err := result.Open(spi.SinkSpec{Table: table, Columns: []int{0}, Mode: spi.Retract, Writers: 1}, result.Options{Mode: result.Table, Live: live})
	if err != nil {
		t.Fatal(err)
	}
	epoch := uint64(0)
	grow = func(rows ...int) {
		t.Helper()
		b := &changelog.Batch{}
		var r row.Builder
		for _, n := range rows {
			r.Begin(b.Buf(), 1)
			r.Int64(0, int64(n))
			b.Commit(changelog.Insert, r.Finish(nil))
		}
		w := sink.Writer(0)
		if err := w.Write(context.Background(), b); err != nil {
			t.Fatal(err)
		}
		epoch++
		w.Barrier(context.Background(), epoch, func(err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	stats := func() runtime.Stats { return runtime.Stats{} }
	return &viewer{o: LiveOptions{Result: live, Status: func() string { return "" }, Stats: stats}, sort: -1, width: 40, height: 12}, grow
}

// numbers are the numbers from first to last.
func numbers(first, last int) (out []int) {
	for n := first; n <= last; n++ {
		out = append(out, n)
	}
	return out
}

// shown are the numbers on the screen.
func (v *viewer) shown(t *testing.T) (out []int) {
	t.Helper()
	for line := range strings.Lines(v.View().Content) {
		cell, ok := strings.CutPrefix(strings.TrimPrefix(strings.TrimSpace(line), "| +I "), "|")
		n, err := strconv.Atoi(strings.Trim(cell, " |"))
		if ok && err == nil {
			out = append(out, n)
		}
	}
	return out
}

// Up goes to what stands above in every pane, though the changelog begins at its end.
func TestViewScrolls(t *testing.T) {
	v, grow := counting(t)
	grow(numbers(1, 20)...)
	for _, step := range []struct {
		key         string
		first, last int
	}{
		{"t", 1, 6}, {"up", 1, 6}, {"down", 2, 7}, {"end", 15, 20}, {"up", 14, 19}, {"home", 1, 6}, {"pgdown", 6, 11},
		{"c", 15, 20}, {"down", 15, 20}, {"up", 14, 19}, {"down", 15, 20}, {"home", 1, 6}, {"down", 2, 7}, {"end", 15, 20}, {"pgup", 10, 15},
	} {
		v.key(step.key)
		if shown := v.shown(t); !slices.Equal(shown, numbers(step.first, step.last)) {
			t.Errorf("%s in the pane %s: %v is shown, not %d to %d", step.key, paneNames[v.pane], shown, step.first, step.last)
		}
	}
}

// What is frozen stays what it is, whatever pane is looked at and however it is sorted, and is left at once.
func TestViewFreezes(t *testing.T) {
	v, grow := counting(t)
	tick := func() {
		v.sampled = v.sampled.Add(-sampleInterval) // as if the time had passed
		v.Update(refresh{})
	}
	grow(3, 1, 2)
	tick()
	tick()
	chart := func() string { v.key("r"); return v.View().Content }
	v.key("space")
	frozen := chart()
	grow(5, 4)
	for range 3 {
		tick()
	}
	for _, step := range []struct {
		keys  string
		shown []int
	}{{"t", []int{1, 2, 3}}, {"c", []int{3, 1, 2}}, {"tsS", []int{3, 2, 1}}, {"sS", []int{1, 2, 3}}} {
		for _, k := range step.keys {
			v.key(string(k))
		}
		if shown := v.shown(t); !slices.Equal(shown, step.shown) {
			t.Errorf("frozen, %s: %v is shown, not %v", step.keys, shown, step.shown)
		}
	}
	if again := chart(); again != frozen {
		t.Errorf("the frozen chart became\n%s", again)
	}
	v.key("space")
	if again := chart(); again == frozen {
		t.Error("the chart is frozen still")
	}
	v.key("t")
	if shown := v.shown(t); !slices.Equal(shown, numbers(1, 5)) {
		t.Errorf("%v is shown, not 1 to 5", shown)
	}
	v.key("c")
	if shown := v.shown(t); !slices.Equal(shown, []int{3, 1, 2, 5, 4}) {
		t.Errorf("the changelog is %v", shown)
	}
}
