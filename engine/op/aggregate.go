package op

import (
	"fmt"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/fault"
)

// AggregateCall is a call of an aggregate function over columns of the input.
type AggregateCall struct {
	Kind expr.AggKind
	Args []int
	// Filter is a BOOLEAN column: rows in which it is not TRUE do not count. −1 for none.
	Filter int
	// Bag is the index of the bag that the call needs; −1 for none. Distinct says that each of its values counts
	// once.
	Bag      int
	Distinct bool
	// Separator is LISTAGG's.
	Separator string
	// Result is the result's type; Name the call in errors.
	Result types.Type
	Name   string
}

// AggregateSpec describes an Aggregate.
type AggregateSpec struct {
	// Table holds the groups, Tails what accumulators keep beside their words.
	Table, Tails *state.Table
	Bags         []AggregateBag
	// Types are those of the input.
	Types []types.Type
	// Key are the group's columns in the input; the output is the key and then the calls' results.
	Key   []int
	Calls []AggregateCall
	// Global says that the group without a key is there without rows too: for the one instance to which such
	// rows are routed.
	Global bool
	// Name tells of the operator in errors.
	Name string
	// Describe writes the key of an output row, for errors.
	Describe func(row.Row) string
}

// Aggregate keeps the accumulators of each group. A change is applied to its group at once; at the barrier every group
// that changed shows the difference between its row before and its row now. Since accumulators add and subtract
// exactly, the order of an epoch's changes makes no difference, and a group may count fewer than no rows
// meanwhile.
type Aggregate struct {
	spec AggregateSpec
	key  []keyenc.Column
	phys []types.Phys
	accSet
	calls   []compiledCall
	tails   []int // the accumulators that have bytes beside their words
	bags    []placedBag
	begun   bool // the global group has been looked for
	keys    keyBatch
	touched touched
	next    Output
	out     changelog.Batch
	now     changelog.Batch // the row that a group shows now
	rb      row.Builder
	fresh   []byte // the state of a group without rows
	digest  int    // of a timed table, the word that sums up hashes of the group's rows; 0 otherwise
	scratch []byte
	tail    []byte
	text    []byte
	group   group // whose row is being made
	failed  error

	// UnknownDeletes counts the deletes, of a timed table, of rows of groups that were not there.
	UnknownDeletes int64
}

// NewAggregate returns the operator.
func NewAggregate(spec AggregateSpec, next Output) (*Aggregate, error) {
	a := &Aggregate{spec: spec, key: keyenc.Columns(spec.Types, spec.Key), accSet: accSet{types: spec.Types, words: 1}, next: next}
	for _, b := range spec.Bags {
		a.bags = append(a.bags, placedBag{AggregateBag: b, args: keyenc.Columns(spec.Types, b.Args)})
	}
	for _, k := range a.key {
		a.phys = append(a.phys, k.Phys)
	}
	for i := range spec.Calls {
		c := &spec.Calls[i]
		a.phys = append(a.phys, c.Result.Phys())
		if c.Bag >= 0 && showsValues(c.Kind) {
			a.calls = append(a.calls, compiledCall{acc: -1, result: a.bagResult(c)})
			continue
		}
		call, err := a.compile(c)
		if err != nil {
			return nil, err
		}
		a.calls = append(a.calls, call)
	}
	for i := range a.accs {
		acc := &a.accs[i]
		if _, ok := acc.accumulator.(tailed); ok {
			a.tails = append(a.tails, i)
		}
		if acc.bag >= 0 {
			a.bags[acc.bag].distinct = append(a.bags[acc.bag].distinct, i)
		}
	}
	if spec.Table.Timed() {
		a.digest = a.words
		a.words++
	}
	a.fresh = make([]byte, 8*a.words)
	return a, nil
}

// Push implements Output.
func (a *Aggregate) Push(b *changelog.Batch) error {
	t := a.spec.Table
	a.keys.fill(b, a.key)
	if err := a.load(&a.keys.KeyBatch); err != nil {
		return err
	}
	for i := range b.Len() {
		h, key := a.keys.Hash(i), a.keys.Key(i)
		at := t.Find(h, key, nil)
		if a.touched.note(h, key) && at != 0 {
			a.show(&a.touched.before, h, key, t.Value(at))
		}
		w := int64(b.Op(i).Weight())
		if at != 0 {
			a.apply(h, key, t.Update(at), b.Row(i), w)
			continue
		}
		a.scratch = append(a.scratch[:0], a.fresh...)
		a.apply(h, key, a.scratch, b.Row(i), w)
		t.Put(h, key, nil, a.scratch)
	}
	return a.failed
}

// load makes the groups of the keys resident.
func (a *Aggregate) load(keys *state.KeyBatch) error {
	if err := a.spec.Table.Load(keys); err != nil {
		return err
	}
	if len(a.tails) > 0 {
		if err := a.spec.Tails.Load(keys); err != nil {
			return err
		}
	}
	for i := range a.bags {
		if err := a.bags[i].Table.Load(keys); err != nil {
			return err
		}
	}
	if a.spec.Table.Timed() {
		a.spec.Table.Expire(keys, func(i int, _ state.Ref) { a.drop(keys.Hash(i), keys.Key(i)) })
	}
	return nil
}

// drop removes what a group has beside its accumulators.
func (a *Aggregate) drop(h uint64, key []byte) {
	for _, i := range a.tails {
		sub := tailKey(i)
		if at := a.spec.Tails.Find(h, key, sub[:]); at != 0 {
			a.spec.Tails.Delete(at)
		}
	}
	if a.spec.Table.Timed() {
		for i := range a.bags {
			a.bags[i].Table.DeleteGroup(h, key)
		}
	}
}

// apply applies a row w times to a group.
func (a *Aggregate) apply(h uint64, key, v []byte, r row.Row, w int64) {
	setWord(v, 0, word(v, 0)+w)
	if a.digest > 0 {
		setWord(v, a.digest, word(v, a.digest)+w*int64(keyenc.Hash(r)))
	}
	for i := range a.accs {
		if acc := &a.accs[i]; acc.bag < 0 && counts(acc.filter, r) {
			acc.add(v[8*acc.at:], r, w)
		}
	}
	for _, i := range a.tails {
		if acc := &a.accs[i]; acc.bag < 0 && counts(acc.filter, r) {
			a.addTail(i, h, key, r, w)
		}
	}
	for i := range a.bags {
		p := &a.bags[i]
		n := p.add(h, key, r, int32(w))
		if n == 0 {
			continue
		}
		for _, k := range p.distinct {
			acc := &a.accs[k]
			acc.add(v[8*acc.at:], r, n)
			if _, ok := acc.accumulator.(tailed); ok {
				a.addTail(k, h, key, r, n)
			}
		}
	}
}

// addTail applies a row to the bytes of accumulator i. They are an entry of their own, by the accumulator's number.
func (a *Aggregate) addTail(i int, h uint64, key []byte, r row.Row, w int64) {
	t := a.spec.Tails
	sub := tailKey(i)
	at := t.Find(h, key, sub[:])
	var old []byte
	if at != 0 {
		old = t.Value(at)
	}
	a.tail = a.accs[i].accumulator.(tailed).addTail(a.tail[:0], old, r, w)
	switch {
	case len(a.tail) > 0:
		t.Put(h, key, sub[:], a.tail)
	case at != 0:
		t.Delete(at)
	}
}

// show appends the row of a group; nothing for a group without rows, unless it is the global one.
func (a *Aggregate) show(out *changelog.Batch, h uint64, key, v []byte) {
	if word(v, 0) <= 0 && !a.spec.Global {
		return
	}
	a.rb.Begin(out.Buf(), len(a.phys))
	rest := key
	for i, k := range a.key {
		d, more, err := keyenc.Decode(rest, k.Phys, nil)
		if err != nil {
			panic("op: a group's key does not decode: " + err.Error())
		}
		a.rb.Datum(i, k.Phys, d)
		rest = more
	}
	for i := range a.calls {
		c := &a.calls[i]
		g := &a.group
		*g = group{h: h, key: key, v: v}
		if c.acc >= 0 {
			g.v = v[8*a.accs[c.acc].at:]
			g.tail = a.tailOf(c.acc, h, key)
		}
		if err := c.result(g, &a.rb, len(a.key)+i); err != nil && a.failed == nil {
			a.fail(i, err)
		}
	}
	out.Commit(changelog.Insert, a.rb.Finish(a.phys))
}

// tailKey names an accumulator's bytes in the state.
func tailKey(acc int) [2]byte { return [2]byte{byte(acc >> 8), byte(acc)} }

func (a *Aggregate) tailOf(acc int, h uint64, key []byte) []byte {
	if _, ok := a.accs[acc].accumulator.(tailed); !ok {
		return nil
	}
	sub := tailKey(acc)
	if at := a.spec.Tails.Find(h, key, sub[:]); at != 0 {
		return a.spec.Tails.Value(at)
	}
	return nil
}

// fail notes that call i has no result in the group whose row is being made.
func (a *Aggregate) fail(i int, err error) {
	a.failed = fault.Errorf(fault.RowValue, "%s: %w", a.spec.Calls[i].Name, err)
	if len(a.key) > 0 {
		a.failed = fmt.Errorf("%w, in the group %s", a.failed, a.spec.Describe(a.rb.Row()))
	}
}

// Barrier implements Operator.
func (a *Aggregate) Barrier() error {
	if err := a.begin(); err != nil {
		return err
	}
	if a.touched.n == 0 {
		return nil
	}
	if err := a.touched.each(a.load, a.settle); err != nil {
		return err
	}
	a.touched.reset()
	if a.failed != nil {
		return a.failed
	}
	for i := range a.bags {
		if a.bags[i].Table.Negatives() > 0 {
			return a.broken()
		}
	}
	return flush(&a.out, a.next)
}

// settle shows what has become of the kth group touched.
func (a *Aggregate) settle(k int, h uint64, key []byte) error {
	after, err := a.after(h, key)
	if err != nil {
		return err
	}
	replace(&a.out, a.touched.row(k), after)
	if full(&a.out) {
		return flush(&a.out, a.next)
	}
	return nil
}

func (a *Aggregate) broken() error {
	return contradiction("%s: %s", a.spec.Name, untrue)
}

// after is the row that a group shows now; nil for none. A group without rows leaves the state.
func (a *Aggregate) after(h uint64, key []byte) (row.Row, error) {
	t := a.spec.Table
	at := t.Find(h, key, nil)
	if at == 0 {
		return nil, nil
	}
	v := t.Value(at) // changed in this epoch, so that it will be written
	if word(v, 0) < 0 && !t.Timed() {
		return nil, a.broken()
	}
	if t.Timed() {
		a.mend(h, key, word(v, 0))
		if word(v, 0) < 0 && a.spec.Global {
			copy(v, a.fresh)
			a.drop(h, key)
		}
	}
	a.now.Reset()
	if a.show(&a.now, h, key, v); a.now.Len() > 0 {
		return a.now.Row(0), nil
	}
	t.Delete(at)
	a.drop(h, key)
	return nil, nil
}

// mend undoes the deletes of what is forgotten: a group of less than no rows goes by itself, and of its values those
// go that are there less than not at all.
func (a *Aggregate) mend(h uint64, key []byte, rows int64) {
	if rows < 0 {
		a.UnknownDeletes -= rows
	}
	for i := range a.bags {
		if t := a.bags[i].Table; t.Negatives() > 0 {
			t.DeleteNegatives(h, key, nil)
		}
	}
}

// begin makes the global group, once, where the state does not have it.
func (a *Aggregate) begin() error {
	if !a.spec.Global || a.begun {
		return nil
	}
	a.begun = true
	var k state.KeyBatch
	k.Add(nil)
	t := a.spec.Table
	if err := t.Load(&k); err != nil {
		return err
	}
	if t.Find(k.Hash(0), nil, nil) == 0 {
		a.touched.note(k.Hash(0), nil)
		t.Put(k.Hash(0), nil, nil, a.fresh)
	}
	return nil
}
