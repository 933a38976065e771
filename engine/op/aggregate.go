package op

import (
	"fmt"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/engine/types"
)

// AggregateCall is a call of an aggregate function over columns of the input.
type AggregateCall struct {
	Kind expr.AggKind
	Args []int
	// Filter is a BOOLEAN column: rows in which it is not TRUE do not count. −1 for none.
	Filter int
	// Result is the result's type; Name the call in errors.
	Result types.Type
	Name   string
}

// AggregateSpec describes an Aggregate.
type AggregateSpec struct {
	// Table holds the groups.
	Table *state.Table
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
	// Describe writes an output row, for errors.
	Describe func(row.Row) string
}

// Aggregate keeps the accumulators of each group. A change is applied to its group at once; at the barrier every group
// that changed shows the difference between its row before and its row a.now. Since accumulators add and subtract
// exactly, the order of an epoch's changes makes no difference, and a group may count fewer than no rows
// meanwhile.
type Aggregate struct {
	spec    AggregateSpec
	key     []keyenc.Column
	phys    []types.Phys
	calls   []compiledCall
	accs    []placedAcc
	words   int
	begun   bool // the global group has been looked for
	keys    keyBatch
	touched touched
	next    Output
	out     changelog.Batch
	now     changelog.Batch // the row that a group shows now
	rb      row.Builder
	fresh   []byte // the state of a group without rows
	scratch []byte
	failed  error
}

type placedAcc struct {
	accumulator
	at     int // the first word
	filter int
	key    string
}

// compiledCall sets column i of a result row from the words of a group.
type compiledCall struct {
	acc    int
	result func(v []byte, b *row.Builder, i int) error
}

// NewAggregate returns the operator.
func NewAggregate(spec AggregateSpec, next Output) (*Aggregate, error) {
	a := &Aggregate{spec: spec, key: keyenc.Columns(spec.Types, spec.Key), words: 1, next: next}
	for _, k := range a.key {
		a.phys = append(a.phys, k.Phys)
	}
	for i := range spec.Calls {
		c := &spec.Calls[i]
		a.phys = append(a.phys, c.Result.Phys())
		call, err := a.compile(c)
		if err != nil {
			return nil, err
		}
		a.calls = append(a.calls, call)
	}
	a.fresh = make([]byte, 8*a.words)
	return a, nil
}

// share returns the index of an accumulator like acc: the calls SUM(x) and AVG(x) keep one.
func (a *Aggregate) share(acc accumulator, filter int) int {
	key := fmt.Sprintf("%T%v %d", acc, acc, filter)
	for i := range a.accs {
		if a.accs[i].key == key {
			return i
		}
	}
	a.accs = append(a.accs, placedAcc{acc, a.words, filter, key})
	a.words += acc.words()
	return len(a.accs) - 1
}

// compile chooses the accumulator of a call and how its result comes of it.
func (a *Aggregate) compile(c *AggregateCall) (compiledCall, error) {
	t := c.Result
	switch c.Kind {
	case expr.AggCount:
		if len(c.Args) == 0 && c.Filter < 0 {
			return compiledCall{acc: -1, result: func(v []byte, b *row.Builder, i int) error {
				b.Int64(i, word(v, 0))
				return nil
			}}, nil
		}
		return compiledCall{a.share(&countAcc{c.Args}, c.Filter), func(v []byte, b *row.Builder, i int) error {
			b.Int64(i, word(v, 0))
			return nil
		}}, nil
	case expr.AggSum:
		if t.IsApprox() {
			break
		}
		s := &intSum{c.Args[0], a.spec.Types[c.Args[0]].Phys() == types.PhysWide}
		return compiledCall{a.share(s, c.Filter), func(v []byte, b *row.Builder, i int) error {
			if word(v, 0) == 0 {
				return nil
			}
			x, ok := s.sum(v)
			if !ok {
				return rangeError(t)
			}
			return setExact(b, i, t, x)
		}}, nil
	}
	return compiledCall{}, fmt.Errorf("internal: no accumulator for %s", c.Name)
}

// Push implements Output.
func (a *Aggregate) Push(b *changelog.Batch) error {
	t := a.spec.Table
	a.keys.fill(b, a.key)
	if err := t.Load(&a.keys.KeyBatch); err != nil {
		return err
	}
	for i := range b.Len() {
		h, key := a.keys.Hash(i), a.keys.Key(i)
		at := t.Find(h, key, nil)
		if a.touched.note(h, key) && at != 0 {
			a.show(&a.touched.before, key, t.Value(at))
		}
		w := int64(b.Op(i).Weight())
		if at != 0 {
			a.apply(t.Update(at), b.Row(i), w)
			continue
		}
		a.scratch = append(a.scratch[:0], a.fresh...)
		a.apply(a.scratch, b.Row(i), w)
		t.Put(h, key, nil, a.scratch)
	}
	return a.failed
}

// apply applies a row w times to a group's words.
func (a *Aggregate) apply(v []byte, r row.Row, w int64) {
	setWord(v, 0, word(v, 0)+w)
	for i := range a.accs {
		acc := &a.accs[i]
		if acc.filter >= 0 && (r.IsNull(acc.filter) || r.Int64(acc.filter) == 0) {
			continue
		}
		acc.add(v[8*acc.at:], r, w)
	}
}

// show appends the row of a group; nothing for a group without rows, unless it is the global one.
func (a *Aggregate) show(out *changelog.Batch, key, v []byte) {
	if word(v, 0) <= 0 && !a.spec.Global {
		return
	}
	a.rb.Begin(out.Buf(), len(a.phys))
	for i, k := range a.key {
		d, rest, err := keyenc.Decode(key, k.Phys, nil)
		if err != nil {
			panic("op: a group's key does not decode: " + err.Error())
		}
		a.rb.Datum(i, k.Phys, d)
		key = rest
	}
	for i := range a.calls {
		c := &a.calls[i]
		words := v
		if c.acc >= 0 {
			words = v[8*a.accs[c.acc].at:]
		}
		if err := c.result(words, &a.rb, len(a.key)+i); err != nil && a.failed == nil {
			a.failed = fmt.Errorf("%s: %w", a.spec.Calls[i].Name, err)
			if len(a.key) > 0 {
				a.failed = fmt.Errorf("%w, in the group %s", a.failed, a.spec.Describe(a.rb.Row()))
			}
		}
	}
	out.Commit(changelog.Insert, a.rb.Finish(a.phys))
}

// Barrier implements Operator.
func (a *Aggregate) Barrier() error {
	if err := a.begin(); err != nil {
		return err
	}
	t := a.spec.Table
	if err := t.Load(&a.touched.keys); err != nil {
		return err
	}
	for k := range a.touched.len() {
		h, key := a.touched.keys.Hash(k), a.touched.keys.Key(k)
		at := t.Find(h, key, nil)
		a.now.Reset()
		var after row.Row
		if at != 0 {
			v := t.Value(at)
			if n := word(v, 0); n < 0 {
				return fmt.Errorf("%s: a group lost %d more rows than it had: an input took away rows that it had not given", a.spec.Name, -n)
			}
			a.show(&a.now, key, v)
			if a.now.Len() > 0 {
				after = a.now.Row(0)
			} else {
				t.Delete(at)
			}
		}
		replace(&a.out, a.touched.row(k), after)
		if full(&a.out) {
			if err := flush(&a.out, a.next); err != nil {
				return err
			}
		}
	}
	a.touched.reset()
	if a.failed != nil {
		return a.failed
	}
	return flush(&a.out, a.next)
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
