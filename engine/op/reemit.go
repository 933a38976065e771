package op

import (
	"fmt"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
)

// Reemitter is an operator whose present result follows from its state.
type Reemitter interface {
	// Reemit pushes the whole present result on, as inserts. It is called between two epochs, when all state is
	// durable.
	Reemit() error
}

// Gate passes changes on while it is open.
type Gate struct {
	Closed *bool
	Next   Output
}

// Push implements Output.
func (g Gate) Push(b *changelog.Batch) error {
	if *g.Closed {
		return nil
	}
	return g.Next.Push(b)
}

// Reemit implements Reemitter.
func (n *NormaliseRows) Reemit() error {
	return n.table.Keys(func(k *state.KeyBatch) error {
		if err := n.Forget(k); err != nil {
			return err
		}
		for i := range k.Len() {
			if at := n.table.Find(k.Hash(i), k.Key(i), nil); at != 0 {
				n.out.AppendRow(changelog.Insert, n.table.Value(at))
			}
		}
		return flush(&n.out, n.next)
	})
}

// Reemit implements Reemitter.
func (a *Aggregate) Reemit() error {
	return a.spec.Table.Keys(func(k *state.KeyBatch) error {
		if err := a.load(k); err != nil {
			return err
		}
		for i := range k.Len() {
			if at := a.spec.Table.Find(k.Hash(i), k.Key(i), nil); at != 0 {
				a.show(&a.out, k.Hash(i), k.Key(i), a.spec.Table.Value(at))
			}
		}
		if a.failed != nil {
			return a.failed
		}
		return flush(&a.out, a.next)
	})
}

// Reemit implements Reemitter.
func (w *Window) Reemit() error {
	return w.spec.Table.Keys(func(k *state.KeyBatch) error {
		if err := w.load(k); err != nil {
			return err
		}
		for i := range k.Len() {
			if err := w.show(&w.out, k.Hash(i), k.Key(i)); err != nil {
				return err
			}
			if full(&w.out) {
				if err := flush(&w.out, w.next); err != nil {
					return err
				}
			}
		}
		return flush(&w.out, w.next)
	})
}

// Reemit implements Reemitter: the left rows give the pairs and what of them comes out alone, the right ones what of
// them does.
func (j *Join) Reemit() error {
	for port := range j.sides {
		s := &j.sides[port]
		if port == 1 && s.Alone == AloneNever {
			continue
		}
		err := s.Table.Keys(func(k *state.KeyBatch) error {
			if err := j.load(k, port); err != nil {
				return err
			}
			for i := range k.Len() {
				j.reemitGroup(port, k.Hash(i), k.Key(i))
				if j.err != nil {
					return j.err
				}
			}
			return j.flush()
		})
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return nil
}

func (j *Join) reemitGroup(port int, h uint64, key []byte) {
	s, o := &j.sides[port], &j.sides[1-port]
	for at := s.Table.First(h, key); at != 0 && j.err == nil; at = s.Table.Next(at) {
		r, weight := row.Row(s.Table.Value(at)), int(s.Table.Weight(at))
		matchable := s.Nulls == NullsNone || !keyenc.HasNull(r, s.Key)
		if port == 0 && !j.semi && matchable {
			j.matches(port, weight, r, h, key)
		}
		if s.Alone == AloneNever {
			continue
		}
		matched := matchable && o.Table.First(h, key) != 0
		if matchable && j.counted {
			matched = s.Counts.Weigh(h, key, nil, r) != 0
		}
		j.show(port, weight, r, matched != (s.Alone == AloneUnmatched))
	}
}
