package op

import (
	"bytes"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
)

// A window that keeps row number 1 alone follows the first row of each partition touched with every change, while the
// partition is near. The barrier then has no need of the state.

// leasts are the values of the first entries of the partitions touched, by their number. The zero value is empty.
type leasts struct {
	buf []byte
	at  []span
}

// span is a part of a buffer; size is what may be written over.
type span struct{ from, len, size int }

// get is a partition's value, borrowed until the next set; nil when the partition is empty.
func (l *leasts) get(k int) []byte {
	s := &l.at[k]
	if s.len == 0 {
		return nil
	}
	return l.buf[s.from : s.from+s.len]
}

// set copies a partition's value; nil is none. k is at most one beyond the partitions before.
func (l *leasts) set(k int, value []byte) {
	if k == len(l.at) {
		l.at = append(l.at, span{})
	}
	s := &l.at[k]
	if len(value) > s.size {
		s.from, s.size = len(l.buf), len(value)
		l.buf = append(l.buf, value...)
	} else {
		copy(l.buf[s.from:], value)
	}
	s.len = len(value)
}

// reset begins the next epoch. What a large epoch took is given back.
func (l *leasts) reset() {
	const keep = 16 << 20
	if cap(l.buf) > keep {
		*l = leasts{}
		return
	}
	l.buf, l.at = l.buf[:0], l.at[:0]
}

// pushFirst takes a change of the entry w.enc.
func (w *Window) pushFirst(h uint64, key []byte, delta int32) error {
	t := w.spec.Table
	var beaten state.Ref
	if w.spec.AppendOnly { // only the first row can ever show
		if beaten = t.Least(h, key); beaten != 0 && bytes.Compare(t.Value(beaten), w.enc) <= 0 {
			return nil
		}
	}
	k, fresh := w.touched.place(h, key)
	if fresh {
		if err := w.begin(k, h, key); err != nil {
			return err
		}
	}
	if beaten != 0 {
		w.changed(h, key, t.Value(beaten), -t.Weight(beaten))
		t.Delete(beaten)
	}
	w.changed(h, key, w.enc, delta)
	weight := t.Add(h, key, nil, w.enc, delta)
	was := w.leasts.get(k)
	switch order := bytes.Compare(w.enc, was); {
	case weight != 0 && (was == nil || order < 0):
		w.leasts.set(k, w.enc)
	case weight == 0 && order == 0: // the first row went
		w.follow(k, h, key)
	}
	return nil
}

// begin notes what partition k shows before the epoch's first change of it.
func (w *Window) begin(k int, h uint64, key []byte) error {
	w.follow(k, h, key)
	r, err := w.firstRow(k)
	if r != nil {
		w.touched.before.AppendRow(changelog.Insert, r)
	}
	return err
}

// follow looks up partition k's first entry.
func (w *Window) follow(k int, h uint64, key []byte) {
	t := w.spec.Table
	if r := t.Least(h, key); r != 0 {
		w.leasts.set(k, t.Value(r))
	} else {
		w.leasts.set(k, nil)
	}
}

// firstRow is what partition k shows now; nil when it is empty.
func (w *Window) firstRow(k int) (row.Row, error) {
	value := w.leasts.get(k)
	if value == nil {
		return nil, nil
	}
	_, r, err := w.split(value)
	return r, err
}

// settleFirst shows what has become of the partitions touched.
func (w *Window) settleFirst() error {
	for k := range w.touched.n {
		r, err := w.firstRow(k)
		if err != nil {
			return err
		}
		replace(&w.out, w.touched.row(k), r)
		if full(&w.out) {
			if err := flush(&w.out, w.next); err != nil {
				return err
			}
		}
	}
	w.leasts.reset()
	return nil
}
