package state

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sluicesql/sluice/engine/keyenc"
)

// coldStore is a store with rows on disk and a budget for about a tenth of them.
func coldStore(b *testing.B, rows int) *Store {
	b.Helper()
	s, err := Open(Options{Dir: b.TempDir(), Shards: 1, Budget: 32 << 20})
	must(b, err)
	sh := s.Shard(0, 0)
	tab := sh.Table(1, false)
	value := make([]byte, 60)
	var buf []byte
	checkpoint := func() {
		f := sh.Freeze()
		must(b, s.Commit([]*Frozen{f}, nil))
		must(b, sh.Durable(f))
		must(b, sh.Maintain())
	}
	for i := range rows {
		buf = intKey(buf, uint64(i)*2) // what is odd is absent
		tab.Put(keyenc.Hash(buf), buf, nil, value)
		if i%1024 == 0 {
			must(b, sh.Maintain())
			if sh.Pressure() {
				checkpoint()
			}
		}
	}
	checkpoint()
	return s
}

// BenchmarkLoadMiss reads groups that are on disk alone, and looks for some that do not exist, in batches: the larger
// the batch, the nearer its keys lie to each other.
func BenchmarkLoadMiss(b *testing.B) {
	const rows = 2_000_000
	s := coldStore(b, rows)
	defer func() { must(b, s.Close()) }()
	sh := s.Shard(0, 0)
	tab := sh.Table(1, false)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, absent := range []uint64{0, 1} {
		for _, batch := range []int{64, 1024, 16 << 10, 64 << 10} {
			b.Run(fmt.Sprintf("absent=%v/batch=%d", absent == 1, batch), func(b *testing.B) {
				var kb KeyBatch
				var buf []byte
				for n := 0; n < b.N; n += batch {
					kb.Reset()
					for range min(batch, b.N-n) {
						buf = intKey(buf, rng.Uint64N(rows)*2+absent)
						kb.Add(buf)
					}
					must(b, tab.Load(&kb))
					must(b, sh.Maintain())
				}
			})
		}
	}
}

// BenchmarkSpill changes rows in an epoch of many times the budget, and commits it: what it changes goes to sorted runs,
// and from there to Pebble.
func BenchmarkSpill(b *testing.B) {
	s, err := Open(Options{Dir: b.TempDir(), Shards: 1, Budget: 8 << 20})
	must(b, err)
	sh := s.Shard(0, 0)
	tab := sh.Table(1, false)
	value := make([]byte, 60)
	var kb KeyBatch
	var buf []byte
	const batch = 1024
	for n := 0; n < b.N; n += batch {
		kb.Reset()
		for i := n; i < min(n+batch, b.N); i++ {
			buf = intKey(buf, uint64(i))
			kb.Add(buf)
		}
		must(b, tab.Load(&kb))
		for i := range kb.Len() {
			tab.Put(kb.Hash(i), kb.Key(i), nil, value)
		}
		must(b, sh.Maintain())
	}
	b.ReportMetric(float64(s.Stats().Spilled)/float64(b.N), "spilled/op")
	f := sh.Freeze()
	must(b, s.Commit([]*Frozen{f}, nil))
	must(b, sh.Durable(f))
	b.StopTimer()
	must(b, s.Close())
}

// BenchmarkWarm reads rows into memory that were on disk at the start.
func BenchmarkWarm(b *testing.B) {
	dir := b.TempDir()
	s, err := Open(Options{Dir: dir, Shards: 1})
	must(b, err)
	sh := s.Shard(0, 0)
	tab := sh.Table(1, false)
	value := make([]byte, 60)
	var buf []byte
	for i := range b.N {
		buf = intKey(buf, uint64(i))
		tab.Put(keyenc.Hash(buf), buf, nil, value)
	}
	must(b, s.Commit([]*Frozen{sh.Freeze()}, nil))
	must(b, s.Close())
	s, err = Open(Options{Dir: dir, Shards: 1})
	must(b, err)
	tab = s.Shard(0, 0).Table(1, false)
	b.ResetTimer()
	must(b, warmAll(s))
	b.StopTimer()
	if tab.Len() != b.N {
		b.Fatalf("%d rows of %d", tab.Len(), b.N)
	}
	must(b, s.Close())
}
