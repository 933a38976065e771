package runtime

import "github.com/sluicesql/sluice/engine/changelog"

// staging gathers the input of a shard whose state is not all in memory, until the barrier comes or there is
// much of it, so that what is missing is read from disk in a few sorted passes: the more keys a pass has, the
// nearer to each other they lie, and one block read serves many. The order among the edges of an entry stays; that
// between entries means nothing within an epoch.
type staging struct {
	entries []changelog.Batch // by the instance's entry
	rows    int
	bytes   int
	limit   int
}

// A pass over more than maxStaging gains nothing.
const (
	minStaging = 64 << 10
	maxStaging = 32 << 20
)

// newStaging takes memory bytes, 0 for no bound but the largest that is of use.
func newStaging(entries int, memory int64) staging {
	if memory == 0 {
		memory = maxStaging
	}
	return staging{entries: make([]changelog.Batch, entries), limit: int(min(memory, maxStaging))}
}

// add copies b.
func (s *staging) add(entry int, b *changelog.Batch) {
	e := &s.entries[entry]
	for i := range b.Len() {
		e.AppendRow(b.Op(i), b.Row(i))
	}
	s.rows += b.Len()
	s.bytes += b.Size()
}

func (s *staging) empty() bool { return s.rows == 0 }

func (s *staging) full() bool { return s.bytes >= s.limit }

// push hands on what was staged.
func (s *staging) push(in *instance) error {
	for i := range s.entries {
		b := &s.entries[i]
		if b.Len() == 0 {
			continue
		}
		if err := in.entry[i].Push(b); err != nil {
			return err
		}
		b.Reset()
	}
	s.rows, s.bytes = 0, 0
	return nil
}
