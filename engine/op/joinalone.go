package op

import (
	"bytes"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
)

// Alone says which rows of a join's side come out by themselves.
type Alone uint8

const (
	// AloneNever says none: a side of an inner join.
	AloneNever Alone = iota
	// AloneUnmatched says those without a match: the sides of outer joins, and of an anti join the left one.
	AloneUnmatched
	// AloneMatched says those with a match: the left side of a semi join.
	AloneMatched
	// AloneMarked says all, each with a BOOLEAN that tells whether it has a match.
	AloneMarked
)

// Rows that come out alone. Whether a row does depends on all rows of the other side, and so it is settled at the
// barrier; but most rows need no settling. Of a group (the rows of one side and key), what is out alone is either
// all of its rows or none, and until the epoch changes that, it follows from the other side's group: is it empty?
// So
//
//   - a change of a row whose group is out streams on at once, and of one whose group is not out gives nothing;
//   - when the other side's group becomes empty or stops being so, the first time in an epoch, the side's group is
//     noted, with whether it is out;
//   - at the barrier the groups noted for which that has changed are walked, and all of their rows come out or are
//     taken back, once.
//
// A group without rows is out or not as one likes. A new group without a match is therefore noted as not being out:
// in a first load its matches often come in the same epoch, and then nothing was given too early.
//
// Of rows that come out with a mark, "out" is the mark that they are out with.
//
// Under a residual condition the same goes for each row instead of each group: a row's matches are counted, in a
// table of its own (which holds nothing for rows without a match), and the other side's group is empty for a row
// when its count is 0.

// isOut reports whether the side's rows of key are out alone; empty says that the other side's group is empty.
func (s *JoinSide) isOut(h uint64, key []byte, empty bool) bool {
	if e := s.marks.find(h, key, nil); e != nil {
		return e.flag
	}
	return empty == (s.Alone == AloneUnmatched)
}

// note notes that the side's rows of key are out alone, or not, if nothing is noted yet.
func (s *JoinSide) note(h uint64, key, r []byte, out bool) {
	if s.marks.find(h, key, r) == nil {
		s.marks.add(h, key, r, out)
	}
}

// notOut notes of a group or row that has nothing out alone that it has not, whatever was noted.
func (s *JoinSide) notOut(h uint64, key, r []byte) {
	if e := s.marks.find(h, key, r); e != nil {
		e.flag = false
	} else {
		s.marks.add(h, key, r, false)
	}
}

// changeAlone applies an insert or a delete.
func (j *Join) changeAlone(port, weight int, r row.Row, h uint64, key []byte) {
	s := &j.sides[port]
	if j.counted {
		j.changeCounted(port, weight, 0, r, h, key)
		return
	}
	was := j.before(port, h, key)
	j.show(port, weight, r, was.out)
	if !j.semi {
		j.matches(port, weight, r, h, key)
	}
	s.sub = keyenc.Append(s.sub[:0], r, s.Sub)
	s.Table.Add(h, key, s.sub, r, int32(weight))
	j.after(port, h, key, was)
}

// updateAlone applies an update that stays in its group.
func (j *Join) updateAlone(port int, before, after row.Row, h uint64, key []byte) {
	if j.counted {
		j.changeCounted(port, -1, 0, before, h, key)
		j.changeCounted(port, +1, 0, after, h, key)
		return
	}
	was := j.before(port, h, key)
	j.showUpdate(port, before, after, was.out)
	if !j.semi {
		j.pairs(port, before, after, h, key)
	}
	j.sides[port].applyUpdate(before, after, h, key)
	j.after(port, h, key, was)
}

// upsertAlone applies a change of an upsert stream; at is the row that it replaces or deletes, 0 for none.
func (j *Join) upsertAlone(port int, op changelog.Op, at state.Ref, r row.Row, h uint64, key []byte) {
	s := &j.sides[port]
	var old row.Row
	if at != 0 {
		old = s.Table.Value(at)
	}
	gone := op == changelog.Delete
	switch {
	case at != 0 && !gone && bytes.Equal(old, r):
	case j.counted:
		if at != 0 {
			j.changeCounted(port, -1, at, old, h, key)
		}
		if !gone {
			j.changeCounted(port, +1, 0, r, h, key)
		}
	case at != 0 && !gone:
		j.replaceAlone(port, old, r, h, key)
	case gone:
		was := j.before(port, h, key)
		j.show(port, -1, old, was.out)
		if !j.semi {
			j.matches(port, -1, old, h, key)
		}
		s.Table.Delete(at)
		j.after(port, h, key, was)
	default:
		was := j.before(port, h, key)
		j.show(port, +1, r, was.out)
		if !j.semi {
			j.matches(port, +1, r, h, key)
		}
		s.Table.Put(h, key, s.sub, r)
		j.after(port, h, key, was)
	}
}

// replaceAlone replaces a row of an upsert stream: its group has rows before and after.
func (j *Join) replaceAlone(port int, old, r row.Row, h uint64, key []byte) {
	s, o := &j.sides[port], &j.sides[1-port]
	if s.Alone != AloneNever {
		j.showUpdate(port, old, r, s.isOut(h, key, o.Table.First(h, key) == 0))
	}
	if !j.semi {
		j.pairs(port, old, r, h, key)
	}
	s.Table.Put(h, key, s.sub, r)
}

// before is what held before a change of a side's group.
type before struct {
	out   bool // the group's rows are out alone
	empty bool // the group is empty
	other bool // the other side's group has rows
}

func (j *Join) before(port int, h uint64, key []byte) before {
	s, o := &j.sides[port], &j.sides[1-port]
	b := before{other: o.Table.First(h, key) != 0}
	if s.Alone != AloneNever {
		b.out = s.isOut(h, key, !b.other)
	}
	if (!b.out || s.Alone != AloneUnmatched) && (o.Alone == AloneNever || !b.other) {
		return b // whether the group is empty is nobody's concern
	}
	b.empty = s.Table.First(h, key) == 0
	if b.out && b.empty && s.Alone == AloneUnmatched {
		s.notOut(h, key, nil)
		b.out = false
	}
	return b
}

// after notes the other side's group when a change has made a group empty or stopped it being so.
func (j *Join) after(port int, h uint64, key []byte, was before) {
	o := &j.sides[1-port]
	if o.Alone == AloneNever || !was.other {
		return
	}
	if empty := j.sides[port].Table.First(h, key) == 0; empty != was.empty {
		o.note(h, key, nil, was.empty == (o.Alone == AloneUnmatched))
	}
}

// changeCounted applies a change of a row's weight where matches are counted; at is the row in the state where it is
// known and goes, 0 otherwise.
func (j *Join) changeCounted(port, weight int, at state.Ref, r row.Row, h uint64, key []byte) {
	s := &j.sides[port]
	matches := j.countedMatches(port, weight, r, h, key)
	s.own = append(s.own[:0], r...) // r may be the state's own, which goes
	r = s.own
	is := s.weigh(at, weight, r, h, key)
	switch {
	case s.Alone == AloneNever:
	case is == weight:
		j.appeared(port, matches, is, r, h, key)
	default:
		count := s.Counts.Weigh(h, key, nil, r)
		out := (count == 0) == (s.Alone == AloneUnmatched)
		if e := s.marks.find(h, key, r); e != nil {
			out = e.flag
		}
		j.show(port, weight, r, out)
		if is == 0 {
			s.Counts.Add(h, key, nil, r, -count)
		}
	}
}

// weigh adds weight to that of r in the state, and returns the sum.
func (s *JoinSide) weigh(at state.Ref, weight int, r row.Row, h uint64, key []byte) int {
	if at != 0 {
		s.Table.Delete(at)
		return 0
	}
	s.sub = keyenc.Append(s.sub[:0], r, s.Sub)
	return int(s.Table.Add(h, key, s.sub, r, int32(weight)))
}

// appeared counts the matches of a row that was not there, and so had nothing out.
func (j *Join) appeared(port, matches, weight int, r row.Row, h uint64, key []byte) {
	s := &j.sides[port]
	s.Counts.Add(h, key, nil, r, int32(matches))
	j.watchRow(port, matches, r, h, key)
	out := (matches == 0) == (s.Alone == AloneUnmatched)
	noted := s.marks.find(h, key, r)
	switch {
	case s.Alone == AloneUnmatched && (out || noted != nil):
		s.notOut(h, key, r)
	case noted != nil:
		noted.flag = out
		fallthrough
	default:
		j.show(port, weight, r, out)
	}
}

// countedMatches emits r with its matches on the other side and returns their number; where the other side counts
// too, it counts r for each of them.
func (j *Join) countedMatches(port, weight int, r row.Row, h uint64, key []byte) int {
	o := &j.sides[1-port]
	count := 0
	for at := o.Table.First(h, key); at != 0; at = o.Table.Next(at) {
		m := row.Row(o.Table.Value(at))
		n := int(o.Table.Weight(at))
		if !j.pairsMatch(port, weight*n, r, m) {
			continue
		}
		count += n
		if o.Alone != AloneNever {
			is := o.Counts.Add(h, key, nil, m, int32(weight))
			if was := is - int32(weight); (was == 0) != (is == 0) {
				o.note(h, key, m, (was == 0) == (o.Alone == AloneUnmatched))
			}
			j.watchRow(1-port, int(is), m, h, key)
		}
		j.spill()
	}
	return count
}

// pairsMatch reports whether the residual condition holds for r and m, and emits the pair with the given weight.
func (j *Join) pairsMatch(port, weight int, r, m row.Row) bool {
	if j.semi {
		if port == 0 {
			return j.on.holds(r, m)
		}
		return j.on.holds(m, r)
	}
	op := changelog.Insert
	if weight < 0 {
		op, weight = changelog.Delete, -weight
	}
	at := j.out.Len()
	j.emit(port, op, r, m)
	if j.out.Len() == at {
		return false
	}
	for range weight - 1 {
		j.emit(port, op, r, m)
	}
	return true
}

// unmatchable applies a change of a row with a NULL in its key: it has no match.
func (j *Join) unmatchable(port int, op changelog.Op, r row.Row, h uint64, key []byte) {
	s := &j.sides[port]
	out := s.Alone == AloneUnmatched
	if !s.Upsert {
		s.sub = keyenc.Append(s.sub[:0], r, s.Sub)
		s.Table.Add(h, key, s.sub, r, int32(op.Weight()))
		j.show(port, op.Weight(), r, out)
		return
	}
	var at state.Ref
	if at, r, j.err = s.stored(op, r, h, key); j.err != nil {
		return
	}
	switch {
	case op == changelog.Delete && at == 0:
		j.UnknownDeletes++
	case op == changelog.Delete:
		j.show(port, -1, s.Table.Value(at), out)
		s.Table.Delete(at)
	case at == 0:
		j.show(port, +1, r, out)
		s.Table.Put(h, key, s.sub, r)
	default:
		if old := s.Table.Value(at); !bytes.Equal(old, r) {
			j.showUpdate(port, old, r, out)
			s.Table.Put(h, key, s.sub, r)
		}
	}
}

// show emits r alone with the given weight, if it is out, or with its mark.
func (j *Join) show(port, weight int, r row.Row, out bool) {
	if !out && j.sides[port].Alone != AloneMarked {
		return
	}
	op := changelog.Insert
	if weight < 0 {
		op, weight = changelog.Delete, -weight
	}
	for range weight {
		j.single(port, op, r, out)
	}
	j.spill()
}

// showUpdate is show for an update of a row.
func (j *Join) showUpdate(port int, before, after row.Row, out bool) {
	if !out && j.sides[port].Alone != AloneMarked {
		return
	}
	j.single(port, changelog.UpdateBefore, before, out)
	j.single(port, changelog.UpdateAfter, after, out)
	j.spill()
}

// single emits a row without a partner: with NULLs, or with its mark.
func (j *Join) single(port int, op changelog.Op, r row.Row, out bool) {
	switch {
	case j.sides[port].Alone != AloneMarked:
		j.combine.alone(&j.out, op, port, r)
	case out:
		j.combine.make(&j.out, op, r, j.markRows[1], nil)
	default:
		j.combine.make(&j.out, op, r, j.markRows[0], nil)
	}
}

// settled brings a row in line that was out, or had the mark, as was says, and now is as is says.
func (j *Join) settled(port, weight int, r row.Row, was, is bool) {
	if j.sides[port].Alone != AloneMarked {
		if was {
			weight = -weight
		}
		j.show(port, weight, r, true)
		return
	}
	for range weight {
		j.single(port, changelog.UpdateBefore, r, was)
		j.single(port, changelog.UpdateAfter, r, is)
	}
	j.spill()
}

// settleAtOnce is the number of noted groups whose state is loaded together.
const settleAtOnce = 1024

// settle brings what is out alone of a side in line with the state at the barrier.
func (j *Join) settle(port int) error {
	s := &j.sides[port]
	for from := 0; from < len(s.marks.list); from += settleAtOnce {
		part := s.marks.list[from:min(from+settleAtOnce, len(s.marks.list))]
		s.keys.Reset()
		for i := range part {
			s.keys.Add(s.marks.key(&part[i]))
		}
		if err := j.load(&s.keys.KeyBatch, port); err != nil {
			return err
		}
		for i := range part {
			if e := &part[i]; j.counted {
				j.settleRow(port, e)
			} else {
				j.settleGroup(port, e)
			}
			if j.err != nil {
				return j.err
			}
		}
	}
	s.marks.reset()
	return j.flush()
}

func (j *Join) settleGroup(port int, e *mark) {
	s, o := &j.sides[port], &j.sides[1-port]
	key := s.marks.key(e)
	out := (o.Table.First(e.h, key) == 0) == (s.Alone == AloneUnmatched)
	if out == e.flag {
		return
	}
	for at := s.Table.First(e.h, key); at != 0 && j.err == nil; at = s.Table.Next(at) {
		j.settled(port, int(s.Table.Weight(at)), s.Table.Value(at), e.flag, out)
	}
}

func (j *Join) settleRow(port int, e *mark) {
	s := &j.sides[port]
	key, r := s.marks.key(e), s.marks.row(e)
	out := (s.Counts.Weigh(e.h, key, nil, r) == 0) == (s.Alone == AloneUnmatched)
	if out == e.flag {
		return
	}
	s.sub = keyenc.Append(s.sub[:0], r, s.Sub)
	j.settled(port, int(s.Table.Weigh(e.h, key, s.sub, r)), r, e.flag, out)
}
