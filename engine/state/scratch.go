package state

import (
	"fmt"
	"os"
	"sync/atomic"
)

// Scratch sorts on disk what is too much for memory: pairs come in sorted runs, and are read back as one sequence. It
// holds nothing that outlives the process. One goroutine uses it.
type Scratch struct {
	store *Store
	no    int64
	seq   int
	runs  []run
}

// scratchDir is where the runs of Scratches lie: in the state directory, or without one in a temporary one, made when
// it is needed first.
type scratchDir struct {
	count atomic.Int64
	temp  string // guarded by Store.mu
}

// Scratch returns a new Scratch.
func (s *Store) Scratch() *Scratch { return &Scratch{store: s, no: s.scratch.count.Add(1)} }

// WriteRun writes n pairs, whose keys must rise.
func (c *Scratch) WriteRun(n int, pair func(i int) (key, value []byte)) error {
	s := c.store
	dir, err := s.scratchPath()
	if err != nil {
		return s.fail(err)
	}
	w, err := s.createRun(s.fs.PathJoin(dir, fmt.Sprintf("scratch-%d-%06d.sst", c.no, c.seq)))
	if err != nil {
		return s.fail(err)
	}
	c.seq++
	c.runs = append(c.runs, w.run) // to be removed in any case
	for i := range n {
		if err = w.set(pair(i)); err != nil {
			break
		}
	}
	if err := errorsFirst(err, w.close()); err != nil {
		return s.fail(w.fault(err))
	}
	return nil
}

// Each calls f for all pairs in the order of their keys; what it is given is borrowed. A key that several runs hold
// comes once, with the value of the latest.
func (c *Scratch) Each(f func(key, value []byte) error) error {
	it, err := c.store.openRuns(c.runs)
	if err != nil {
		return c.store.fail(err)
	}
	var verr, ferr error // of reading, and f's
	for ok := it.First(); ok && verr == nil && ferr == nil; ok = it.Next() {
		var v []byte
		if v, verr = it.ValueAndErr(); verr == nil {
			ferr = f(it.Key(), v)
		}
	}
	if err := errorsFirst(verr, errorsFirst(it.Error(), it.Close())); err != nil {
		return c.store.fail(runsFault(c.runs, err))
	}
	return ferr
}

// Empty reports whether nothing was written since Clear.
func (c *Scratch) Empty() bool { return len(c.runs) == 0 }

// Clear removes all runs.
func (c *Scratch) Clear() error {
	err := c.store.removeRuns(c.runs)
	c.runs = c.runs[:0]
	if err != nil {
		return c.store.fail(err)
	}
	return nil
}

// scratchPath is the directory for scratch runs.
func (s *Store) scratchPath() (string, error) {
	if s.opts.Dir != "" {
		return s.fs.PathJoin(s.opts.Dir, ingestDir), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.scratch.temp == "" {
		dir, err := os.MkdirTemp("", "sluice-")
		if err != nil {
			return "", placed("a temporary directory for an epoch that is larger than its memory", err)
		}
		s.scratch.temp = dir
	}
	return s.scratch.temp, nil
}

// removeTemp removes the temporary directory.
func (s *Store) removeTemp() error {
	if s.scratch.temp == "" {
		return nil
	}
	return os.RemoveAll(s.scratch.temp)
}
