package op

import (
	"bytes"
	"cmp"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
)

// Consolidate gathers the changes of one epoch and gives their net effect: equal rows of opposite weight
// cancel, what is left of one key becomes one change, and deletes go before everything else.
//
// An epoch without a negative weight is given as it came, unless its key is in doubt. Otherwise only the negatives are hashed, and the
// positives are looked up among them. An epoch that is larger than its memory goes through sorted runs on disk, see
// SpillTo.
type Consolidate struct {
	spec ConsolidateSpec

	epoch changelog.Batch
	out   changelog.Batch
	dead  []bool
	table hashTable
	keys  [2][]byte
	mate  []int32 // for a row that is half of an update, the other half; −1 otherwise

	runs *runs // nil: every epoch fits into memory
}

// ConsolidateSpec says what is known of the rows. Its zero value is for rows without a known key.
type ConsolidateSpec struct {
	// Pair holds a unique key of the rows: the changes of one key are then one update. Without it, the halves that an
	// operator made as one update stay one.
	Pair []keyenc.Column
	// Upsert leaves out the rows before of updates.
	Upsert bool
	// Choose is for rows of state that forgets: an epoch may give several of one key and sign, as a row that is forgotten
	// in one place and not in another comes a second time. One of them counts, the greatest by length and then by bytes,
	// whatever order they come in and whether they go through runs: an epoch that is repeated shows the same again.
	Choose bool
	// Doubt is for a Pair that is as unique as a source says of itself: two rows of one key are looked for among
	// inserts alone, too.
	Doubt bool
	// SameKey is the error of two rows of one key that an epoch brought, or took away. Needed with Pair.
	SameKey func(x, y row.Row, taken bool) error
}

// NewConsolidate returns a Consolidate.
func NewConsolidate(spec ConsolidateSpec) *Consolidate { return &Consolidate{spec: spec} }

// Push implements Output.
func (c *Consolidate) Push(b *changelog.Batch) error {
	for i := range b.Len() {
		c.epoch.AppendRow(b.Op(i), b.Row(i))
	}
	if c.runs != nil && c.epoch.Size() >= c.runs.limit {
		return c.spill()
	}
	return nil
}

// Finish pushes the epoch's net changes to next, in batches, and begins a new epoch.
func (c *Consolidate) Finish(next Output) error {
	defer c.shrink()
	e := &c.epoch
	switch {
	case c.runs != nil && !c.runs.scratch.Empty():
		return c.finishRuns(next)
	case e.Len() == 0:
		return nil
	}
	plain := e.Negatives() == 0 && !c.spec.Choose && c.inserts()
	if plain && !c.spec.Doubt {
		return next.Push(e)
	}
	n := e.Len()
	c.dead = grow(c.dead, n)
	c.mate = grow(c.mate, n)
	for i := range n {
		c.dead[i], c.mate[i] = false, -1
	}
	if plain {
		if err := c.oneOfKey(); err != nil {
			return err
		}
		return next.Push(e)
	}
	if c.spec.Pair == nil {
		c.pairNeighbours()
		c.cancel()
	} else {
		c.cancel()
		if err := c.pairByKey(); err != nil {
			return err
		}
	}
	return c.give(next)
}

// inserts reports whether all changes are plain inserts, which need no second look. (An UpdateAfter without its
// UpdateBefore is one as well, but under another name.)
func (c *Consolidate) inserts() bool {
	for i := range c.epoch.Len() {
		if c.epoch.Op(i) != changelog.Insert {
			return false
		}
	}
	return true
}

// cancel marks pairs of equal rows of opposite weight as dead.
func (c *Consolidate) cancel() {
	e := &c.epoch
	c.table.reset(e.Negatives())
	for i := range e.Len() {
		if e.Op(i).Negative() {
			c.table.insert(keyenc.Hash(e.Row(i)), int32(i))
		}
	}
	for i := range e.Len() {
		if e.Op(i).Negative() {
			continue
		}
		r := e.Row(i)
		if at := c.table.take(keyenc.Hash(r), func(j int32) bool { return bytes.Equal(e.Row(int(j)), r) }); at >= 0 {
			c.dead[i], c.dead[at] = true, true
			c.relink(c.mate[i], c.mate[at])
		}
	}
}

// relink joins what the two halves of a cancelled pair leave: of the updates a→b and b→c, where both b are gone,
// it makes a→c. A half whose mate is gone for good is no update any more.
func (c *Consolidate) relink(before, after int32) {
	if before >= 0 {
		c.mate[before] = after
	}
	if after >= 0 {
		c.mate[after] = before
	}
}

// pairNeighbours notes the updates as they came.
func (c *Consolidate) pairNeighbours() {
	e := &c.epoch
	for i := 0; i+1 < e.Len(); i++ {
		if e.Op(i) == changelog.UpdateBefore && e.Op(i+1) == changelog.UpdateAfter {
			c.mate[i], c.mate[i+1] = int32(i+1), int32(i)
		}
	}
}

// pairByKey makes updates of the deletes and inserts that have one key, of which a key has at most one each.
func (c *Consolidate) pairByKey() error {
	if err := c.oneOfKey(); err != nil {
		return err
	}
	e := &c.epoch
	c.table.reset(e.Len())
	for i := range e.Len() {
		if !c.dead[i] && e.Op(i).Negative() {
			c.keys[0] = keyenc.Append(c.keys[0][:0], e.Row(i), c.spec.Pair)
			c.table.insert(keyenc.Hash(c.keys[0]), int32(i))
		}
	}
	for i := range e.Len() {
		if c.dead[i] || e.Op(i).Negative() {
			continue
		}
		c.keys[0] = keyenc.Append(c.keys[0][:0], e.Row(i), c.spec.Pair)
		at := c.table.take(keyenc.Hash(c.keys[0]), func(j int32) bool {
			c.keys[1] = keyenc.Append(c.keys[1][:0], e.Row(int(j)), c.spec.Pair)
			return bytes.Equal(c.keys[0], c.keys[1])
		})
		if at >= 0 {
			c.mate[i], c.mate[at] = at, int32(i)
		}
	}
	return nil
}

// oneOfKey makes sure that no key has two rows left of one sign: its rows would overwrite each other in the
// sink.
func (c *Consolidate) oneOfKey() error {
	e := &c.epoch
	for _, negative := range []bool{true, false} {
		if negative && e.Negatives() == 0 {
			continue
		}
		c.table.reset(e.Len())
		for i := range e.Len() {
			if c.dead[i] || e.Op(i).Negative() != negative {
				continue
			}
			c.keys[0] = keyenc.Append(c.keys[0][:0], e.Row(i), c.spec.Pair)
			h := keyenc.Hash(c.keys[0])
			one := int32(i)
			twin := c.table.take(h, func(j int32) bool {
				c.keys[1] = keyenc.Append(c.keys[1][:0], e.Row(int(j)), c.spec.Pair)
				return bytes.Equal(c.keys[0], c.keys[1])
			})
			if twin >= 0 {
				if !c.spec.Choose {
					return c.sameKey(e.Row(int(twin)), e.Row(i), negative)
				}
				if compareRows(e.Row(int(twin)), e.Row(i)) > 0 {
					one, twin = twin, one
				}
				c.dead[twin] = true
			}
			c.table.insert(h, one)
		}
	}
	return nil
}

// compareRows is the order in which runs hold the rows of a key.
func compareRows(x, y row.Row) int {
	return cmp.Or(cmp.Compare(len(x), len(y)), bytes.Compare(x, y))
}

// sameKey is the error of two rows of one key, the same in whatever order they came.
func (c *Consolidate) sameKey(x, y row.Row, taken bool) error {
	if compareRows(x, y) > 0 {
		x, y = y, x
	}
	return c.spec.SameKey(x, y, taken)
}

// give pushes what lives: deletes first, then updates and inserts in the order of their positive rows.
func (c *Consolidate) give(next Output) error {
	e := &c.epoch
	push := c.pusher(next)
	for i := range e.Len() {
		if e.Op(i).Negative() && !c.dead[i] && c.mate[i] < 0 {
			if err := push(changelog.Delete, e.Row(i)); err != nil {
				return err
			}
		}
	}
	for i := range e.Len() {
		if e.Op(i).Negative() || c.dead[i] {
			continue
		}
		op := changelog.Insert
		if m := c.mate[i]; m >= 0 {
			op = changelog.UpdateAfter
			if !c.spec.Upsert {
				if err := push(changelog.UpdateBefore, e.Row(int(m))); err != nil {
					return err
				}
			}
		}
		if err := push(op, e.Row(i)); err != nil {
			return err
		}
	}
	return flush(&c.out, next)
}

// pusher returns what hands changes on in batches.
func (c *Consolidate) pusher(next Output) func(changelog.Op, row.Row) error {
	return func(op changelog.Op, r row.Row) error {
		c.out.AppendRow(op, r)
		if full(&c.out) && op != changelog.UpdateBefore {
			return flush(&c.out, next)
		}
		return nil
	}
}

// keepBytes bounds the memory that an epoch leaves allocated for the next.
const keepBytes = 32 << 20

func (c *Consolidate) shrink() {
	if c.epoch.Size() > keepBytes {
		c.epoch = changelog.Batch{}
	}
	c.epoch.Reset()
}

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}

// hashTable is an open-addressing multimap from hashes to row numbers. Its zero value is for reset.
type hashTable struct {
	hash []uint32 // the hash's low half, for a quick look
	at   []int32  // row number + 1; 0 free, −1 taken out
	mask uint32
}

// reset empties the table and makes room for n rows.
func (t *hashTable) reset(n int) {
	size := 64
	for size < 2*n {
		size *= 2
	}
	if len(t.at) >= size && len(t.at) <= 8*size {
		clear(t.at)
		return
	}
	t.hash, t.at, t.mask = make([]uint32, size), make([]int32, size), uint32(size-1)
}

func (t *hashTable) insert(h uint64, row int32) {
	i := uint32(h>>32) & t.mask
	for t.at[i] > 0 {
		i = (i + 1) & t.mask
	}
	t.hash[i], t.at[i] = uint32(h), row+1
}

// take takes out a row of hash h that satisfies eq, and returns it; −1 when there is none.
func (t *hashTable) take(h uint64, eq func(int32) bool) int32 {
	for i := uint32(h>>32) & t.mask; t.at[i] != 0; i = (i + 1) & t.mask {
		if row := t.at[i] - 1; row >= 0 && t.hash[i] == uint32(h) && eq(row) {
			t.at[i] = -1
			return row
		}
	}
	return -1
}
