package op

import (
	"bytes"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/engine/types"
)

// NormaliseRows keeps the row of each primary key and turns an upsert stream into inserts, updates and
// deletes of whole rows. Events delivered again change nothing; a delete of an unknown key is dropped and
// counted.
type NormaliseRows struct {
	table *state.Table
	key   []keyenc.Column
	keys  keyBatch
	next  Output
	out   changelog.Batch

	// Completer completes rows of which values were left out; nil for none.
	Completer *Completer
	// UnknownDeletes counts the deletes that deleted nothing.
	UnknownDeletes int64
}

// NewNormaliseRows returns the operator; key are the primary key's columns.
func NewNormaliseRows(table *state.Table, key []keyenc.Column, next Output) *NormaliseRows {
	return &NormaliseRows{table: table, key: key, next: next}
}

// Push implements Output.
func (n *NormaliseRows) Push(b *changelog.Batch) error {
	n.keys.fill(b, n.key)
	if err := loadTimed(n.table, &n.keys.KeyBatch); err != nil {
		return err
	}
	for i := range b.Len() {
		if b.Op(i) == changelog.Clear {
			if err := n.clear(); err != nil {
				return err
			}
			continue
		}
		h, key, r := n.keys.Hash(i), n.keys.Key(i), b.Row(i)
		at := n.table.Find(h, key, nil)
		var old row.Row
		if at != 0 {
			old = n.table.Value(at)
		}
		if !b.Op(i).Negative() {
			var err error
			if r, err = n.Completer.complete(r, old); err != nil {
				return err
			}
		}
		switch {
		case b.Op(i).Negative() && at == 0:
			n.UnknownDeletes++
		case b.Op(i).Negative():
			n.out.AppendRow(changelog.Delete, old)
			n.table.Delete(at)
		case at == 0:
			n.out.AppendRow(changelog.Insert, r)
			n.table.Put(h, key, nil, r)
		default:
			if !bytes.Equal(old, r) {
				n.out.AppendRow(changelog.UpdateBefore, old)
				n.out.AppendRow(changelog.UpdateAfter, r)
				n.table.Put(h, key, nil, r)
			}
		}
	}
	return flush(&n.out, n.next)
}

// clear deletes all rows.
func (n *NormaliseRows) clear() error {
	err := n.table.Walk(func(k *state.KeyBatch) error {
		if err := n.Forget(k); err != nil {
			return err
		}
		for i := range k.Len() {
			at := n.table.Find(k.Hash(i), k.Key(i), nil)
			if at == 0 {
				continue
			}
			n.out.AppendRow(changelog.Delete, n.table.Value(at))
			n.table.Delete(at)
			if full(&n.out) {
				if err := flush(&n.out, n.next); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return n.Forget(&n.keys.KeyBatch) // loads them: the walk may have let go of them
}

// NormaliseIndex keeps, for each primary key, the join key under which its row was last sent, and so knows
// where the row is. The output is an upsert stream by join key and primary key: when the join key of a row
// changes, a delete goes first to where the row was; when it becomes NULL, or the row goes, only that.
type NormaliseIndex struct {
	table      *state.Table
	key, route []keyenc.Column
	keepNull   bool
	routeCols  []int
	keyCols    []int
	phys       []types.Phys
	keys       keyBatch
	next       Output
	out        changelog.Batch
	rb, vb     row.Builder
	value      []byte

	// Completer says what is to become of rows of which values were left out, and which go where no row of their key
	// is; the other ones the join completes. Nil for none.
	Completer *Completer
	// UnknownDeletes counts the deletes that deleted nothing.
	UnknownDeletes int64
}

// NewNormaliseIndex returns the operator over rows of the given types: key are the primary key's columns,
// route the join key's, each of them once.
func NewNormaliseIndex(table *state.Table, ts []types.Type, key, route []int, next Output) *NormaliseIndex {
	return &NormaliseIndex{
		table: table, key: keyenc.Columns(ts, key), route: keyenc.Columns(ts, route),
		keyCols: key, routeCols: route, phys: Phys(ts), next: next,
	}
}

// KeepNull keeps the rows whose join key holds a NULL: outer joins show them.
func (n *NormaliseIndex) KeepNull() { n.keepNull = true }

// Push implements Output.
func (n *NormaliseIndex) Push(b *changelog.Batch) error {
	n.keys.fill(b, n.key)
	if err := loadTimed(n.table, &n.keys.KeyBatch); err != nil {
		return err
	}
	for i := range b.Len() {
		h, key, r := n.keys.Hash(i), n.keys.Key(i), b.Row(i)
		gone := b.Op(i).Negative() || !n.keepNull && keyenc.HasNull(r, n.route)
		at := n.table.Find(h, key, nil)
		if at != 0 && n.table.Timed() {
			// As long as the join knows the row, this must know where it is: also where the row comes back to its place
			// within the epoch, changed otherwise.
			n.table.Refresh(at)
		}
		if gone {
			if at != 0 {
				n.retract(r, n.table.Value(at))
				n.table.Delete(at)
			} else if b.Op(i).Negative() {
				n.UnknownDeletes++
			}
			continue
		}
		v := n.pack(r)
		if at == 0 || !bytes.Equal(n.table.Value(at), v) {
			var err error
			if r, err = n.Completer.complete(r, nil); err != nil {
				return err
			}
			if at != 0 {
				n.retract(r, n.table.Value(at))
			}
			n.table.Put(h, key, nil, v)
		}
		n.out.AppendRow(changelog.UpdateAfter, r)
	}
	return flush(&n.out, n.next)
}

// pack makes the state's value: a row of the join key's columns.
func (n *NormaliseIndex) pack(r row.Row) []byte {
	n.vb.Begin(n.value[:0], len(n.route))
	for i, c := range n.route {
		n.vb.Copy(i, r, c.Index, c.Phys)
	}
	n.value = n.vb.Finish(nil) // set in order
	return n.value
}

// retract emits the delete that goes to where r's predecessor is: its primary key with its old join key.
func (n *NormaliseIndex) retract(r row.Row, old row.Row) {
	n.rb.Begin(n.out.Buf(), len(n.phys))
	for i, c := range n.routeCols {
		n.rb.Copy(c, old, i, n.phys[c])
	}
	for _, c := range n.keyCols {
		if n.rb.Row().IsNull(c) { // a column of both keys is set already, to the same value
			n.rb.Copy(c, r, c, n.phys[c])
		}
	}
	n.out.Commit(changelog.Delete, n.rb.Finish(n.phys))
}
