package op

import (
	"bytes"
	"fmt"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/fault"
)

// WindowSpec describes a Window.
type WindowSpec struct {
	// Table is a bag of the rows by partition.
	Table *state.Table
	// Ages, of a window with a time to live, holds a word for each partition, that sums up hashes of its rows: the
	// partition is forgotten with it. Nil otherwise.
	Ages *state.Table
	// Types are those of the input; the output is the input's columns and then the calls' results.
	Types     []types.Type
	Partition []int
	Order     []keyenc.OrderColumn
	// Ties order the rows that Order holds equal, which are peers all the same.
	Ties  []keyenc.OrderColumn
	Calls []WindowCall
	// Limit keeps only rows of some ranks; nil keeps all.
	Limit *WindowLimit
	// AppendOnly says that the input takes nothing back, so that rows beyond the limit need not be kept.
	AppendOnly bool
	// Name tells of the operator in errors.
	Name string
}

// WindowLimit keeps the rows whose rank is from Lo to Hi, both included. Hi 0 is no end.
type WindowLimit struct {
	Kind   expr.WindowKind // WindowRowNumber, WindowRank or WindowDenseRank
	Lo, Hi int64
}

// Window keeps the rows of each partition in order: the declared one, and among rows that it and Ties hold equal, that
// of their bytes. At the barrier the partitions that changed show the difference between their rows, with the calls' results,
// before and now. It is ROW_NUMBER and its like, top-N, deduplication, and OVER.
type Window struct {
	spec    WindowSpec
	key     []keyenc.Column
	keys    keyBatch
	touched touched
	next    Output
	now     changelog.Batch
	out     changelog.Batch
	enc     []byte
	excess  []state.Ref
	first   bool // the limit is row number 1 alone, see windowfirst.go
	leasts  leasts
	part    partition
	diff    differ

	// UnknownDeletes counts the deletes, of a window with a time to live, of rows that were not there.
	UnknownDeletes int64
}

// NewWindow returns the operator.
func NewWindow(spec WindowSpec, next Output) (*Window, error) {
	w := &Window{spec: spec, key: keyenc.Columns(spec.Types, spec.Partition), next: next}
	l := spec.Limit
	w.first = l != nil && l.Kind == expr.WindowRowNumber && l.Lo <= 1 && l.Hi == 1 && len(spec.Calls) == 0
	return w, w.part.compile(&w.spec)
}

// Push implements Output.
func (w *Window) Push(b *changelog.Batch) error {
	t := w.spec.Table
	w.keys.fill(b, w.key)
	if err := w.load(&w.keys.KeyBatch); err != nil {
		return err
	}
	for i := range b.Len() {
		h, key, r := w.keys.Hash(i), w.keys.Key(i), b.Row(i)
		w.enc = keyenc.AppendOrder(keyenc.AppendOrder(w.enc[:0], r, w.spec.Order), r, w.spec.Ties)
		w.enc = append(w.enc, r...)
		if w.first {
			if err := w.pushFirst(h, key, int32(b.Op(i).Weight())); err != nil {
				return err
			}
			continue
		}
		if w.touched.note(h, key) {
			if err := w.show(&w.touched.before, h, key); err != nil {
				return err
			}
		}
		t.Add(h, key, nil, w.enc, int32(b.Op(i).Weight()))
		w.changed(h, key, w.enc, int32(b.Op(i).Weight()))
	}
	return nil
}

// load makes the partitions of the keys resident, and drops those that are too old.
func (w *Window) load(keys *state.KeyBatch) error {
	if err := w.spec.Table.Load(keys); err != nil || w.spec.Ages == nil {
		return err
	}
	if err := w.spec.Ages.Load(keys); err != nil {
		return err
	}
	w.spec.Ages.Expire(keys, func(i int, _ state.Ref) { w.spec.Table.DeleteGroup(keys.Hash(i), keys.Key(i)) })
	return nil
}

// changed notes a change of an entry, where partitions have a time to live.
func (w *Window) changed(h uint64, key, value []byte, weight int32) {
	t := w.spec.Ages
	if t == nil {
		return
	}
	by := int64(weight) * int64(keyenc.Hash(value))
	at := t.Find(h, key, nil)
	if at == 0 {
		var fresh [8]byte
		setWord(fresh[:], 0, by)
		t.Put(h, key, nil, fresh[:])
		return
	}
	v := t.Update(at)
	setWord(v, 0, word(v, 0)+by)
}

// mend undoes the deletes of rows that are forgotten, and lets go of the ages of partitions without rows.
func (w *Window) mend() error {
	t := w.spec.Table
	return w.touched.each(w.load, func(k int, h uint64, key []byte) error {
		if t.Negatives() > 0 {
			was := w.UnknownDeletes
			t.DeleteNegatives(h, key, func(value []byte, weight int32) {
				w.UnknownDeletes -= int64(weight)
				w.changed(h, key, value, -weight) // the partition is what it was
			})
			if w.first && w.UnknownDeletes > was {
				w.follow(k, h, key)
			}
		}
		if t.First(h, key) == 0 {
			w.spec.Ages.DeleteGroup(h, key)
		}
		return nil
	})
}

// show appends what a partition shows.
func (w *Window) show(out *changelog.Batch, h uint64, key []byte) error {
	if err := w.collect(h, key); err != nil {
		return err
	}
	if err := w.part.show(out, &w.spec); err != nil {
		return fault.Or(fault.RowValue, fmt.Errorf("%s: %w", w.spec.Name, err))
	}
	return nil
}

// split divides an entry's value into the order that makes peers and the row.
func (w *Window) split(value []byte) (order []byte, r row.Row, err error) {
	n, err := keyenc.SkipOrder(value, w.spec.Order)
	if err == nil {
		order, value = value[:n], value[n:]
		n, err = keyenc.SkipOrder(value, w.spec.Ties)
	}
	if err != nil {
		return nil, nil, state.Damaged("damaged state: %w", err)
	}
	return order, row.Row(value[n:]), nil
}

// collect takes a partition's rows in order, as far as the limit and the calls need them.
func (w *Window) collect(h uint64, key []byte) (err error) {
	t, p := w.spec.Table, &w.part
	p.reset()
	w.spec.Table.Ascend(h, key, func(r state.Ref) bool {
		order, at, e := w.split(t.Value(r))
		if e != nil {
			err = e
			return false
		}
		for range t.Weight(r) {
			p.add(order, at)
		}
		return !p.enough(w.spec.Limit)
	})
	return err
}

// trim drops the rows beyond the limit of an input that takes nothing back.
func (w *Window) trim(h uint64, key []byte) {
	l := w.spec.Limit
	if l == nil || l.Hi == 0 || !w.spec.AppendOnly || l.Kind != expr.WindowRowNumber {
		return
	}
	t := w.spec.Table
	w.excess = w.excess[:0]
	n := int64(0)
	t.Ascend(h, key, func(r state.Ref) bool {
		if n >= l.Hi {
			w.excess = append(w.excess, r)
		}
		n += int64(t.Weight(r))
		return true
	})
	for _, r := range w.excess {
		w.changed(h, key, t.Value(r), -t.Weight(r))
		t.Delete(r)
	}
}

// Barrier implements Operator.
func (w *Window) Barrier() error {
	if w.touched.n == 0 {
		return nil
	}
	if w.spec.Ages != nil {
		if err := w.mend(); err != nil {
			return err
		}
	}
	if w.spec.Table.Negatives() > 0 {
		return contradiction("%s: %s", w.spec.Name, untrue)
	}
	if w.first {
		if err := w.settleFirst(); err != nil {
			return err
		}
	} else if err := w.touched.each(w.load, w.settle); err != nil {
		return err
	}
	w.touched.reset()
	return flush(&w.out, w.next)
}

// settle shows what has become of the kth partition touched.
func (w *Window) settle(k int, h uint64, key []byte) error {
	w.now.Reset()
	if err := w.show(&w.now, h, key); err != nil {
		return err
	}
	from, to := w.touched.rows(k)
	w.diff.push(&w.out, &w.touched.before, from, to, &w.now)
	w.trim(h, key)
	if full(&w.out) {
		return flush(&w.out, w.next)
	}
	return nil
}

// untrue says that an input is no changelog.
const untrue = "an input took away rows that it had not given before"

// contradiction makes the error of an input that is no changelog.
func contradiction(format string, args ...any) error {
	return fault.Errorf(fault.RowContradiction, format, args...).
		Fix("its events are not the complete changelog that 'table.exec.source.cdc-events-duplicate' = 'false' or a table without PRIMARY KEY takes them for: declare the PRIMARY KEY and leave that option at true, or read the topic from its beginning")
}

// differ finds the difference between two lists of rows.
type differ struct{ table hashTable }

// push appends the difference between rows from (included) to (excluded) of old and all of now. One row in place of
// another is an update.
func (d *differ) push(out, old *changelog.Batch, from, to int, now *changelog.Batch) {
	first, last := 0, now.Len()
	for from < to && first < last && bytes.Equal(old.Row(from), now.Row(first)) {
		from, first = from+1, first+1
	}
	for from < to && first < last && bytes.Equal(old.Row(to-1), now.Row(last-1)) {
		to, last = to-1, last-1
	}
	switch {
	case to-from == 1 && last-first == 1:
		replace(out, old.Row(from), now.Row(first))
		return
	case from == to || first == last:
	default:
		d.unordered(out, old, from, to, now, first, last)
		return
	}
	for i := from; i < to; i++ {
		out.AppendRow(changelog.Delete, old.Row(i))
	}
	for i := first; i < last; i++ {
		out.AppendRow(changelog.Insert, now.Row(i))
	}
}

// unordered is push for rows that may stand at other places: equal ones cancel.
func (d *differ) unordered(out, old *changelog.Batch, from, to int, now *changelog.Batch, first, last int) {
	d.table.reset(last - first)
	for i := first; i < last; i++ {
		d.table.insert(keyenc.Hash(now.Row(i)), int32(i))
	}
	for i := from; i < to; i++ {
		r := old.Row(i)
		if at := d.table.take(keyenc.Hash(r), func(j int32) bool { return bytes.Equal(now.Row(int(j)), r) }); at >= 0 {
			now.SetOp(int(at), changelog.Delete) // marks it as shown before
			continue
		}
		out.AppendRow(changelog.Delete, r)
	}
	for i := first; i < last; i++ {
		if now.Op(i) == changelog.Insert {
			out.AppendRow(changelog.Insert, now.Row(i))
		}
	}
}
