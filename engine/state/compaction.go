package state

import (
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// patience is Pebble's compaction scheduler: one compaction at a time, and none before it pays.
//
// Every commit is a sorted table over the whole key space, so that a compaction of level 0 rewrites all
// that lies below it. Left to itself, Pebble does that every few commits, at several times the cost of the
// commits themselves. While all state is in memory, nothing is read before the next start, and it can wait
// until level 0 is as large as the rest: then each row is rewritten about once for every time the state
// doubles or is written anew. Once state is colder than memory, Loads read through level 0, and Pebble's
// own threshold holds.
type patience struct {
	db pebble.DBForCompaction

	mu      sync.Mutex
	calls   *sync.Cond // asking is false again
	asking  bool       // in a call to db
	due     bool
	running bool
	closed  bool
}

const (
	l0Threshold  = 8         // sublevels from which Pebble wants to compact level 0
	l0Patience   = 64        // sublevels above which it must
	l0MinPatient = 256 << 20 // bytes of level 0 that are no reason to hurry
)

func newPatience() *patience {
	p := &patience{}
	p.calls = sync.NewCond(&p.mu)
	return p
}

// weigh decides, after a commit, whether compactions may run.
func (p *patience) weigh(m *pebble.Metrics, cold bool) {
	l0, below := m.Levels[0], int64(0)
	for _, l := range m.Levels[1:] {
		below += l.TablesSize
	}
	due := cold || int(l0.Sublevels) >= l0Patience || l0.TablesSize >= max(below, l0MinPatient)
	p.mu.Lock()
	p.due = due
	p.mu.Unlock()
	p.ask()
}

// ask offers Pebble a compaction. It calls Pebble without holding mu, which comes after Pebble's own.
func (p *patience) ask() {
	p.mu.Lock()
	if p.asking || p.running || p.closed || !p.due || p.db == nil {
		p.mu.Unlock()
		return
	}
	p.asking, p.running = true, true
	p.mu.Unlock()
	waiting, _ := p.db.GetWaitingCompaction()
	granted := waiting && p.db.Schedule(p)
	p.mu.Lock()
	p.asking = false
	if !granted {
		p.running = false
	}
	p.calls.Broadcast()
	p.mu.Unlock()
}

// Register implements pebble.CompactionScheduler.
func (p *patience) Register(_ int, db pebble.DBForCompaction) { p.db = db }

// Unregister implements pebble.CompactionScheduler; it returns when no call to the DB is under way.
func (p *patience) Unregister() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for p.asking {
		p.calls.Wait()
	}
}

// stop lets no compaction start any more.
func (p *patience) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

// TrySchedule implements pebble.CompactionScheduler.
func (p *patience) TrySchedule() (bool, pebble.CompactionGrantHandle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running || p.closed || !p.due {
		return false, nil
	}
	p.running = true
	return true, p
}

// UpdateGetAllowedWithoutPermission implements pebble.CompactionScheduler.
func (p *patience) UpdateGetAllowedWithoutPermission() {}

// Started implements pebble.CompactionGrantHandle.
func (p *patience) Started() {}

// MeasureCPU implements pebble.CompactionGrantHandle.
func (p *patience) MeasureCPU(pebble.CompactionGoroutineKind) {}

// CumulativeStats implements pebble.CompactionGrantHandle.
func (p *patience) CumulativeStats(pebble.CompactionGrantHandleStats) {}

// Done implements pebble.CompactionGrantHandle: the next one may start.
func (p *patience) Done() {
	p.mu.Lock()
	p.running = false
	p.mu.Unlock()
	p.ask()
}
