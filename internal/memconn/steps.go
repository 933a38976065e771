package memconn

import (
	"slices"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
)

// steps makes the cuts of a job those that its events name, whatever the scheduler does: no reader reads an event
// of a step before all have been cut after the step before, and none is quiet before all have read their part. A
// cut for another reason (an epoch that is full or old, a checkpoint that is due) may still divide a step, and the
// readers get together again in a later one. Guarded by Hub.mu.
type steps struct {
	list    []int // those of the open tables' events, ascending; nil where events name none
	readers []*reader
}

// stepping is a reader's place in the steps. Its reader's goroutine changes it, under Hub.mu.
type stepping struct {
	step     int  // the last step whose events it may read
	complete int  // the last step it has read
	barriers int  // it has seen
	fresh    bool // it has read something since the last
}

// open takes the readers of a source in. All sources of a job are opened before one is read.
func (s *steps) open(src *source) {
	for p, events := range src.hub.tables[src.name] {
		for _, e := range events[src.at[p]:] {
			if i, ok := slices.BinarySearch(s.list, e.Step); !ok && e.Step > 0 {
				s.list = slices.Insert(s.list, i, e.Step)
			}
		}
	}
	s.readers = append(s.readers, src.readers...)
	for _, r := range s.readers {
		r.step = s.after(0)
	}
}

// after is the step that follows one; the step itself when it is the last.
func (s *steps) after(step int) int {
	if i, _ := slices.BinarySearch(s.list, step+1); i < len(s.list) {
		return s.list[i]
	}
	return step
}

// closed forgets the readers of a source: its job has ended.
func (h *Hub) closed(src *source) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.readers = slices.DeleteFunc(h.readers, func(r *reader) bool { return r.s == src })
	h.steps.readers = slices.DeleteFunc(h.steps.readers, func(r *reader) bool { return r.s == src })
	if len(h.steps.readers) == 0 {
		h.steps.list = nil
	}
}

// stepped tells whether events name their steps.
func (h *Hub) stepped() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.steps.list != nil
}

// stepEnd is where the reader's present step ends in a partition.
func (h *Hub) stepEnd(r *reader, p int) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	events := h.tables[r.s.name][p]
	if h.steps.list == nil {
		return int64(len(events))
	}
	n := r.s.at[p]
	for n < int64(len(events)) && events[n].Step <= r.step {
		n++
	}
	return n
}

// lingers notes that a reader has nothing more to read in its step, and tells whether it must look again before it
// may say so, since others have.
func (h *Hub) lingers(r *reader) bool {
	if r.limit != nil {
		return false
	}
	h.mu.Lock()
	lingers := h.steps.list != nil && h.steps.lingers(r)
	h.mu.Unlock()
	if lingers {
		time.Sleep(10 * time.Microsecond)
	}
	return lingers
}

func (s *steps) lingers(r *reader) bool {
	r.complete = r.step
	lingers, fresh := false, false
	for _, o := range s.readers {
		switch {
		case o.barriers > r.barriers: // a cut is on its way to this reader too
			return false
		case o.barriers == r.barriers && o.step > r.step: // a cut left this reader behind: it catches up
			r.step = s.after(r.step)
			return true
		}
		lingers = lingers || o.complete < r.step
		fresh = fresh || o.fresh
	}
	if lingers || fresh {
		return lingers
	}
	// A cut for another reason took all of this step: nothing is left that would have it cut.
	was := r.step
	if r.step = s.after(was); r.step == was {
		return false
	}
	for _, o := range s.readers {
		o.wake() // to follow
	}
	return true
}

// read notes that a reader has read something.
func (h *Hub) read(r *reader) {
	h.mu.Lock()
	r.fresh = true
	h.mu.Unlock()
}

// cut notes that an epoch was cut after the reader's last Read.
func (h *Hub) cut(r *reader) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r.barriers++
	r.fresh = false
	if r.limit == nil && r.complete == r.step {
		r.step = h.steps.after(r.step)
	}
	for _, o := range h.steps.readers {
		if o.barriers == r.barriers && o.step < r.step {
			o.wake() // it was cut in the midst of the step before, and has been quiet since
		}
	}
}

// resume sets the step with which a reader goes on after a replayed epoch that ends at the given positions: the
// first of which any open table has an event there.
func (h *Hub) resume(r *reader, pos []spi.Position) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r.step = 0
	for _, p := range pos {
		if h.tables[p.Topic] == nil {
			continue // the query's VALUES
		}
		if events := h.tables[p.Topic][p.Partition]; p.Offset < int64(len(events)) {
			if s := events[p.Offset].Step; r.step == 0 || s < r.step {
				r.step = s
			}
		}
	}
}
