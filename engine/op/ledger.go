package op

import (
	"fmt"
	"sync"

	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
)

// Ledger adds up what the checkers of all instances of one node saw, from the job's first epoch on: after every
// epoch no row may have a negative weight, and no unique key more than one row.
//
// That is asked of all instances together. Within one, a key may well be held twice for a while: its row moves
// to another shard, and the instance there is an epoch ahead. An epoch is judged when the last instance has ended
// it; instances end epochs in order, and so epochs are judged in order too. Of an upsert stream the rows are its
// upsert keys, added when they were not there and taken away when they were.
//
// A source that breaks its promises makes every node behind it break theirs; so where the input is meant to be
// untrue, the node that is to notice has to be asked first.
type Ledger struct {
	spec   *CheckSpec
	keys   [][]keyenc.Column
	mu     sync.Mutex
	open   map[uint64]*openPage
	rows   page
	counts []map[string]int // for each unique key, the number of rows that have it
}

// page is a sum of weights by row.
type page map[string]int

type openPage struct {
	sum  page
	from int // number of instances that have ended the epoch
}

// NewLedger returns the ledger of a node of spec.Width instances.
func NewLedger(spec *CheckSpec) *Ledger {
	l := &Ledger{spec: spec, open: map[uint64]*openPage{}, rows: page{}}
	for _, k := range spec.Keys {
		l.keys = append(l.keys, keyenc.Columns(spec.Types, k))
		l.counts = append(l.counts, map[string]int{})
	}
	return l
}

// add takes what one instance saw in an epoch, and judges the epoch when it is the last to.
func (l *Ledger) add(epoch uint64, p page) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.open[epoch]
	if o == nil {
		o = &openPage{sum: page{}}
		l.open[epoch] = o
	}
	for r, w := range p {
		o.sum[r] += w
	}
	if o.from++; o.from < l.spec.Width {
		return nil
	}
	delete(l.open, epoch)
	return l.judge(epoch, o.sum)
}

func (l *Ledger) judge(epoch uint64, p page) error {
	var enc []byte
	for r, w := range p {
		if w == 0 {
			continue
		}
		if l.rows[r] += w; l.rows[r] == 0 {
			delete(l.rows, r)
		}
		for i, k := range l.keys {
			enc = keyenc.Append(enc[:0], row.Row(r), k)
			if l.counts[i][string(enc)] += w; l.counts[i][string(enc)] == 0 {
				delete(l.counts[i], string(enc))
			}
		}
	}
	for r, w := range p {
		if n := l.rows[r]; n < 0 {
			return fmt.Errorf("%s: after epoch %d, %s has weight %d", l.spec.Name, epoch, l.spec.Describe(row.Row(r)), n)
		} else if w <= 0 {
			continue
		}
		for i, k := range l.keys {
			enc = keyenc.Append(enc[:0], row.Row(r), k)
			if n := l.counts[i][string(enc)]; n > 1 {
				return fmt.Errorf("%s: after epoch %d, %d rows have the unique key %v of %s", l.spec.Name, epoch, n, l.spec.Keys[i], l.spec.Describe(row.Row(r)))
			}
		}
	}
	return nil
}
