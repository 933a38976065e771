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
