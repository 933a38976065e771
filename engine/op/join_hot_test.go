package op

import (
	"testing"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
)

// bounded is an Output that holds batches to their bounds.
type bounded struct {
	t             *testing.T
	rows, batches int
}

func (o *bounded) Push(b *changelog.Batch) error {
	if b.Len() > flushRows+1 || b.Size() > flushBytes+1024 { // an update is not cut
		o.t.Errorf("a batch of %d rows and %d bytes", b.Len(), b.Size())
	}
	if b.Len() > 0 && b.Op(b.Len()-1) == changelog.UpdateBefore {
		o.t.Error("a batch ends within an update")
	}
	o.rows += b.Len()
	o.batches++
	return nil
}

// A key with a hundred thousand matches: its changes stream on in batches of the usual size, and a change of one of
// the many costs what a change of few does.
func TestJoinHotKey(t *testing.T) {
	const matches = 100_000
	sh := memoryShard(t)
	out := &bounded{t: t}
	c, err := NewCombine(&expr.Ctx{}, randomTypes, randomTypes, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	key, id := keyenc.Columns(randomTypes, []int{0}), keyenc.Columns(randomTypes, []int{1})
	j := NewJoin(
		JoinSide{Table: sh.Table(state.TableID(0, 0), false), Key: key},
		JoinSide{Table: sh.Table(state.TableID(0, 1), false), Key: key, Sub: id}, c, out)
	var b changelog.Batch
	push := func(port int) {
		t.Helper()
		if err := j.Port(port).Push(&b); err != nil {
			t.Fatal(err)
		}
		b.Reset()
	}
	expect := func(what string, rows int) {
		t.Helper()
		if out.rows != rows || out.batches < rows/flushRows {
			t.Errorf("%s: %d rows in %d batches, want %d rows", what, out.rows, out.batches, rows)
		}
		out.rows, out.batches = 0, 0
	}
	for i := range int64(matches) {
		b.AppendRow(changelog.Insert, randomRow{7, i, "domain"}.pack())
		if b.Len() == 1000 {
			push(1)
		}
	}
	expect("the many alone", 0)
	user := func(v string) row.Row { return randomRow{7, 0, v}.pack() }
	b.AppendRow(changelog.Insert, user("Egor"))
	push(0)
	expect("the one comes", matches)
	b.AppendRow(changelog.UpdateBefore, user("Egor"))
	b.AppendRow(changelog.UpdateAfter, user("Mitya"))
	push(0)
	expect("it changes", 2*matches)
	for i := range int64(1000) { // each finds its row by an index, not by a walk
		b.AppendRow(changelog.UpdateBefore, randomRow{7, i * 100, "domain"}.pack())
		b.AppendRow(changelog.UpdateAfter, randomRow{7, i * 100, "changed"}.pack())
	}
	push(1)
	expect("some of the many change", 2000)
	b.AppendRow(changelog.Delete, user("Mitya"))
	push(0)
	expect("it goes", matches)
	if err := j.Barrier(); err != nil {
		t.Error(err)
	}
}
