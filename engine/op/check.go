package op

import (
	"fmt"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// CheckMode says which changes a checked output may hold.
type CheckMode uint8

const (
	// CheckAppend holds inserts alone.
	CheckAppend CheckMode = iota
	// CheckRetract holds whole rows, added and taken away.
	CheckRetract
	// CheckUpsert holds new rows, and deletes of which only the upsert key is known.
	CheckUpsert
)

// CheckSpec is what the plan says of a node's output.
type CheckSpec struct {
	// Name is the node's, in errors.
	Name  string
	Types []types.Type
	Mode  CheckMode
	// UpsertKey are the columns that a delete of CheckUpsert carries. NullKeys says that NULLs may be among those
	// that are not NOT NULL.
	UpsertKey []int
	NullKeys  bool
	// Dist are the columns by whose hash rows are divided among Width instances; nil when that is not known.
	Dist  []int
	Width int
	// Keys are the unique keys of the rows.
	Keys [][]int
	// Describe writes a well-formed row.
	Describe func(row.Row) string
}

// Checker stands behind an operator in tests and holds what it gives to the plan's promises, before others take
// it. Of every change it checks that
//
//   - the row is canonical for the schema, and not NULL where the schema says so; of an upsert stream's delete
//     only the key is asked for, and there in full;
//   - the kind of change is one of the mode's, and the two halves of an update stand side by side;
//   - the row is on the shard that its distribution says.
//
// What it cannot tell from one instance it hands to the Ledger of all instances, epoch by epoch.
type Checker struct {
	spec   *CheckSpec
	index  int
	ledger *Ledger // nil: weights and keys are not checked
	dist   []keyenc.Column
	next   Output
	page   page // of the present epoch
	live   map[string]bool
	epoch  uint64
	enc    []byte
	out    changelog.Batch // scratch for key-only rows
	rb     row.Builder
	phys   []types.Phys
}

// NewChecker returns the checker of instance index of a node. ledger is shared by the node's instances.
func NewChecker(spec *CheckSpec, index int, ledger *Ledger, next Output) *Checker {
	return &Checker{
		spec: spec, index: index, ledger: ledger, dist: keyenc.Columns(spec.Types, spec.Dist), next: next,
		page: page{}, live: map[string]bool{}, phys: Phys(spec.Types),
	}
}

// Push implements Output.
func (c *Checker) Push(b *changelog.Batch) error {
	for i := range b.Len() {
		if err := c.change(b, i); err != nil {
			return err
		}
	}
	return c.next.Push(b)
}

func (c *Checker) change(b *changelog.Batch, i int) error {
	op, r := b.Op(i), b.Row(i)
	if err := row.Check(r, c.spec.Types); err != nil {
		return fmt.Errorf("%s gives the malformed row %s %x: %w", c.spec.Name, op, []byte(r), err)
	}
	if why := c.kind(b, i); why != "" {
		return c.fault(op, r, why)
	}
	if op == changelog.Clear {
		for key := range c.live {
			c.page[key]--
		}
		clear(c.live)
		return nil
	}
	for col, t := range c.spec.Types {
		switch {
		case !r.IsNull(col):
		case r.Unavailable(col):
			if c.spec.Mode != CheckUpsert {
				return c.fault(op, r, fmt.Sprintf("the value of column %d was left out", col))
			}
		case t.NotNull && !c.keyOnly(op):
			return c.fault(op, r, fmt.Sprintf("column %d is NOT NULL", col))
		}
	}
	if c.keyOnly(op) {
		for _, col := range c.spec.UpsertKey {
			if allowed := c.spec.NullKeys && !c.spec.Types[col].NotNull; r.IsNull(col) && !allowed {
				return c.fault(op, r, fmt.Sprintf("column %d of its key is NULL", col))
			}
		}
	}
	if c.spec.Dist != nil {
		c.enc = keyenc.Append(c.enc[:0], r, c.dist)
		if shard := keyenc.Shard(keyenc.Group(keyenc.Hash(c.enc)), c.spec.Width); shard != c.index {
			return c.fault(op, r, fmt.Sprintf("its shard is %d, not %d", shard, c.index))
		}
	}
	if c.ledger != nil {
		c.note(op, r)
	}
	return nil
}

// kind says what is wrong with the operation of change i.
func (c *Checker) kind(b *changelog.Batch, i int) string {
	op := b.Op(i)
	switch {
	case c.spec.Mode == CheckAppend && op != changelog.Insert:
		return "the stream is append-only"
	case c.spec.Mode != CheckUpsert && op == changelog.Clear:
		return "only an upsert stream may be cleared"
	case c.spec.Mode == CheckUpsert && op != changelog.UpdateAfter && op != changelog.Delete && op != changelog.Clear:
		return "an upsert stream holds +U and -D"
	case c.spec.Mode != CheckRetract:
		return ""
	case op == changelog.UpdateBefore && (i+1 == b.Len() || b.Op(i+1) != changelog.UpdateAfter):
		return "no +U follows"
	case op == changelog.UpdateAfter && (i == 0 || b.Op(i-1) != changelog.UpdateBefore):
		return "no -U goes before"
	}
	return ""
}

// keyOnly reports whether of a change of this kind only the key is known.
func (c *Checker) keyOnly(op changelog.Op) bool {
	return c.spec.Mode == CheckUpsert && op == changelog.Delete
}

func (c *Checker) fault(op changelog.Op, r row.Row, why string) error {
	return fmt.Errorf("%s gives %s %s: %s", c.spec.Name, op, c.spec.Describe(r), why)
}

// note writes a change down in the epoch's page. Of an upsert stream that is what it does to the set of keys.
func (c *Checker) note(op changelog.Op, r row.Row) {
	if c.spec.Mode != CheckUpsert {
		c.page[string(r)] += op.Weight()
		return
	}
	c.out.Reset()
	appendKeyOnly(&c.out, &c.rb, r, c.phys, c.spec.UpsertKey)
	key := string(c.out.Row(0))
	if is := op != changelog.Delete; is != c.live[key] {
		c.page[key] += op.Weight()
		if is {
			c.live[key] = true
		} else {
			delete(c.live, key)
		}
	}
}

// Barrier ends the epoch of that number, which is one more than the last.
func (c *Checker) Barrier(epoch uint64) error {
	if c.epoch != 0 && epoch != c.epoch+1 {
		return fmt.Errorf("%s ends epoch %d after epoch %d", c.spec.Name, epoch, c.epoch)
	}
	c.epoch = epoch
	if c.ledger == nil {
		return nil
	}
	p := c.page
	c.page = page{}
	return c.ledger.add(epoch, p)
}
