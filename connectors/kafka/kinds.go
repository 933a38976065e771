package kafka

import (
	"fmt"

	"github.com/sluicesql/sluice/connectors/spi"
)

// countKinds tells the source of the records without a change that the decoder has met since the last call.
func (r *reader) countKinds() {
	d, ok := r.value.(spi.KindCounter)
	if !ok {
		return
	}
	s := r.src
	s.mu.Lock()
	defer s.mu.Unlock()
	d.NoChange(func(kind string, n int64) {
		if more := n - r.noChange[kind]; more > 0 {
			s.noChange[kind] += more
			r.noChange[kind] = n
		}
	})
}

// warn gives a decoder's warning, with the place of the record at hand, once for all partitions.
func (r *reader) warn(msg string) {
	s := r.src
	s.mu.Lock()
	given := s.warned[msg]
	s.warned[msg] = true
	s.mu.Unlock()
	if !given {
		s.warn(fmt.Sprintf("kafka %s: %s", r.place(), msg))
	}
}

// unknown notes a field that the table does not declare.
func (r *reader) unknown(field string) {
	s := r.src
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.unknown[field]; !ok {
		s.unknown[field] = r.place()
	}
}

// place is where the record at hand lies.
func (r *reader) place() string { return fmt.Sprintf("%s@%d", r.cur.part, r.cur.rec.offset) }
