package op

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
)

// runs are a Consolidate's means for an epoch that is larger than its memory: whenever that is full, what it holds
// is sorted and written as a run. At the barrier the runs are read as one, twice: equal rows have come together, and
// so have the rows of one key; the first time deletes are given, the second time the rest.
//
// A pair of a run has as key
//
//	the pairing key, if there is one | length of the row (4) | row | number of the run (4)
//
// so that neither is one row's key the beginning of another's, nor does a run hide what another says of the same
// row. Its value is the row's weight in the run and the length of the pairing key, as varints.
type runs struct {
	scratch *state.Scratch
	limit   int // bytes of rows in memory
	no      uint32

	arena []byte // keys of the run to be written
	items []runItem
	value []byte

	group []netRow // of the key being read
	n     int
}

type runItem struct {
	start, end uint32 // of its key in the arena
	pair       uint32 // bytes of its pairing key
	weight     int32
}

// netRow is a row with its weight in the whole epoch.
type netRow struct {
	key    []byte // what of its pair's key comes before the number of the run
	pair   int
	weight int
}

func (r *netRow) row() row.Row { return row.Row(r.key[r.pair+rowLength:]) }

const (
	rowLength = 4 // bytes of a row's length in a pair's key
	runNumber = 4 // bytes of the run's number
)

// SpillTo has the epoch's changes go to scratch whenever they take more than limit bytes, which must be below 1 GB. An
// update of an epoch that did comes out as a delete and an insert, unless a key is known.
func (c *Consolidate) SpillTo(scratch *state.Scratch, limit int) {
	c.runs = &runs{scratch: scratch, limit: limit}
}

// spill writes the changes in memory as a run.
func (c *Consolidate) spill() error {
	r, e := c.runs, &c.epoch
	r.arena, r.items = r.arena[:0], r.items[:0]
	for i := range e.Len() {
		start := len(r.arena)
		if c.spec.Pair != nil {
			r.arena = keyenc.Append(r.arena, e.Row(i), c.spec.Pair)
		}
		pair := len(r.arena) - start
		r.arena = binary.BigEndian.AppendUint32(r.arena, uint32(len(e.Row(i))))
		r.arena = append(r.arena, e.Row(i)...)
		r.items = append(r.items, runItem{uint32(start), uint32(len(r.arena)), uint32(pair), int32(e.Op(i).Weight())})
	}
	e.Reset()
	slices.SortFunc(r.items, func(x, y runItem) int { return bytes.Compare(r.key(x), r.key(y)) })
	r.sum()
	if len(r.items) == 0 {
		return nil
	}
	r.no++
	var key []byte
	err := r.scratch.WriteRun(len(r.items), func(i int) (k, v []byte) {
		it := r.items[i]
		key = binary.BigEndian.AppendUint32(append(key[:0], r.key(it)...), r.no)
		r.value = binary.AppendUvarint(binary.AppendVarint(r.value[:0], int64(it.weight)), uint64(it.pair))
		return key, r.value
	})
	if cap(r.arena) > keepBytes {
		r.arena = nil
	}
	return err
}

func (r *runs) key(it runItem) []byte { return r.arena[it.start:it.end] }

// sum adds up the weights of equal rows, which are neighbours, and leaves out those that come to nothing.
func (r *runs) sum() {
	kept := r.items[:0]
	for _, it := range r.items {
		if n := len(kept); n > 0 && bytes.Equal(r.key(kept[n-1]), r.key(it)) {
			if kept[n-1].weight += it.weight; kept[n-1].weight == 0 {
				kept = kept[:n-1]
			}
			continue
		}
		kept = append(kept, it)
	}
	r.items = kept
}

// finishRuns gives the net changes of an epoch that went through runs.
func (c *Consolidate) finishRuns(next Output) error {
	if err := c.spill(); err != nil {
		return err
	}
	push := c.pusher(next)
	for _, deletes := range []bool{true, false} {
		err := c.runs.each(c.spec.Pair != nil, func(rows []netRow) error {
			if c.spec.Pair == nil {
				return giveRow(&rows[0], deletes, push)
			}
			return c.giveKey(rows, deletes, push)
		})
		if err != nil {
			return err
		}
	}
	if err := flush(&c.out, next); err != nil {
		return err
	}
	c.runs.no = 0
	return c.runs.scratch.Clear()
}

// each calls f for the rows of each key that have a weight, or, unless byKey, for each such row.
func (r *runs) each(byKey bool, f func(rows []netRow) error) error {
	r.n = 0
	end := func() error {
		if r.n > 0 && r.group[r.n-1].weight == 0 {
			r.n--
		}
		if r.n == 0 {
			return nil
		}
		n := r.n
		r.n = 0
		return f(r.group[:n])
	}
	// The key of the present row must outlive its weight: rows that come to nothing still say what follows.
	var last, group []byte
	err := r.scratch.Each(func(key, value []byte) error {
		weight, n := binary.Varint(value)
		pair, m := binary.Uvarint(value[max(n, 0):])
		if n <= 0 || m <= 0 || uint64(len(key)) < pair+rowLength+runNumber {
			return state.Damaged("a run of the epoch's output holds a damaged entry: %x is %x", key, value)
		}
		id := key[:len(key)-runNumber]
		if r.n > 0 && bytes.Equal(id, last) {
			r.group[r.n-1].weight += int(weight)
			return nil
		}
		if !byKey || !bytes.Equal(id[:pair], group) {
			if err := end(); err != nil {
				return err
			}
			group = append(group[:0], id[:pair]...)
		} else if r.n > 0 && r.group[r.n-1].weight == 0 {
			r.n--
		}
		last = append(last[:0], id...)
		if r.n == len(r.group) {
			r.group = append(r.group, netRow{})
		}
		g := &r.group[r.n]
		g.key, g.pair, g.weight = append(g.key[:0], id...), int(pair), int(weight)
		r.n++
		return nil
	})
	if err != nil {
		return err
	}
	return end()
}

// giveRow gives a row without a key as often as it came or went.
func giveRow(r *netRow, deletes bool, push func(changelog.Op, row.Row) error) error {
	op, n := changelog.Insert, r.weight
	if deletes {
		op, n = changelog.Delete, -r.weight
	}
	for range n {
		if err := push(op, r.row()); err != nil {
			return err
		}
	}
	return nil
}

// giveKey gives what is left of a key: a delete, an insert or an update. Its rows come in the order of compareRows.
func (c *Consolidate) giveKey(rows []netRow, deletes bool, push func(changelog.Op, row.Row) error) error {
	var before, after *netRow
	for i := range rows {
		at := &after
		if rows[i].weight < 0 {
			at = &before
		}
		w := rows[i].weight
		if !c.spec.Choose && (*at != nil || w < -1 || w > 1) {
			return c.sameKey(cmp.Or(*at, &rows[i]).row(), rows[i].row(), w < 0)
		}
		*at = &rows[i]
	}
	switch {
	case deletes != (after == nil):
		return nil
	case deletes:
		return push(changelog.Delete, before.row())
	case before == nil:
		return push(changelog.Insert, after.row())
	case !c.spec.Upsert:
		if err := push(changelog.UpdateBefore, before.row()); err != nil {
			return err
		}
	}
	return push(changelog.UpdateAfter, after.row())
}
