package state

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluicesql/sluice/engine/keyenc"
)

// warmUp reads the durable entries into memory, each shard its key groups on its own goroutine, when they
// fit into half of the budget. Otherwise, or for what is left when the estimate was wrong, key groups stay
// cold and Load reads what it needs.
func (s *Store) warmUp() error {
	it, err := s.db.NewIter(&pebble.IterOptions{UpperBound: []byte{metaSpace}})
	if err != nil {
		return err
	}
	some := it.First()
	if err := errorsFirst(it.Error(), it.Close()); err != nil || !some {
		return err
	}
	onDisk, err := s.db.EstimateDiskUsage([]byte{0}, []byte{metaSpace})
	if err != nil {
		return err
	}
	if s.opts.Budget > 0 && int64(onDisk) > s.opts.Budget/2 {
		for _, sh := range s.shards {
			sh.cold = true
		}
		return nil
	}
	errs := make([]error, s.opts.Shards)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = s.warmUpShard(i) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// warmUpShard reads the key groups that the shards of number i own, for all stages in one pass.
func (s *Store) warmUpShard(i int) error {
	lo, hi := s.Shard(0, i).groups()
	if lo == hi {
		return nil
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{byte(lo)}, UpperBound: []byte{byte(hi)}})
	if err != nil {
		return err
	}
	defer it.Close()
	publish := func() {
		for stage := range s.opts.Stages {
			s.Shard(stage, i).publish()
		}
	}
	defer publish()
	var (
		b     groupBuilder
		key   []byte // of the group being built, with its key group and table
		group = lo
	)
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		e, err := decodeStored(it.Key(), v)
		if err != nil {
			return err
		}
		if int(e.table>>8) >= s.opts.Stages {
			return fmt.Errorf("it holds stage %d, and this job has %d: it is of another job", e.table>>8, s.opts.Stages)
		}
		if e.group != group {
			group = e.group
			publish()
			if s.hotBudget > 0 && s.memory.Load() > s.hotBudget/4*3 { // the estimate was wrong
				for stage := range s.opts.Stages {
					s.Shard(stage, i).leaveCold(group, hi)
				}
				break
			}
		}
		sh := s.Shard(int(e.table>>8), i)
		full := it.Key()[:groupTableBytes+len(e.key)]
		if !bytes.Equal(full, key) {
			key = append(key[:0], full...)
			b = groupBuilder{t: sh.Table(e.table, e.bag), h: keyenc.Hash(e.key)}
		}
		b.add(&e)
	}
	return it.Error()
}

// leaveCold marks what a warm-up did not reach.
func (sh *Shard) leaveCold(from, to int) {
	sh.coldFrom = from
	sh.cold = true
	for _, t := range sh.order {
		t.chill(from, to)
	}
}
