// Package statetest has a disk for tests of what survives a crash.
package statetest

import (
	"math/rand/v2"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/sluicesql/sluice/engine/state"
)

// Disk is a file system in memory that can break at a chosen write, and that knows what a crash leaves.
type Disk struct {
	mem *vfs.MemFS

	mu       sync.Mutex
	left     int // writes until it breaks; negative for never
	broken   bool
	crash    func()
	rng      *rand.Rand
	survives int
	after    *vfs.MemFS
}

// NewDisk returns an empty disk.
func NewDisk() *Disk { return &Disk{mem: vfs.NewCrashableMem(), left: -1} }

// BreakAt has the disk break at its write number n, counted from 0: this one and all later ones fail, and what the
// disk holds at this moment is what AfterCrash gives. A write is every operation that changes a file or a folder, or
// syncs one. crash is called then, once, from the goroutine that writes. Of what was not synced, each piece survives
// with a chance of survives percent, as seed decides.
func (d *Disk) BreakAt(n, survives int, seed uint64, crash func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left, d.crash, d.survives = n, crash, survives
	d.rng = rand.New(rand.NewPCG(seed, 0))
}

// Mend takes BreakAt back. It has no effect when the disk has broken.
func (d *Disk) Mend() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left = -1
}

// Broke reports whether the write came.
func (d *Disk) Broke() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.broken
}

// AfterCrash is the disk that a start after the crash finds.
func (d *Disk) AfterCrash() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &Disk{mem: d.after, left: -1}
}

// FS is the disk's file system.
func (d *Disk) FS() state.FS {
	return errorfs.Wrap(d.mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		switch op.Kind {
		case errorfs.OpLock, errorfs.OpFileClose, errorfs.OpFileFlush: // they change nothing that a crash leaves
			return nil
		default:
			if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
				return d.write()
			}
			return nil
		}
	}))
}

func (d *Disk) write() error {
	d.mu.Lock()
	if d.broken {
		d.mu.Unlock()
		return errorfs.ErrInjected
	}
	if d.left != 0 {
		d.left = max(d.left-1, -1)
		d.mu.Unlock()
		return nil
	}
	d.broken = true
	d.after = d.mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: d.survives, RNG: d.rng})
	d.mu.Unlock()
	d.crash()
	return errorfs.ErrInjected
}
