package op

import (
	"bytes"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/engine/types"
)

// JoinMany is the inner join of three inputs or more by one key. A row meets every combination of rows of the other
// inputs that have its key, so that nothing has to be kept of what a join of two of them would give. Of the
// changes of an epoch each meets those that came before it, as in Join, and so every combination is counted once.
type JoinMany struct {
	sides   []JoinSide
	combine *combineMany
	next    Output
	out     changelog.Batch
	err     error

	// The change that is being joined: its input, the row before and after it, nil for none.
	port          int
	before, after row.Row
	rows          []row.Row   // a combination in the making
	first         []state.Ref // of each input's group

	// UnknownDeletes counts the deletes of upsert streams that deleted nothing.
	UnknownDeletes int64
}

// NewJoinMany returns the join of inputs of the given types; residual and project, over the columns of all inputs side
// by side, may be nil.
func NewJoinMany(ctx *expr.Ctx, sides []JoinSide, ins [][]types.Type, residual expr.Expr, project []expr.Expr, next Output) (*JoinMany, error) {
	c, err := newCombineMany(ctx, ins, residual, project)
	if err != nil {
		return nil, err
	}
	return &JoinMany{sides: sides, combine: c, next: next, rows: make([]row.Row, len(sides)), first: make([]state.Ref, len(sides))}, nil
}

// Port is the Output for input i.
func (j *JoinMany) Port(i int) Output { return port{j, i} }

func (j *JoinMany) push(port int, b *changelog.Batch) error {
	s := &j.sides[port]
	if s.Nulls == NullsNone {
		s.keys.fill(b, s.Key)
	} else {
		s.keys.fillNulls(b, s.Key, nil)
	}
	if err := j.load(&s.keys.KeyBatch); err != nil {
		return err
	}
	n := b.Len()
	for i := 0; i < n; i++ {
		op, r := b.Op(i), b.Row(i)
		h, key := s.keys.Hash(i), s.keys.Key(i)
		switch {
		case s.Nulls != NullsNone && s.keys.null[i]:
		case s.Upsert:
			j.upsert(port, op, r, h, key)
		case op == changelog.UpdateBefore && i+1 < n && b.Op(i+1) == changelog.UpdateAfter && bytes.Equal(key, s.keys.Key(i+1)):
			i++
			if after := b.Row(i); !bytes.Equal(r, after) {
				j.change(port, +1, r, after, h, key)
				s.applyUpdate(r, after, h, key)
				s.suspect(h, key)
			}
		default:
			j.apply(port, op, r, h, key)
			s.suspect(h, key)
		}
		if j.err != nil {
			return j.err
		}
	}
	return j.flush()
}

// apply applies an insert or a delete.
func (j *JoinMany) apply(port int, op changelog.Op, r row.Row, h uint64, key []byte) {
	s := &j.sides[port]
	if op.Negative() {
		j.change(port, +1, r, nil, h, key)
	} else {
		j.change(port, +1, nil, r, h, key)
	}
	s.sub = keyenc.Append(s.sub[:0], r, s.Sub)
	s.Table.Add(h, key, s.sub, r, int32(op.Weight()))
}

func (j *JoinMany) load(k *state.KeyBatch) error {
	for i := range j.sides {
		if err := loadTimed(j.sides[i].Table, k); err != nil {
			return err
		}
	}
	return nil
}

func (j *JoinMany) flush() error {
	if j.combine.err != nil {
		return j.combine.err
	}
	return flush(&j.out, j.next)
}

// upsert turns a change of an upsert stream into the difference that it makes.
func (j *JoinMany) upsert(port int, op changelog.Op, r row.Row, h uint64, key []byte) {
	s := &j.sides[port]
	var at state.Ref
	if at, r, j.err = s.stored(op, r, h, key); j.err != nil {
		return
	}
	switch {
	case op == changelog.Delete && at == 0:
		j.UnknownDeletes++
	case op == changelog.Delete:
		j.change(port, +1, s.Table.Value(at), nil, h, key)
		s.Table.Delete(at)
	case at == 0:
		j.change(port, +1, nil, r, h, key)
		s.Table.Put(h, key, s.sub, r)
	default:
		if old := row.Row(s.Table.Value(at)); !bytes.Equal(old, r) {
			j.change(port, +1, old, r, h, key)
			s.Table.Put(h, key, s.sub, r)
		}
	}
}

// change emits the difference that replacing before by after makes, weight times.
func (j *JoinMany) change(port, weight int, before, after row.Row, h uint64, key []byte) {
	for i := range j.sides {
		if i == port {
			continue
		}
		if j.first[i] = j.sides[i].Table.First(h, key); j.first[i] == 0 {
			return
		}
	}
	j.port, j.before, j.after = port, before, after
	j.walk(0, weight)
}

// walk completes the combination of the inputs before i in all ways.
func (j *JoinMany) walk(i, weight int) {
	if i == j.port {
		i++
	}
	if i == len(j.sides) {
		j.give(weight)
		return
	}
	t := j.sides[i].Table
	for at := j.first[i]; at != 0 && j.err == nil; at = t.Next(at) {
		j.rows[i] = t.Value(at)
		j.walk(i+1, weight*int(t.Weight(at)))
	}
}

// give emits what the change makes of a combination.
func (j *JoinMany) give(weight int) {
	switch {
	case j.before != nil && j.after != nil && weight == 1:
		j.pair()
	case weight > 0:
		j.emit(changelog.Delete, j.before, weight)
		j.emit(changelog.Insert, j.after, weight)
	default:
		j.emit(changelog.Insert, j.before, -weight)
		j.emit(changelog.Delete, j.after, -weight)
	}
	if full(&j.out) && j.err == nil {
		j.err = j.flush()
	}
}

func (j *JoinMany) emit(op changelog.Op, r row.Row, times int) {
	if r == nil {
		return
	}
	j.rows[j.port] = r
	for range times {
		j.combine.append(&j.out, op, j.rows)
	}
}

// pair emits one update. A residual condition may hold for one half alone, which is then a delete or an insert.
func (j *JoinMany) pair() {
	at := j.out.Len()
	j.rows[j.port] = j.before
	was := j.combine.append(&j.out, changelog.UpdateBefore, j.rows)
	j.rows[j.port] = j.after
	is := j.combine.append(&j.out, pick(was, changelog.UpdateAfter, changelog.Insert), j.rows)
	if was && !is {
		j.out.SetOp(at, changelog.Delete)
	}
}

// Barrier implements Operator: it checks the inputs as Join does.
func (j *JoinMany) Barrier() error {
	if j.sides[0].Table.Timed() {
		if err := j.mend(); err != nil {
			return err
		}
	}
	for i := range j.sides {
		if s := &j.sides[i]; s.Table.Negatives() > 0 || s.Table.Conflicts() > 0 {
			return s.broken()
		}
	}
	return nil
}

// Reemit implements Reemitter.
func (j *JoinMany) Reemit() error {
	s := &j.sides[0]
	return s.Table.Keys(func(k *state.KeyBatch) error {
		if err := j.load(k); err != nil {
			return err
		}
		for i := range k.Len() {
			h, key := k.Hash(i), k.Key(i)
			for at := s.Table.First(h, key); at != 0; at = s.Table.Next(at) {
				if j.change(0, int(s.Table.Weight(at)), nil, s.Table.Value(at), h, key); j.err != nil {
					return j.err
				}
			}
		}
		return j.flush()
	})
}
