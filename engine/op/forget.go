package op

import (
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
)

// State that nothing changed for as long as its time to live is forgotten: from then on it is as if the row had never
// been, and nothing is emitted about it. An operator with such state expires the groups of all keys that it loads,
// before it looks at them; since the time is the epoch's, what an epoch finds does not depend on the order of its
// changes.
//
// So a delete may come for a row that is forgotten, or a row be given once more under a key whose row above in the
// plan is forgotten. Within an epoch neither can be told from changes that came in another order; what is left of them
// at the barrier is mended there: a delete of what is not there is undone, and of two rows of one key the one changed
// last stays. Mending is a change like any other, so that what the operator gave for the row it takes back.

// Forgetter is an operator with state that has a time to live.
type Forgetter interface {
	// Forget loads the groups of the keys and drops what is too old of them.
	Forget(*state.KeyBatch) error
}

// Forget implements Forgetter.
func (n *NormaliseRows) Forget(k *state.KeyBatch) error { return loadTimed(n.table, k) }

// Forget implements Forgetter.
func (n *NormaliseIndex) Forget(k *state.KeyBatch) error { return loadTimed(n.table, k) }

// Forget implements Forgetter.
func (j *Join) Forget(k *state.KeyBatch) error { return j.load(k, 0) }

// Forget implements Forgetter.
func (j *JoinMany) Forget(k *state.KeyBatch) error { return j.load(k) }

// Forget implements Forgetter.
func (a *Aggregate) Forget(k *state.KeyBatch) error { return a.load(k) }

// Forget implements Forgetter.
func (w *Window) Forget(k *state.KeyBatch) error { return w.load(k) }

// loadTimed loads the groups of the keys and, of a timed table, drops what is too old.
func loadTimed(t *state.Table, k *state.KeyBatch) error {
	if err := t.Load(k); err != nil || !t.Timed() {
		return err
	}
	t.Expire(k, nil)
	return nil
}

// expire drops what is too old of loaded groups, and its matches from those that are counted.
func (j *Join) expire(k *state.KeyBatch) {
	for p := range j.sides {
		s := &j.sides[p]
		if !j.counted {
			s.Table.Expire(k, nil)
			continue
		}
		s.Table.Expire(k, func(i int, at state.Ref) {
			j.uncount(p, row.Row(s.Table.Value(at)), s.Table.Weight(at), k.Hash(i), k.Key(i))
		})
	}
}

// uncount takes a row that is about to be forgotten out of the counts of matches: its own, and those of its matches.
func (j *Join) uncount(port int, r row.Row, weight int32, h uint64, key []byte) {
	s, o := &j.sides[port], &j.sides[1-port]
	if s.Nulls != NullsNone && keyenc.HasNull(r, s.Key) {
		return
	}
	if s.Counts != nil {
		s.Counts.Add(h, key, nil, r, -s.Counts.Weigh(h, key, nil, r))
	}
	if o.Counts == nil {
		return
	}
	for at := o.Table.First(h, key); at != 0; at = o.Table.Next(at) {
		m := row.Row(o.Table.Value(at))
		if o.Nulls != NullsNone && keyenc.HasNull(m, o.Key) {
			continue
		}
		if l, r := inOrder(port, r, m); j.on.holds(l, r) {
			o.Counts.Add(h, key, nil, m, -weight)
		}
	}
}

// inOrder are the row of a port and one of the other as left and right.
func inOrder(port int, r, m row.Row) (left, right row.Row) {
	if port == 0 {
		return r, m
	}
	return m, r
}

// suspect notes a key under which something may have to be mended at the barrier.
func (s *JoinSide) suspect(h uint64, key []byte) {
	if s.Table.Timed() && s.Table.Negatives()+s.Table.Conflicts() > 0 && s.suspects.find(h, key, nil) == nil {
		s.suspects.add(h, key, nil, true)
	}
}

// mend makes the side's groups hold at the barrier what they must hold there. load makes groups resident, and apply
// applies a change of weight 1 or −1, which keeps r.
func (s *JoinSide) mend(load func(*state.KeyBatch) error, apply func(op changelog.Op, r row.Row, h uint64, key []byte) error) (undone int64, err error) {
	if len(s.suspects.list) == 0 {
		return 0, nil
	}
	if err := s.Table.Restore(); err != nil { // so that what was not changed is known to be older
		return 0, err
	}
	for from := 0; from < len(s.suspects.list); from += settleAtOnce {
		part := s.suspects.list[from:min(from+settleAtOnce, len(s.suspects.list))]
		s.keys.Reset()
		for i := range part {
			s.keys.Add(s.suspects.key(&part[i]))
		}
		if err := load(&s.keys.KeyBatch); err != nil {
			return undone, err
		}
		for i := range part {
			key := s.suspects.key(&part[i])
			s.amends.Reset()
			undone += s.faults(part[i].h, key)
			for k := range s.amends.Len() {
				if err := apply(s.amends.Op(k), s.amends.Row(k), part[i].h, key); err != nil {
					return undone, err
				}
			}
		}
	}
	s.suspects.reset()
	return undone, nil
}

// faults adds to amends the changes after which a group holds what it must, and returns how many deletes they undo.
func (s *JoinSide) faults(h uint64, key []byte) (undone int64) {
	t := s.Table
	for at := t.First(h, key); at != 0; at = t.Next(at) {
		is := t.Weight(at)
		keep := is
		switch {
		case is < 0:
			keep = 0
			undone -= int64(is)
		case !s.Bag && t.Newest(at):
			keep = 1
		case !s.Bag:
			keep = 0
		}
		for ; is < keep; is++ {
			s.amends.AppendRow(changelog.Insert, t.Value(at))
		}
		for ; is > keep; is-- {
			s.amends.AppendRow(changelog.Delete, t.Value(at))
		}
	}
	return undone
}

// mend mends both sides.
func (j *Join) mend() error {
	for p := range j.sides {
		s := &j.sides[p]
		n, err := s.mend(func(k *state.KeyBatch) error { return j.load(k, p) }, func(op changelog.Op, r row.Row, h uint64, key []byte) error {
			j.apply(p, op, r, h, key)
			return j.err
		})
		j.UnknownDeletes += n
		if err != nil {
			return err
		}
	}
	return j.flush()
}

// mend mends all sides.
func (j *JoinMany) mend() error {
	for p := range j.sides {
		n, err := j.sides[p].mend(j.load, func(op changelog.Op, r row.Row, h uint64, key []byte) error {
			j.apply(p, op, r, h, key)
			return j.err
		})
		j.UnknownDeletes += n
		if err != nil {
			return err
		}
	}
	return j.flush()
}
