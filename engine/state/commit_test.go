package state

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/sluicesql/sluice/engine/keyenc"
)

// Both ways of sorting give the order of the keys, whatever the keys look like.
func TestSort(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for name, key := range map[string]func() []byte{
		"ints":     func() []byte { return intKey(nil, rng.Uint64N(5000)) },
		"pairs":    func() []byte { return append(intKey(nil, rng.Uint64N(90)), intKey(nil, rng.Uint64N(90))...) },
		"random":   func() []byte { return binary.BigEndian.AppendUint64(nil, rng.Uint64()) },
		"long":     func() []byte { return append(make([]byte, 30), byte(rng.IntN(200)), byte(rng.IntN(200))) },
		"prefixes": func() []byte { return make([]byte, rng.IntN(40)) },
		"equal":    func() []byte { return []byte("x") },
	} {
		for _, n := range []int{2, 70, 3000} {
			s, err := Open(Options{Shards: 1})
			must(t, err)
			f := &Frozen{}
			for i := range n {
				tab := &Table{sh: s.Shard(0, 0), id: uint16(i % 3 * 0x102)}
				f.add(tab, s.Shard(0, 0).arena.at(tab.newEntry(key(), nil, nil, 1, 0)))
			}
			var so sorter
			for g := range f.groups {
				if len(f.groups[g]) == 0 {
					continue
				}
				so.sort(f, f.groups[g])
				var last []byte
				for i := range f.groups[g] {
					k, _, _ := f.record(&f.groups[g][i])
					if bytes.Compare(last, k) > 0 {
						t.Fatalf("%s: %x after %x", name, k, last)
					}
					last = k
				}
			}
			f.reset()
			for i := range f.blocks {
				f.dropBlock(i)
			}
			must(t, s.Close())
		}
	}
}

// The encodings are on-disk format.
func TestGoldenState(t *testing.T) {
	fs := vfs.NewMem()
	s, err := Open(Options{Dir: "d", Shards: 1, Stages: 2, FS: fs})
	must(t, err)
	key, sub := []byte{1, 0x80, 0, 0, 0, 0, 0, 0, 42}, []byte{1, 0x80, 0, 0, 0, 0, 0, 0, 7}
	h := keyenc.Hash(key)
	rows, bag := s.Shard(0, 0).Table(TableID(0, 5), false), s.Shard(1, 0).Table(TableID(1, 2), true)
	rows.Put(h, key, sub, []byte("value"))
	rows.Put(h, key, nil, nil)
	long := bytes.Repeat([]byte{1}, 64)
	rows.Put(keyenc.Hash(long), long, nil, []byte("v"))
	bag.Add(h, key, nil, []byte("row"), 3)
	bag.Add(h, key, nil, []byte("less"), -2)
	bag.Add(h, key, nil, nil, 1)
	must(t, s.Commit([]*Frozen{s.Shard(0, 0).Freeze(), s.Shard(1, 0).Freeze()}, []byte("the cut")))
	must(t, s.SetMeta("name", []byte("meta")))
	it, err := s.db.NewIter(nil)
	must(t, err)
	var got strings.Builder
	for ok := it.First(); ok; ok = it.Next() {
		fmt.Fprintf(&got, "%s = %s\n", hex.EncodeToString(it.Key()), hex.EncodeToString(it.Value()))
	}
	must(t, it.Close())
	long1 := strings.Repeat("01", 64)
	want := `2d000501800000000000002a = 12
2d000501800000000000002a018000000000000007 = 1276616c7565
2d010201800000000000002a = 1302
2d010201800000000000002a6c657373 = 1303
2d010201800000000000002a726f77 = 1306
520005` + long1 + ` = 800176
ff63 = 74686520637574
ff6d6e616d65 = 6d657461
ff6e0005 = 06
ff6e0102 = 06
`
	if got.String() != want {
		t.Fatalf("the format of the state changed:\n%s", got.String())
	}
	must(t, s.Close())
}

// A damaged entry is an error, not a wrong row.
func TestDecodeStored(t *testing.T) {
	for _, c := range []struct{ k, v string }{
		{"0000", "02"}, {"000001aa", ""}, {"000001aa", "04"}, {"000001aa", "80"},
		{"000001aa", "03"}, {"000001aa", "0300"}, {"000001aa", "030202"}, {"000001aa", "03808080808020"},
	} {
		k, _ := hex.DecodeString(c.k)
		v, _ := hex.DecodeString(c.v)
		if e, err := decodeStored(k, v); err == nil {
			t.Errorf("%s = %s: %+v", c.k, c.v, e)
		}
	}
}

// Compactions wait while all is in memory, come when it is not, and a failing one stops the store.
func TestCompactions(t *testing.T) {
	for _, fail := range []bool{false, true} {
		fs := vfs.NewMem()
		var failing atomic.Bool
		inj := errorfs.InjectorFunc(func(op errorfs.Op) error {
			if failing.Load() && strings.HasPrefix(op.Path, "d/db/") && strings.HasSuffix(op.Path, ".sst") && op.Kind == errorfs.OpCreate {
				return errorfs.ErrInjected
			}
			return nil
		})
		s, err := Open(Options{Dir: "d", Shards: 1, FS: errorfs.Wrap(fs, inj)})
		must(t, err)
		commit := func(n int) error {
			tab := s.Shard(0, 0).Table(1, false)
			for i := range ingestRows {
				key := intKey(nil, uint64(i))
				tab.Put(keyenc.Hash(key), key, nil, fmt.Append(nil, n))
			}
			f := s.Shard(0, 0).Freeze()
			err := s.Commit([]*Frozen{f}, nil)
			if err == nil {
				must(t, s.Shard(0, 0).Durable(f))
			}
			return err
		}
		for n := range 2 * l0Threshold {
			must(t, commit(n))
		}
		if m := s.db.Metrics(); m.Compact.Count-m.Compact.MoveCount > 0 || m.Levels[0].Sublevels < l0Threshold {
			t.Fatalf("compacted early:\n%s", m)
		}
		s.cold.Store(1)
		failing.Store(fail)
		for n := 0; s.db.Metrics().Levels[0].Sublevels >= l0Threshold && s.failed() == nil; n++ {
			if err := commit(n); err != nil && !fail {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
			if n > 5000 {
				t.Fatal("never compacted")
			}
		}
		err = s.Commit(nil, nil)
		if fail != (err != nil) || fail && !strings.Contains(err.Error(), "state directory d: ") {
			t.Fatalf("fail = %v: %v", fail, err)
		}
		if err := s.Close(); fail != (err != nil) {
			t.Fatal(err)
		}
	}
}

// Memory stays within the budget while far more is written, and everything is found again.
func TestBudget(t *testing.T) {
	const batch = 500
	budget, rows := int64(8<<20), 200_000
	if underRace {
		budget, rows = 2<<20, 30_000
	}
	s, err := Open(Options{Dir: "d", Shards: 2, Stages: 2, Budget: budget, FS: vfs.NewMem()})
	must(t, err)
	value := bytes.Repeat([]byte("v"), 100)
	var kb [2]KeyBatch
	load := func(at int) {
		kb[0].Reset()
		kb[1].Reset()
		for i := at; i < at+batch; i++ {
			key := intKey(nil, uint64(i))
			kb[keyenc.Shard(keyenc.Group(keyenc.Hash(key)), 2)].Add(key)
		}
		for i := range kb {
			sh := s.Shard(1, i) // the other stage leaves its share to this one
			must(t, sh.Maintain())
			must(t, sh.Table(TableID(1, 0), false).Load(&kb[i]))
		}
		if st := s.Stats(); st.Live+st.Frozen > budget {
			t.Fatalf("%d bytes live and %d frozen", st.Live, st.Frozen)
		}
	}
	checkpoints := 0
	checkpoint := func() {
		fs := []*Frozen{s.Shard(1, 0).Freeze(), s.Shard(1, 1).Freeze()}
		must(t, s.Commit(fs, nil))
		must(t, s.Shard(1, 0).Durable(fs[0]))
		must(t, s.Shard(1, 1).Durable(fs[1]))
		checkpoints++
	}
	for at := 0; at < rows; at += batch {
		load(at)
		for i := range kb {
			tab := s.Shard(1, i).Table(TableID(1, 0), false)
			for j := range kb[i].Len() {
				tab.Put(kb[i].Hash(j), kb[i].Key(j), nil, value)
			}
		}
		if s.Shard(1, 0).Pressure() || s.Shard(1, 1).Pressure() {
			checkpoint()
		}
	}
	checkpoint()
	if checkpoints < 5 || checkpoints > rows/batch/2 {
		t.Fatalf("%d checkpoints", checkpoints)
	}
	found := 0
	for at := 0; at < rows; at += batch {
		load(at)
		for i := range kb {
			tab := s.Shard(1, i).Table(TableID(1, 0), false)
			for j := range kb[i].Len() {
				if r := tab.First(kb[i].Hash(j), kb[i].Key(j)); r != 0 && bytes.Equal(tab.Value(r), value) {
					found++
				}
			}
		}
	}
	st := s.Stats()
	if found != rows || st.Evicted < int64(rows) || st.Loaded < int64(rows) || st.Written != int64(rows) || st.Disk == 0 {
		t.Fatalf("found %d of %d; %+v", found, rows, st)
	}
	must(t, s.Close())
}

// An operation on a group of a million entries does not depend on its size.
func TestMillionRowGroup(t *testing.T) {
	n := 1_000_000
	if underRace {
		n = 20_000
	}
	for _, bag := range []bool{false, true} {
		s, err := Open(Options{Shards: 1})
		must(t, err)
		tab := s.Shard(0, 0).Table(1, bag)
		key := intKey(nil, 1)
		h := keyenc.Hash(key)
		var buf [16]byte
		start := time.Now()
		each := func(f func(sub, value []byte)) {
			for i := range uint64(n) {
				id := intKey(buf[:], i*7919%uint64(n))
				if bag {
					f(nil, id)
				} else {
					f(id, []byte("value"))
				}
			}
		}
		each(func(sub, value []byte) { tab.Add(h, key, sub, value, 1) })
		if tab.Len() != n {
			t.Fatal(tab.Len())
		}
		each(func(sub, value []byte) {
			if !bag && tab.Find(h, key, sub) == 0 {
				t.Fatalf("%x is missing", sub)
			}
			if w := tab.Add(h, key, sub, value, 1); w != 2 {
				t.Fatalf("weight %d", w)
			}
		})
		count := 0
		for r := tab.First(h, key); r != 0; r = tab.Next(r) {
			count++
		}
		each(func(sub, value []byte) { tab.Add(h, key, sub, value, -2) })
		if count != n || tab.Len() != 0 || tab.Bytes() != 0 || s.Shard(0, 0).arena.held != 0 {
			t.Fatalf("walked %d; left %d rows, %d bytes", count, tab.Len(), tab.Bytes())
		}
		if d := time.Since(start); d > time.Minute {
			t.Fatalf("took %v", d)
		}
		must(t, s.Close())
	}
}
