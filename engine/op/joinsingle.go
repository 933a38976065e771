package op

import (
	"slices"
	"strings"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/internal/fault"
)

// A scalar subquery is joined to the rows around it, each of which may have one match. Within an epoch it may have
// more, so that what might be wrong is noted and looked at again at the barrier.

// watch notes a key under which the right side has more than one row.
func (j *Join) watch(h uint64, key []byte) {
	if several(j.sides[1].Table, h, key) {
		if l := &j.sides[0]; l.many.find(h, key, nil) == nil {
			l.many.add(h, key, nil, true)
		}
	}
}

// watchRow notes a left row that has more than one match.
func (j *Join) watchRow(port, matches int, r row.Row, h uint64, key []byte) {
	if matches <= 1 || port != 0 || j.sides[1].Single == "" {
		return
	}
	if l := &j.sides[0]; l.many.find(h, key, r) == nil {
		l.many.add(h, key, r, true)
	}
}

// several reports whether a group has more than one row.
func several(t *state.Table, h uint64, key []byte) bool {
	at := t.First(h, key)
	return at != 0 && (t.Weight(at) > 1 || t.Next(at) != 0)
}

const severalHint = "have its condition leave one row, or take one value of several, as by MAX"

// checkSingle refuses a left row with several matches.
func (j *Join) checkSingle() error {
	l, r := &j.sides[0], &j.sides[1]
	for i := range l.many.list {
		e := &l.many.list[i]
		key := l.many.key(e)
		l.keys.Reset()
		l.keys.Add(key)
		if err := j.load(&l.keys.KeyBatch, 0); err != nil {
			return err
		}
		if j.counted {
			if m := l.many.row(e); l.Counts.Weigh(e.h, key, nil, m) > 1 {
				return fault.Errorf(fault.RowSeveral, "%s gives more than one row for %s, where one value is needed", r.Single, l.Describe(m)).Fix(severalHint)
			}
			continue
		}
		if l.Table.First(e.h, key) != 0 && several(r.Table, e.h, key) {
			return fault.Errorf(fault.RowSeveral, "%s gives more than one row where one value is needed: %s", r.Single, r.few(e.h, key)).Fix(severalHint)
		}
	}
	l.many.reset()
	return nil
}

// few describes some rows of a group, in the order of their descriptions.
func (s *JoinSide) few(h uint64, key []byte) string {
	var rows []string
	const most = 3
	for at := s.Table.First(h, key); at != 0 && len(rows) < most; at = s.Table.Next(at) {
		for n := s.Table.Weight(at); n > 0 && len(rows) < most; n-- {
			rows = append(rows, s.Describe(s.Table.Value(at)))
		}
	}
	slices.Sort(rows)
	return strings.Join(rows, "; ")
}
