package memconn

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
)

// Ledger is what a transactional sink holds, whichever job writes it: 'transactional' = 'true'.
type Ledger struct {
	mu      sync.Mutex
	found   bool
	marker  spi.Marker
	changes []Change
	markers []spi.Marker // of all transactions that had changes, in order
	fence   int          // who fenced last
	once    string       // the step at which the sink fails once; empty for none
	why     error

	// Fail, when set, is asked before anything is done: "marker", "fence", "deliver", and "delivered" when all is
	// visible and the caller does not know it yet. It must be set before a job starts.
	Fail func(step string) error
}

// Ledger returns the transactional sink of that name.
func (h *Hub) Ledger(name string) *Ledger {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.ledgers[name]
	if l == nil {
		l = &Ledger{}
		h.ledgers[name] = l
	}
	return l
}

// Changes are all changes delivered so far.
func (l *Ledger) Changes() []Change {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.changes)
}

// Markers are the markers of the transactions that brought them.
func (l *Ledger) Markers() []spi.Marker {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.markers)
}

// Marker is the last marker stored.
func (l *Ledger) Marker() (spi.Marker, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.marker, l.found
}

// SetMarker stores a marker, or takes it away, as somebody else might.
func (l *Ledger) SetMarker(m spi.Marker, found bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.marker, l.found = m, found
}

// Steal fences whoever writes the sink, as another process would.
func (l *Ledger) Steal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fence++
}

// FailOnce has the sink fail the next time it comes to a step (see Fail); an empty one takes that back. It reports
// whether a failure asked for before has not come.
func (l *Ledger) FailOnce(step string, err error) (pending bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	pending = l.once != ""
	l.once, l.why = step, err
	return pending
}

func (l *Ledger) fail(step string) error {
	l.mu.Lock()
	if l.once == step && step != "" {
		err := l.why
		l.once = ""
		l.mu.Unlock()
		return err
	}
	l.mu.Unlock()
	if l.Fail == nil {
		return nil
	}
	return l.Fail(step)
}

// ledgerSink is an open Ledger.
type ledgerSink struct {
	l    *Ledger
	mine int
}

func (s *ledgerSink) Writer(int) spi.Writer { panic("memconn: a transactional sink has no writers") }
func (s *ledgerSink) Stats() spi.SinkStats  { return spi.SinkStats{} }
func (s *ledgerSink) Close() error          { return nil }
func (s *ledgerSink) Packer(int) spi.Packer { return &packer{} }
func (s *ledgerSink) Marker(context.Context) (spi.Marker, bool, error) {
	if err := s.l.fail("marker"); err != nil {
		return spi.Marker{}, false, err
	}
	m, found := s.l.Marker()
	return m, found, nil
}

func (s *ledgerSink) Fence(context.Context) error {
	if err := s.l.fail("fence"); err != nil {
		return err
	}
	s.l.mu.Lock()
	defer s.l.mu.Unlock()
	s.l.fence++
	s.mine = s.l.fence
	return nil
}

// errFenced ends who delivers although another has fenced.
var errFenced = errors.New("fenced: another process writes this sink")

func (s *ledgerSink) Deliver(ctx context.Context, m spi.Marker, blocks spi.Blocks) error {
	if err := s.l.fail("deliver"); err != nil {
		return err
	}
	var changes []Change
	for b, err := range blocks {
		if err != nil {
			return err
		}
		for len(b) > 0 {
			n := binary.LittleEndian.Uint32(b[1:])
			changes = append(changes, Change{changelog.Op(b[0]), append(row.Row(nil), b[5:5+n]...)})
			b = b[5+n:]
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	l := s.l
	l.mu.Lock()
	if s.mine != l.fence {
		l.mu.Unlock()
		return errFenced
	}
	if l.found && l.marker.Job == m.Job && m.Before(l.marker) {
		l.mu.Unlock()
		return fmt.Errorf("marker %v after %v", m, l.marker)
	}
	l.marker, l.found = m, true
	l.changes = append(l.changes, changes...)
	if len(changes) > 0 {
		l.markers = append(l.markers, m)
	}
	l.mu.Unlock()
	return l.fail("delivered")
}

// packer makes a block of every few changes.
type packer struct{ buf []byte }

const packedBlock = 200

func (p *packer) Pack(b *changelog.Batch, out spi.Outbox) error {
	for i := range b.Len() {
		p.buf = append(p.buf, byte(b.Op(i)))
		p.buf = binary.LittleEndian.AppendUint32(p.buf, uint32(len(b.Row(i))))
		p.buf = append(p.buf, b.Row(i)...)
		if len(p.buf) >= packedBlock {
			if err := p.Flush(out); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *packer) Flush(out spi.Outbox) error {
	if len(p.buf) == 0 {
		return nil
	}
	err := out.Append(p.buf)
	p.buf = p.buf[:0]
	return err
}
