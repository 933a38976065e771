package changelog

import (
	"testing"

	"github.com/sluicesql/sluice/engine/row"
)

func one(v int64) row.Row {
	var b row.Builder
	b.Begin(nil, 1)
	b.Int64(0, v)
	return b.Finish(nil)
}

func TestOps(t *testing.T) {
	for op, want := range map[Op]struct {
		symbol string
		weight int
	}{Insert: {"+I", 1}, UpdateBefore: {"-U", -1}, UpdateAfter: {"+U", 1}, Delete: {"-D", -1}} {
		if op.String() != want.symbol || op.Weight() != want.weight || op.Negative() != (want.weight < 0) {
			t.Errorf("%s has weight %d", op, op.Weight())
		}
	}
}

func TestBatch(t *testing.T) {
	var b Batch
	if b.Len() != 0 || b.Size() != 0 || b.Negatives() != 0 {
		t.Error("the zero value is not empty")
	}
	b.AppendRow(Insert, one(1))
	b.AppendRow(UpdateBefore, one(2))
	var rb row.Builder
	rb.Begin(b.Buf(), 1)
	rb.Int64(0, 3)
	b.Commit(UpdateAfter, rb.Finish(nil))
	b.AppendRow(Delete, one(4))
	for i, op := range []Op{Insert, UpdateBefore, UpdateAfter, Delete} {
		if b.Op(i) != op || b.Row(i).Int64(0) != int64(i+1) {
			t.Errorf("change %d is %s %d", i, b.Op(i), b.Row(i).Int64(0))
		}
	}
	if b.Negatives() != 2 || b.Size() != 4*len(one(0)) {
		t.Errorf("%d negatives, %d bytes", b.Negatives(), b.Size())
	}
	b.SetOp(0, Delete)
	b.SetOp(1, Insert)
	b.SetOp(3, UpdateBefore)
	if b.Negatives() != 2 || b.Op(1) != Insert {
		t.Errorf("%d negatives after SetOp", b.Negatives())
	}
	b.Truncate(2)
	if b.Len() != 2 || b.Negatives() != 1 || b.Size() != 2*len(one(0)) || b.Row(1).Int64(0) != 2 {
		t.Errorf("after Truncate: %d changes, %d negatives", b.Len(), b.Negatives())
	}
	b.AppendRow(Insert, one(9))
	if b.Row(2).Int64(0) != 9 {
		t.Error("a row appended after Truncate")
	}
	b.Truncate(0)
	if b.Len() != 0 || b.Size() != 0 || b.Negatives() != 0 {
		t.Error("truncated to nothing")
	}
}

// A row handed out must not let an append of its holder run into the next row.
func TestRowsAreCapped(t *testing.T) {
	var b Batch
	b.AppendRow(Insert, one(1))
	b.AppendRow(Insert, one(2))
	_ = append(b.Row(0), 0xff)
	if b.Row(1).Int64(0) != 2 {
		t.Error("an append to a row changed the next")
	}
}

func TestReuseAllocatesNothing(t *testing.T) {
	var b Batch
	r := one(1)
	fill := func() {
		b.Reset()
		for range 100 {
			b.AppendRow(Insert, r)
		}
	}
	fill()
	if n := testing.AllocsPerRun(10, fill); n != 0 {
		t.Errorf("%v allocations a batch", n)
	}
}
