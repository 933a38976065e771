package op

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
)

// JoinSide is one input of a Join and its state.
type JoinSide struct {
	Table *state.Table
	// Key are the join key's columns; Sub those of the unique key that are not in it; Bag says that there is
	// no unique key.
	Key, Sub []keyenc.Column
	Bag      bool
	// Upsert says that the input is an upsert stream by Key and Sub, which the state turns into changes.
	Upsert bool
	// Completer completes rows of an upsert stream of which values were left out; nil for none.
	Completer *Completer
	// Alone says which of the side's rows come out by themselves, with NULLs for the other side's columns.
	Alone Alone
	// Counts is a bag of its own, for a side with Alone under a residual condition.
	Counts *state.Table
	// Single is of the right side of a left join: a left row may have one match at most. It is what an error calls
	// the side; empty where any number is right.
	Single string
	// Nulls says that rows with a NULL in their key come; Scatter are the columns by which they are divided
	// among the shards in addition to Key.
	Nulls   Nulls
	Scatter []keyenc.Column
	// Name and Describe tell of the input and of its rows in errors.
	Name     string
	Describe func(row.Row) string

	keys  keyBatch
	sub   []byte
	sub2  []byte
	own   []byte
	marks marks // of a side with Alone
	many  marks // of a left side: the keys or rows that may have several matches where one is allowed

	suspects marks // of a timed table, see forget.go
	amends   changelog.Batch
}

// Nulls says what a join does with the rows of a side that have a NULL in their key, and so no match.
type Nulls uint8

const (
	// NullsNone says that there are none.
	NullsNone Nulls = iota
	// NullsDropped says that they are passed over.
	NullsDropped
	// NullsKept says that the side's rows without a match come out alone, and so do these.
	NullsKept
)

// Join is the keyed join: inner, outer, semi and anti. For what comes out of rows alone, see joinalone.go.
//
// A batch is processed as a whole: its groups of both sides are loaded; then, change by change, the other
// side's group gives the matches, and the change is applied to its own side. As one shard does one batch at
// a time, a change sees exactly the changes of the other side that came before it, and every pair of changes
// of an epoch is joined exactly once, whatever their order.
//
// Entries have weights. Behind another operator's exchange the delete of a row may come after the insert of
// its successor, so that within an epoch a unique key can hold two rows or a negative weight; at the barrier
// it holds none or one.
type Join struct {
	sides   [2]JoinSide
	combine *Combine
	on      *Combine // holds the residual condition
	next    Output
	out     changelog.Batch
	err     error
	semi    bool // no pairs come out
	alone   bool // a side has Alone
	timed   bool // state has a time to live
	counted bool // and the residual condition makes its matches be counted

	markRows [2]row.Row // FALSE and TRUE

	// UnknownDeletes counts the deletes of upsert streams that deleted nothing.
	UnknownDeletes int64
}

// NewJoin returns a join whose results combine makes: the matching pairs, and the rows that its sides give alone.
func NewJoin(left, right JoinSide, combine *Combine, next Output) *Join {
	j := &Join{sides: [2]JoinSide{left, right}, combine: combine, on: combine, next: next}
	j.timed = left.Table.Timed()
	j.alone = left.Alone != AloneNever || right.Alone != AloneNever
	j.counted = j.alone && combine.residual != nil
	return j
}

// NewSemiJoin returns a join that gives left rows alone and no pairs, as left.Alone says: a semi join, an anti join or
// a join that marks. on holds the residual condition, nil for none. show makes the results of left rows and, where they
// are marked, of a second row of one BOOLEAN.
func NewSemiJoin(left, right JoinSide, on, show *Combine, next Output) *Join {
	j := &Join{sides: [2]JoinSide{left, right}, combine: show, on: on, next: next, semi: true, alone: true, timed: left.Table.Timed(), counted: on != nil}
	for i := range j.markRows {
		var b row.Builder
		b.Begin(nil, 1)
		b.Bool(0, i == 1)
		j.markRows[i] = b.Finish(nil)
	}
	return j
}

// Port is the Output for the left (0) or right (1) input.
func (j *Join) Port(i int) Output { return port{j, i} }

func (j *Join) push(port int, b *changelog.Batch) error {
	s := &j.sides[port]
	if s.Nulls == NullsNone {
		s.keys.fill(b, s.Key)
	} else {
		s.keys.fillNulls(b, s.Key, s.Scatter)
	}
	if err := j.load(&s.keys.KeyBatch, 1-port); err != nil {
		return err
	}
	n := b.Len()
	for i := 0; i < n; i++ {
		op, r := b.Op(i), b.Row(i)
		h, key := s.keys.Hash(i), s.keys.Key(i)
		switch {
		case s.Nulls != NullsNone && s.keys.null[i]:
			if s.Nulls == NullsKept {
				j.unmatchable(port, op, r, h, key)
				s.suspect(h, key)
			}
		case s.Upsert:
			j.upsert(port, op, r, h, key)
		case op == changelog.UpdateBefore && i+1 < n && b.Op(i+1) == changelog.UpdateAfter && bytes.Equal(key, s.keys.Key(i+1)):
			i++
			j.update(port, r, b.Row(i), h, key)
			s.suspect(h, key)
		default:
			j.change(port, op.Weight(), r, h, key)
			s.suspect(h, key)
		}
		if j.err != nil {
			return j.err
		}
		if j.sides[1].Single != "" && !j.counted {
			j.watch(h, key)
		}
	}
	return j.flush()
}

// change applies an insert or a delete of a row with a key.
func (j *Join) change(port, weight int, r row.Row, h uint64, key []byte) {
	if j.alone {
		j.changeAlone(port, weight, r, h, key)
		return
	}
	s := &j.sides[port]
	j.matches(port, weight, r, h, key)
	s.sub = keyenc.Append(s.sub[:0], r, s.Sub)
	s.Table.Add(h, key, s.sub, r, int32(weight))
}

// apply applies an insert or a delete.
func (j *Join) apply(port int, op changelog.Op, r row.Row, h uint64, key []byte) {
	if s := &j.sides[port]; s.Nulls != NullsNone && keyenc.HasNull(r, s.Key) {
		j.unmatchable(port, op, r, h, key)
		return
	}
	j.change(port, op.Weight(), r, h, key)
}

// flush hands on what the join has made, unless making it failed.
func (j *Join) flush() error {
	if j.combine.err != nil {
		return j.combine.err
	}
	if j.on != nil && j.on.err != nil {
		return j.on.err
	}
	return flush(&j.out, j.next)
}

// load makes the groups of keys resident, those of the side first and then the other one's.
func (j *Join) load(k *state.KeyBatch, first int) error {
	for _, p := range [2]int{first, 1 - first} {
		s := &j.sides[p]
		if err := s.Table.Load(k); err != nil {
			return err
		}
		if s.Counts != nil {
			if err := s.Counts.Load(k); err != nil {
				return err
			}
		}
	}
	if j.timed {
		j.expire(k)
	}
	return nil
}

// upsert turns a change of an upsert stream into the difference that it makes.
func (j *Join) upsert(port int, op changelog.Op, r row.Row, h uint64, key []byte) {
	s := &j.sides[port]
	var at state.Ref
	if at, r, j.err = s.stored(op, r, h, key); j.err != nil {
		return
	}
	switch {
	case op == changelog.Delete && at == 0:
		j.UnknownDeletes++
	case j.alone:
		j.upsertAlone(port, op, at, r, h, key)
	case op == changelog.Delete:
		j.matches(port, -1, s.Table.Value(at), h, key)
		s.Table.Delete(at)
	case at == 0:
		j.matches(port, +1, r, h, key)
		s.Table.Put(h, key, s.sub, r)
	default:
		old := row.Row(s.Table.Value(at))
		if bytes.Equal(old, r) {
			return // delivered again, or an update of columns that are not in use
		}
		j.pairs(port, old, r, h, key)
		s.Table.Put(h, key, s.sub, r)
	}
}

// stored is where the side of an upsert stream keeps the row of r's key, 0 for nowhere, and r with the values that were
// left out. s.sub is r's sub key afterwards.
func (s *JoinSide) stored(op changelog.Op, r row.Row, h uint64, key []byte) (state.Ref, row.Row, error) {
	s.sub = keyenc.Append(s.sub[:0], r, s.Sub)
	at := s.Table.Find(h, key, s.sub)
	if s.Completer == nil || op == changelog.Delete {
		return at, r, nil
	}
	var old row.Row
	if at != 0 {
		old = s.Table.Value(at)
	}
	r, err := s.Completer.complete(r, old)
	return at, r, err
}

// update applies an update that stays in its join key's group.
func (j *Join) update(port int, before, after row.Row, h uint64, key []byte) {
	if bytes.Equal(before, after) {
		return
	}
	if j.alone {
		j.updateAlone(port, before, after, h, key)
		return
	}
	j.pairs(port, before, after, h, key)
	j.sides[port].applyUpdate(before, after, h, key)
}

// applyUpdate replaces a row of a group.
func (s *JoinSide) applyUpdate(before, after row.Row, h uint64, key []byte) {
	s.sub = keyenc.Append(s.sub[:0], before, s.Sub)
	if !s.Bag && s.Table.Conflicts() == 0 {
		// The usual case in one step: the row before is there, once and alone under its unique key, and the row
		// after has the same. (Beside it there may be a row that another shard sent early, which Put would drop.)
		s.sub2 = keyenc.Append(s.sub2[:0], after, s.Sub)
		if bytes.Equal(s.sub, s.sub2) {
			if at := s.Table.Find(h, key, s.sub); at != 0 && s.Table.Weight(at) == 1 && bytes.Equal(s.Table.Value(at), before) {
				s.Table.Put(h, key, s.sub, after)
				return
			}
		}
	}
	s.Table.Add(h, key, s.sub, before, -1)
	s.sub = keyenc.Append(s.sub[:0], after, s.Sub)
	s.Table.Add(h, key, s.sub, after, +1)
}

// matches emits r, with the given weight, joined with its matches on the other side.
func (j *Join) matches(port, weight int, r row.Row, h uint64, key []byte) {
	o := j.sides[1-port].Table
	for at := o.First(h, key); at != 0; at = o.Next(at) {
		w := weight * int(o.Weight(at))
		op := changelog.Insert
		if w < 0 {
			op, w = changelog.Delete, -w
		}
		m := row.Row(o.Value(at))
		for range w {
			j.emit(port, op, r, m)
		}
		j.spill()
	}
}

// pairs emits the difference that replacing before by after makes, as one update for each match.
func (j *Join) pairs(port int, before, after row.Row, h uint64, key []byte) {
	o := j.sides[1-port].Table
	for at := o.First(h, key); at != 0; at = o.Next(at) {
		w := int(o.Weight(at))
		m := row.Row(o.Value(at))
		if w == 1 {
			j.pair(port, before, after, m)
		} else {
			for range w {
				j.emit(port, changelog.Delete, before, m)
				j.emit(port, changelog.Insert, after, m)
			}
			for range -w {
				j.emit(port, changelog.Insert, before, m)
				j.emit(port, changelog.Delete, after, m)
			}
		}
		j.spill()
	}
}

// pair emits one update. A residual condition may hold for one half alone, which is then a delete or an
// insert.
func (j *Join) pair(port int, before, after, m row.Row) {
	at := j.out.Len()
	j.emit(port, changelog.UpdateBefore, before, m)
	was := j.out.Len() > at
	j.emit(port, pick(was, changelog.UpdateAfter, changelog.Insert), after, m)
	if was && j.out.Len() == at+1 {
		j.out.SetOp(at, changelog.Delete)
	}
}

func (j *Join) emit(port int, op changelog.Op, r, m row.Row) {
	if port == 0 {
		j.combine.append(&j.out, op, r, m)
	} else {
		j.combine.append(&j.out, op, m, r)
	}
}

// spill hands on a full output batch in the middle of an input batch: a key with a million matches must not
// build one batch of a million rows.
func (j *Join) spill() {
	if full(&j.out) && j.err == nil {
		j.err = flush(&j.out, j.next)
	}
}

// Barrier implements Operator: it checks that no row was taken away that was not there, and that no unique key
// has two rows, and gives the rows alone that the epoch brought or took away.
func (j *Join) Barrier() error {
	if j.timed {
		if err := j.mend(); err != nil {
			return err
		}
	}
	for i := range j.sides {
		s := &j.sides[i]
		if s.Table.Negatives() > 0 || s.Table.Conflicts() > 0 {
			return s.broken()
		}
	}
	if j.sides[1].Single != "" {
		if err := j.checkSingle(); err != nil {
			return err
		}
	}
	for i := range j.sides {
		if j.sides[i].Alone != AloneNever {
			if err := j.settle(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// broken names rows that show that the side's input is not a changelog.
func (s *JoinSide) broken() error {
	var rows []string
	const few = 3
	for _, at := range s.Table.Offenders(few) {
		text := s.Describe(s.Table.Value(at))
		if w := s.Table.Weight(at); w < -1 || w > 1 {
			text = fmt.Sprintf("%s ×%d", text, max(w, -w))
		}
		rows = append(rows, text)
	}
	what := "holds several rows of one unique key"
	if s.Table.Negatives() > 0 {
		what = "took away rows that it had not given before"
	}
	return contradiction("%s %s: %s", s.Name, what, strings.Join(rows, "; "))
}
