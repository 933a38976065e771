//go:build unix

package state

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// cpuTime is the processor time that the process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// idle waits until Pebble has nothing to do.
func (s *Store) idle() {
	time.Sleep(2 * time.Millisecond) // a compaction may be about to start
	for {
		m := s.db.Metrics()
		if m.Compact.NumInProgress == 0 && m.Flush.NumInProgress == 0 {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// BenchmarkFreezeCommit writes 3M domains in commits of the given size, then as many updates, and reports
// the processor time a row of Freeze, Commit, Durable and all compaction.
func BenchmarkFreezeCommit(b *testing.B) {
	for _, size := range []int{1000, 20_000, 100_000, 300_000} {
		b.Run(fmt.Sprint("rows=", size), func(b *testing.B) {
			for range b.N {
				freezeCommit(b, size)
			}
		})
	}
}

func freezeCommit(b *testing.B, size int) {
	j := newJoinBench(b, b.TempDir())
	var cpu, freeze, commit, durable, longest time.Duration
	rows := 0
	total := min(benchDomains, 60*size)
	for at := 0; at < 2*total; at += size {
		for k := 0; k < size; k += benchBatch {
			j.step(b, j.domains, j.users, min(benchBatch, size-k), func(i int) (uint64, uint64) {
				d := uint64(at + k + i)
				if at >= total {
					d = j.rng.Uint64N(uint64(total))
				}
				return j.userOf(d), d
			})
		}
		c := cpuTime()
		start := time.Now()
		f := j.sh.Freeze()
		frozen := time.Now()
		rows += f.rows
		if err := j.s.Commit([]*Frozen{f}, []byte("cut")); err != nil {
			b.Fatal(err)
		}
		committed := time.Now()
		if err := j.sh.Durable(f); err != nil {
			b.Fatal(err)
		}
		freeze += frozen.Sub(start)
		commit += committed.Sub(frozen)
		longest = max(longest, committed.Sub(frozen))
		durable += time.Since(committed)
		j.s.idle()
		cpu += cpuTime() - c
	}
	n := float64(rows)
	b.ReportMetric(float64(cpu)/n, "cpu-ns/row")
	b.ReportMetric(float64(freeze)/n, "freeze-ns/row")
	b.ReportMetric(float64(commit)/n, "commit-ns/row")
	b.ReportMetric(float64(durable)/n, "durable-ns/row")
	b.ReportMetric(float64(longest.Milliseconds()), "longest-ms")
	b.ReportMetric(float64(j.s.Stats().Disk)/(1<<20), "disk-MB")
	if err := j.s.Close(); err != nil {
		b.Fatal(err)
	}
}
