package state

// Shard is the part of a store that one goroutine owns.
type Shard struct {
	store  *Store
	tables map[uint16]*Table
}

// Table returns the table with this id, creating it. A table of kind bag holds equal rows as often as they
// were added: an entry is told from others by (key, sub, value). Otherwise (key, sub) tells entries apart,
// at barriers at least. The id and the kind are on-disk format; a table asked for in another kind than the
// one it was stored in panics.
func (sh *Shard) Table(id uint16, bag bool) *Table {
	t := sh.tables[id]
	if t == nil {
		t = &Table{bag: bag, groups: map[string][]Ref{}, entries: make([]simple, 1)}
		sh.tables[id] = t
	}
	return t
}

// Frozen holds the entries that changed up to a barrier, for Store.Commit.
type Frozen struct{}

// Freeze copies the entries changed since the last Freeze, at a checkpoint's barrier. The shard may go on
// at once. The Frozen before must have been passed to Durable. Nil when the store is memory only.
func (sh *Shard) Freeze() *Frozen { return nil }

// Durable tells the shard, on its own goroutine, that Commit of f has returned without error: its
// tombstones go, its entries may be evicted. A nil f is ignored.
func (sh *Shard) Durable(f *Frozen) {}

// Pressure reports whether so much waits to be written that a checkpoint should be taken early.
func (sh *Shard) Pressure() bool { return false }

// Maintain evicts down to the budget. Call it between batches: groups leave memory only here, and borrowed
// slices and Refs of this shard end.
func (sh *Shard) Maintain() error { return nil }
