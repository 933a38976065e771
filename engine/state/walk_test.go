package state

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A walk meets every row, wherever it lies: in memory, in runs of the epoch under way, in a checkpoint under way, in
// Pebble; and may delete them all.
func TestWalk(t *testing.T) {
	const rows = 6000
	for _, c := range []struct {
		dir    string
		budget int64
	}{{"", 0}, {"d", 0}, {"d", 1 << 16}} {
		for _, stage := range []string{"changed", "frozen", "committed", "committed and changed"} {
			t.Run(fmt.Sprintf("%q %d %s", c.dir, c.budget, stage), func(t *testing.T) {
				o := Options{Dir: c.dir, Shards: 1, Budget: c.budget}
				if c.dir != "" {
					o.FS = vfs.NewMem()
				}
				s, err := Open(o)
				must(t, err)
				sh := s.Shard(0, 0)
				tab := sh.Table(1, false)
				longEpoch(t, s, "a", rows)
				var f *Frozen
				if stage != "changed" && c.dir != "" {
					f = sh.Freeze()
				}
				if f != nil && stage != "frozen" {
					must(t, s.Commit([]*Frozen{f}, []byte("cut")))
					must(t, sh.Durable(f))
					f = nil
					if stage != "committed" {
						longEpoch(t, s, "b", rows)
					}
				}
				n := 0
				must(t, tab.Walk(func(k *KeyBatch) error {
					for i := range k.Len() {
						if at := tab.Find(k.Hash(i), k.Key(i), nil); at != 0 {
							tab.Delete(at)
							n++
						}
					}
					return nil
				}))
				if n != rows-rows/3 {
					t.Fatalf("met %d rows, not %d", n, rows-rows/3)
				}
				must(t, tab.Walk(func(k *KeyBatch) error {
					for i := range k.Len() {
						if tab.Find(k.Hash(i), k.Key(i), nil) != 0 {
							t.Fatal("a row is left")
						}
					}
					return nil
				}))
				if c.dir != "" {
					if f != nil {
						must(t, s.Commit([]*Frozen{f}, []byte("cut")))
						must(t, sh.Durable(f))
					}
					f = sh.Freeze()
					must(t, s.Commit([]*Frozen{f}, []byte("cut")))
					must(t, sh.Durable(f))
					if n := s.countStateKeys(t); n != 0 {
						t.Fatalf("%d rows are left in Pebble", n)
					}
				}
				must(t, s.Close())
			})
		}
	}
}
