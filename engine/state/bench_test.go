package state

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/sluicesql/sluice/engine/keyenc"
)

// The benchmark's tables are those of the first example: users by id, and domains by user id and id.
const (
	benchUsers   = 1_000_000
	benchDomains = 3_000_000
	benchBatch   = 2048
)

type joinBench struct {
	s              *Store
	sh             *Shard
	users, domains *Table
	rng            *rand.Rand
	own            KeyBatch
	subs           []uint64
	value          []byte
	seen           int
}

func newJoinBench(b *testing.B, dir string) *joinBench {
	s, err := Open(Options{Dir: dir, Shards: 1})
	if err != nil {
		b.Fatal(err)
	}
	sh := s.Shard(0, 0)
	return &joinBench{s: s, sh: sh, users: sh.Table(1, false), domains: sh.Table(2, false),
		rng: rand.New(rand.NewPCG(1, 2)), value: make([]byte, 70)}
}

func intKey(buf []byte, v uint64) []byte {
	return binary.BigEndian.AppendUint64(append(buf[:0], 1), v^1<<63)
}

// step applies a batch to one side and probes the other, as a join does.
func (j *joinBench) step(b *testing.B, own, other *Table, n int, next func(i int) (user, sub uint64)) {
	j.own.Reset()
	j.subs = j.subs[:0]
	var buf [16]byte
	for i := range n {
		user, sub := next(i)
		j.own.Add(intKey(buf[:], user))
		j.subs = append(j.subs, sub)
	}
	for _, t := range []*Table{other, own} {
		if err := t.Load(&j.own); err != nil {
			b.Fatal(err)
		}
		for i := range n {
			h, k := j.own.Hash(i), j.own.Key(i)
			if t == other {
				for r := t.First(h, k); r != 0; r = t.Next(r) {
					j.seen += len(t.Value(r))
				}
				continue
			}
			var sub []byte
			value := j.value[:55]
			if own == j.domains {
				sub, value = intKey(buf[:], j.subs[i]), j.value[:60]
			}
			binary.LittleEndian.PutUint64(value, j.rng.Uint64())
			own.Put(h, k, sub, value)
		}
	}
	if err := j.sh.Maintain(); err != nil {
		b.Fatal(err)
	}
}

func (j *joinBench) fill(b *testing.B) {
	for at := 0; at < benchUsers; at += benchBatch {
		j.step(b, j.users, j.domains, min(benchBatch, benchUsers-at), func(i int) (uint64, uint64) { return uint64(at + i), 0 })
	}
	for at := 0; at < benchDomains; at += benchBatch {
		j.step(b, j.domains, j.users, min(benchBatch, benchDomains-at), func(i int) (uint64, uint64) {
			return j.userOf(uint64(at + i)), uint64(at + i)
		})
	}
}

// userOf spreads the domains over the users at random, the same way each time.
func (j *joinBench) userOf(domain uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], domain)
	return keyenc.Hash(b[:]) % benchUsers
}

func (j *joinBench) update(b *testing.B, n int) {
	if j.rng.IntN(4) == 0 {
		j.step(b, j.users, j.domains, n, func(int) (uint64, uint64) { return j.rng.Uint64N(benchUsers), 0 })
		return
	}
	j.step(b, j.domains, j.users, n, func(int) (uint64, uint64) {
		d := j.rng.Uint64N(benchDomains)
		return j.userOf(d), d
	})
}

// BenchmarkJoinLoop is an update of one side with its probe of the other, on random keys of a full state.
func BenchmarkJoinLoop(b *testing.B) {
	for _, batch := range []int{1, 256, 1024, 2048, 4096} {
		b.Run(fmt.Sprint("batch=", batch), func(b *testing.B) {
			j := sharedJoinBench(b)
			b.ResetTimer()
			for n := 0; n < b.N; n += batch {
				j.update(b, min(batch, b.N-n))
			}
		})
	}
}

var sharedJoin *joinBench

func sharedJoinBench(b *testing.B) *joinBench {
	if sharedJoin == nil {
		sharedJoin = newJoinBench(b, "")
		sharedJoin.fill(b)
	}
	return sharedJoin
}

// BenchmarkJoinFill is the snapshot: every row inserted once, probing the other side. It reports the memory
// that a row takes, all counted.
func BenchmarkJoinFill(b *testing.B) {
	for range b.N {
		j := newJoinBench(b, "")
		start := time.Now()
		j.fill(b)
		rows := float64(j.users.Len() + j.domains.Len())
		if rows != benchUsers+benchDomains {
			b.Fatalf("%v rows", rows)
		}
		b.ReportMetric(float64(time.Since(start).Nanoseconds())/rows, "ns/row")
		b.ReportMetric(float64(j.sh.arena.held)/rows, "B/row")
		b.ReportMetric(float64(j.sh.arena.held)/(1<<20), "MB")
		b.ReportMetric(float64(j.users.ix.bytes+j.domains.ix.bytes)/(1<<20), "index-MB")
		var ms runtime.MemStats
		runtime.ReadMemStats(&ms)
		b.ReportMetric(float64(ms.HeapAlloc)/(1<<20), "heap-MB")
		if err := j.s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
