package state

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// A run is a sorted table beside Pebble. It holds entries that were changed since the last Freeze and had to
// leave memory before the next one could come, because an epoch changed more than the budget has room for.
// Reads look in memory, then in the runs, the newest first, and then in Pebble. The next checkpoint merges the
// shard's runs with what it froze; until then nothing of them is in Pebble, and a crash makes them garbage that
// Open removes.
//
// A run has no deletions of its own, which would hide from its reader that something is deleted: their
// value is empty, which no entry's is.
type run struct {
	path string
	rows int
}

// maxRuns is how many runs a shard may have before they are merged into one: each is a file to look into for
// every group that is read.
const maxRuns = 8

// spillShare is the part of a shard's share that may be changed and in memory while its epoch goes on, when
// the store's changes as a whole exceed half of the budget.
const spillShare = 4

// spill writes the oldest of the shard's changed entries to a run, when all shards' changes exceed half of
// the budget. What was written may be evicted like what is durable.
func (sh *Shard) spill() error {
	s := sh.store
	if sh.dirtyBytes <= max(sh.nextSpill, sh.share/spillShare) || s.dirty.Load()-sh.told.dirty+sh.dirtyBytes <= s.hotBudget/2 {
		return nil
	}
	f := sh.spare // no checkpoint needs it before this returns
	sh.spare = nil
	if f == nil {
		f = &Frozen{shard: sh}
	}
	part := 1 - float64(sh.share/spillShare)/2/float64(sh.dirtyBytes)
	for _, t := range sh.order {
		t.spill(f, int(part*float64(len(t.dirty))+1))
	}
	// What could not leave must not be tried again with every batch.
	sh.nextSpill = sh.dirtyBytes + sh.share/spillShare
	err := sh.writeRun(f)
	f.reset()
	if sh.frozen == nil {
		sh.spare = f
	} else {
		f.dropBlocks()
	}
	if err == nil && len(sh.runs) > maxRuns {
		err = sh.mergeRuns()
	}
	sh.stuck = false
	return err
}

// spill moves the first n entries of the table's list of changes to f. Those that a Pebble key cannot stand
// for stay: several rows of one unique key, and weights below 0, which the barrier must see.
func (t *Table) spill(f *Frozen, n int) {
	a := &t.sh.arena
	n = min(n, len(t.dirty))
	kept := t.dirty[:0]
	for i, r := range t.dirty[:n] {
		if i%touchAhead == 0 {
			t.touchAll(t.dirty[i:min(i+touchAhead, n)])
		}
		e := a.at(r)
		if e.flags&flagDead == 0 && t.offends(r, e) {
			kept = append(kept, r)
			continue
		}
		t.sh.dirtyBytes -= int64(a.size(r))
		e.flags &^= flagDirty
		if e.flags&flagDead != 0 {
			t.retire(r, e)
			continue
		}
		f.add(t, e)
		e.flags |= flagDurable
		if e.weight == 0 { // the run has its deletion
			t.unlink(r, e)
			t.retire(r, e)
		}
	}
	t.dirty = append(kept, t.dirty[n:]...)
}

// writeRun writes what f holds as the shard's newest run.
func (sh *Shard) writeRun(f *Frozen) error {
	if f.rows == 0 {
		return nil
	}
	s := sh.store
	return sh.newRun(func(w *runWriter) error {
		return s.inOrder([]*Frozen{f}, &sh.sorter, w.add)
	})
}

// newRun makes a run of what write adds.
func (sh *Shard) newRun(write func(w *runWriter) error) error {
	s := sh.store
	w, err := s.createRun(s.fs.PathJoin(s.opts.Dir, ingestDir, fmt.Sprintf("run-%d-%d-%06d.sst", sh.stage, sh.no, sh.runSeq)))
	if err != nil {
		return err
	}
	sh.runSeq++
	if err := errorsFirst(write(w), w.close()); err != nil {
		return w.fault(err)
	}
	sh.runs = append(sh.runs, w.run)
	s.spilled.Add(int64(w.rows))
	return sh.closeRuns()
}

// mergeRuns makes one run of all those since the last Freeze.
func (sh *Shard) mergeRuns() error {
	old := sh.runs
	it, err := sh.store.openRuns(old)
	if err != nil {
		return err
	}
	sh.runs = nil
	err = sh.newRun(func(w *runWriter) error {
		for ok := it.First(); ok; ok = it.Next() {
			v, err := it.ValueAndErr()
			if err == nil {
				err = w.set(it.Key(), v)
			}
			if err != nil {
				return err
			}
		}
		return it.Error()
	})
	if err := errorsFirst(err, it.Close()); err != nil {
		return runsFault(old, err)
	}
	return sh.store.removeRuns(old)
}

// runIter is the iterator over all runs that the shard reads through: its own and those of the checkpoint in
// flight, nil when there are none. It stays open until one of them comes or goes.
func (sh *Shard) runIter() (*pebble.Iterator, error) {
	if sh.runsIter != nil {
		return sh.runsIter, nil
	}
	all := sh.allRuns()
	if len(all) == 0 {
		return nil, nil
	}
	it, err := sh.store.openRuns(all)
	sh.runsIter = it
	return it, err
}

// allRuns are the shard's runs and those of the checkpoint in flight, the oldest first.
func (sh *Shard) allRuns() []run {
	if sh.frozen == nil || len(sh.frozen.runs) == 0 {
		return sh.runs
	}
	return append(slices.Clone(sh.frozen.runs), sh.runs...)
}

// dropRuns removes runs that are in Pebble now.
func (sh *Shard) dropRuns(runs []run) error {
	if len(runs) == 0 {
		return nil
	}
	return errorsFirst(sh.closeRuns(), sh.store.removeRuns(runs))
}

// closeRuns closes the iterator over the runs.
func (sh *Shard) closeRuns() error {
	it := sh.runsIter
	if it == nil {
		return nil
	}
	sh.runsIter = nil
	return it.Close()
}

// openRuns opens runs, the oldest first, as one: of equal keys the newest counts.
func (s *Store) openRuns(runs []run) (*pebble.Iterator, error) {
	files := make([][]sstable.ReadableFile, 0, len(runs))
	for i := len(runs) - 1; i >= 0; i-- {
		f, err := s.fs.Open(runs[i].path)
		if err != nil {
			for _, open := range files {
				_ = open[0].Close()
			}
			return nil, placed("run "+runs[i].path, err)
		}
		files = append(files, []sstable.ReadableFile{f})
	}
	it, err := pebble.NewExternalIter(s.pebbleOpts, nil, files)
	if err != nil {
		return nil, runsFault(runs, err)
	}
	return it, nil
}

// runsFault gives an error of reading runs its place.
func runsFault(runs []run, err error) error {
	if err == nil {
		return nil
	}
	names := make([]string, len(runs))
	for i, r := range runs {
		names[i] = r.path
	}
	return placed("run "+strings.Join(names, " or "), err)
}

func (s *Store) removeRuns(runs []run) error {
	for _, r := range runs {
		if err := s.fs.Remove(r.path); err != nil {
			return placed("run "+r.path, err)
		}
	}
	return nil
}

// runWriter writes a run.
type runWriter struct {
	run
	w *sstable.Writer
}

// unsynced is a file that is of no use after a crash.
type unsynced struct{ vfs.File }

func (unsynced) Sync() error { return nil }

func (s *Store) createRun(path string) (*runWriter, error) {
	file, err := s.fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, placed("run "+path, err)
	}
	w := sstable.NewWriter(objstorageprovider.NewFileWritable(unsynced{file}), tableWriterOptions(s.pebbleOpts))
	return &runWriter{run: run{path: path}, w: w}, nil
}

// add is set for what inOrder gives.
func (w *runWriter) add(key, value []byte, deleted bool) error {
	if deleted {
		value = nil
	}
	return w.set(key, value)
}

func (w *runWriter) set(key, value []byte) error {
	w.rows++
	return w.w.Set(key, value)
}

func (w *runWriter) close() error { return w.w.Close() }

func (w *runWriter) fault(err error) error { return placed("run "+w.path, err) }
