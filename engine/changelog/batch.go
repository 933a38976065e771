// Package changelog holds batches of changes: rows with an operation each.
package changelog

import "github.com/sluicesql/sluice/engine/row"

// Op says what a change does to its row. Inside the engine a change is a row with weight +1 (Insert,
// UpdateAfter) or −1 (UpdateBefore, Delete); the kinds matter only where a sink shows them.
type Op uint8

// The operations, in Flink's order and with its symbols.
const (
	Insert       Op = iota // +I
	UpdateBefore           // -U, directly followed in its batch by the UpdateAfter of the same update
	UpdateAfter            // +U
	Delete                 // -D

	// Clear takes away all rows that came before. It stands in upsert streams alone, between a source and the operator
	// that keeps the rows, which makes deletes of it; its row says nothing.
	Clear
)

// String is Flink's symbol of the operation.
func (o Op) String() string { return [...]string{"+I", "-U", "+U", "-D", "-*"}[o] }

// Negative reports whether the operation takes its row away.
func (o Op) Negative() bool { return o == UpdateBefore || o == Delete || o == Clear }

// Weight is +1 or −1.
func (o Op) Weight() int {
	if o.Negative() {
		return -1
	}
	return 1
}

// Batch is an arena of packed rows with an operation a row. Whoever is handed a batch borrows it until
// the call returns; who keeps rows, copies them. The zero value is an empty batch.
//
// A batch appended to by AppendRow or by Buf/Commit reuses its memory after Reset: in steady state it
// allocates nothing.
type Batch struct {
	buf []byte
	end []uint32 // end[i] is the offset just past row i
	ops []Op
	neg int
}

// Len is the number of changes.
func (b *Batch) Len() int { return len(b.ops) }

// Size is the number of bytes of all rows.
func (b *Batch) Size() int { return len(b.buf) }

// Negatives is the number of changes with weight −1.
func (b *Batch) Negatives() int { return b.neg }

// Op is the operation of change i.
func (b *Batch) Op(i int) Op { return b.ops[i] }

// SetOp changes the operation of change i.
func (b *Batch) SetOp(i int, op Op) {
	if b.ops[i].Negative() {
		b.neg--
	}
	if op.Negative() {
		b.neg++
	}
	b.ops[i] = op
}

// Row is the row of change i. It is valid until the batch is reset.
func (b *Batch) Row(i int) row.Row {
	var s uint32
	if i > 0 {
		s = b.end[i-1]
	}
	e := b.end[i]
	return row.Row(b.buf[s:e:e])
}

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() { b.buf, b.end, b.ops, b.neg = b.buf[:0], b.end[:0], b.ops[:0], 0 }

// AppendRow appends a copy of r.
func (b *Batch) AppendRow(op Op, r row.Row) {
	b.Commit(op, append(b.buf, r...))
}

// Buf is the arena, for a row.Builder to append exactly one row to; Commit takes it back.
func (b *Batch) Buf() []byte { return b.buf }

// Commit takes back the arena from Buf with one more row at its end.
func (b *Batch) Commit(op Op, buf []byte) {
	b.buf = buf
	b.end = append(b.end, uint32(len(buf)))
	b.ops = append(b.ops, op)
	if op.Negative() {
		b.neg++
	}
}

// Truncate drops all changes from the nth on.
func (b *Batch) Truncate(n int) {
	for _, op := range b.ops[n:] {
		if op.Negative() {
			b.neg--
		}
	}
	b.ops, b.end = b.ops[:n], b.end[:n]
	if n == 0 {
		b.buf = b.buf[:0]
	} else {
		b.buf = b.buf[:b.end[n-1]]
	}
}
