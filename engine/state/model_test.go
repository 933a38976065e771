package state

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluicesql/sluice/engine/keyenc"
)

// The model of a table: key → sub → value → weight, in plain maps.
type modelTable map[string]map[string]map[string]int32

func (m modelTable) clone() modelTable {
	c := modelTable{}
	for k, subs := range m {
		c[k] = map[string]map[string]int32{}
		for s, vals := range subs {
			c[k][s] = maps.Clone(vals)
		}
	}
	return c
}

func (m modelTable) add(key, sub, value string, delta int32) int32 {
	if m[key] == nil {
		m[key] = map[string]map[string]int32{}
	}
	if m[key][sub] == nil {
		m[key][sub] = map[string]int32{}
	}
	m[key][sub][value] += delta
	w := m[key][sub][value]
	if w == 0 {
		delete(m[key][sub], value)
		if len(m[key][sub]) == 0 {
			delete(m[key], sub)
		}
		if len(m[key]) == 0 {
			delete(m, key)
		}
	}
	return w
}

func (m modelTable) removeSub(key, sub string) {
	if m[key] != nil {
		delete(m[key], sub)
		if len(m[key]) == 0 {
			delete(m, key)
		}
	}
}

func (m modelTable) rows(key string) []string {
	var out []string
	for s, vals := range m[key] {
		for v, w := range vals {
			out = append(out, fmt.Sprintf("%x|%x|%d", s, v, w))
		}
	}
	slices.Sort(out)
	return out
}

func (m modelTable) count() (n, neg int) {
	for _, subs := range m {
		for _, vals := range subs {
			for _, w := range vals {
				n++
				if w < 0 {
					neg++
				}
			}
		}
	}
	return n, neg
}

// world runs a store beside the model.
type world struct {
	t      testing.TB
	rng    *rand.Rand
	fs     *vfs.MemFS // nil: memory only
	budget int64
	shards int
	keys   int
	long   bool
	slow   bool // epochs are long: many batches to a checkpoint

	s         *Store
	model     [3]modelTable // 0 not bag, 1 bag, 2 not bag with empty subs
	committed [3]modelTable
	cut       []byte
	pending   []*Frozen
	pendModel [3]modelTable
	pendCut   []byte
	epoch     int
	runs      int // the number of runs that shards had at each Maintain, summed up
}

var kinds = [3]bool{false, true, false}

func (w *world) open() {
	o := Options{Shards: w.shards, Stages: 2, Budget: w.budget}
	if w.fs != nil {
		o.Dir, o.FS = "data/state", w.fs
	}
	s, err := Open(o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.s = s
	if !bytes.Equal(s.Cut(), w.cut) {
		w.t.Fatalf("cut %q, want %q", s.Cut(), w.cut)
	}
	for i := range w.model {
		w.model[i] = w.committed[i].clone()
	}
	w.pending = nil
}

func (w *world) key(i int) []byte {
	k := binary.BigEndian.AppendUint64([]byte{1}, uint64(i)^1<<63)
	if w.long && i%7 == 0 {
		k = append(k, bytes.Repeat([]byte{byte(i)}, 300)...)
	}
	return k
}

// The tables lie in two stages.
func stageOf(no int) int { return no % 2 }

func (w *world) shardOf(no int, key []byte) *Shard {
	return w.s.Shard(stageOf(no), keyenc.Shard(keyenc.Group(keyenc.Hash(key)), w.shards))
}

func tableOf(sh *Shard, no int) *Table {
	return sh.Table(TableID(uint8(sh.stage), uint8(no)), kinds[no])
}

// each calls f for all shards.
func (w *world) each(f func(i int, sh *Shard)) {
	for i := range 2 * w.shards {
		f(i, w.s.Shard(i/w.shards, i%w.shards))
	}
}

func (w *world) randKey() []byte {
	if w.rng.IntN(3) == 0 {
		return w.key(w.rng.IntN(2)) // hot: big groups
	}
	return w.key(w.rng.IntN(w.keys))
}

func (w *world) randSub(no int) []byte {
	if no == 2 || kinds[no] {
		return nil
	}
	return binary.BigEndian.AppendUint64([]byte{1}, uint64(w.rng.IntN(150)))
}

func (w *world) randValue() []byte {
	n := w.rng.IntN(40)
	if w.rng.IntN(20) == 0 {
		n = w.rng.IntN(600)
	}
	if w.long && w.rng.IntN(400) == 0 {
		n = w.rng.IntN(200_000)
	}
	return bytes.Repeat([]byte{byte('a' + w.rng.IntN(4))}, n)
}

func (w *world) check(t *Table, no int, key []byte) {
	w.t.Helper()
	h := keyenc.Hash(key)
	var got []string
	for r := t.First(h, key); r != 0; r = t.Next(r) {
		if !bytes.Equal(t.Key(r), key) {
			w.t.Fatalf("key %x in the group of %x", t.Key(r), key)
		}
		got = append(got, fmt.Sprintf("%x|%x|%d", t.Sub(r), t.Value(r), t.Weight(r)))
	}
	slices.Sort(got)
	if want := w.model[no].rows(string(key)); !slices.Equal(got, want) {
		w.t.Fatalf("table %d key %x: %d rows %.400v\nwant %d rows %.400v", no, key, len(got), got, len(want), want)
	}
	if kinds[no] && w.rng.IntN(2) == 0 { // some big groups are asked for their order late
		w.checkOrder(t, h, key, len(got))
	}
}

// checkOrder holds the order of a bag's group: it is complete, and ascends from the least to the greatest.
func (w *world) checkOrder(t *Table, h uint64, key []byte, n int) {
	w.t.Helper()
	var order []Ref
	t.Ascend(h, key, func(r Ref) bool { order = append(order, r); return true })
	if len(order) != n {
		w.t.Fatalf("key %x: %d rows in order, %d in all", key, len(order), n)
	}
	for i := 1; i < n; i++ {
		if bytes.Compare(t.Value(order[i-1]), t.Value(order[i])) >= 0 {
			w.t.Fatalf("key %x: %x before %x", key, t.Value(order[i-1]), t.Value(order[i]))
		}
	}
	least, greatest := t.Least(h, key), t.Greatest(h, key)
	if n == 0 && (least != 0 || greatest != 0) || n > 0 && (least != order[0] || greatest != order[n-1]) {
		w.t.Fatalf("key %x: %d and %d are not the ends of %v", key, least, greatest, order)
	}
}

// batch applies random operations to random keys.
func (w *world) batch() {
	no := w.rng.IntN(3)
	bag := kinds[no]
	var all [][]byte
	byShard := map[*Shard]*KeyBatch{}
	for range 1 + w.rng.IntN(30) {
		k := w.randKey()
		all = append(all, k)
		sh := w.shardOf(no, k)
		if byShard[sh] == nil {
			byShard[sh] = &KeyBatch{}
		}
		byShard[sh].Add(k)
	}
	for sh, kb := range byShard {
		if err := tableOf(sh, no).Load(kb); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, key := range all {
		t := tableOf(w.shardOf(no, key), no)
		w.check(t, no, key)
		h := keyenc.Hash(key)
		m := w.model[no]
		w.grow(t, no, h, key)
		for range 1 + w.rng.IntN(8) {
			sub, value := w.randSub(no), w.randValue()
			switch op := w.rng.IntN(12); {
			case op < 3 && !bag:
				t.Put(h, key, sub, value)
				m.removeSub(string(key), string(sub))
				m.add(string(key), string(sub), string(value), 1)
			case op < 7:
				delta := int32(w.rng.IntN(4) - 1)
				got := t.Add(h, key, sub, value, delta)
				if delta == 0 {
					continue
				}
				if want := m.add(string(key), string(sub), string(value), delta); got != want {
					w.t.Fatalf("Add returned %d, want %d", got, want)
				}
			case op < 8:
				for r := t.First(h, key); r != 0; {
					next := t.Next(r)
					if w.rng.IntN(2) == 0 {
						m.add(string(key), string(t.Sub(r)), string(t.Value(r)), -t.Weight(r))
						t.Delete(r)
					}
					r = next
				}
			case !bag:
				r := t.Find(h, key, sub)
				if (r != 0) != (len(m[string(key)][string(sub)]) > 0) {
					w.t.Fatalf("Find of %x %x: %v", key, sub, r)
				}
				if r == 0 {
					continue
				}
				if !bytes.Equal(t.Sub(r), sub) || m[string(key)][string(sub)][string(t.Value(r))] != t.Weight(r) {
					w.t.Fatalf("Find of %x %x found another", key, sub)
				}
				m.add(string(key), string(sub), string(t.Value(r)), -t.Weight(r))
				t.Delete(r)
			}
		}
		w.check(t, no, key)
	}
}

// grow makes a group big at times, or takes nearly all of it away.
func (w *world) grow(t *Table, no int, h uint64, key []byte) {
	m := w.model[no]
	switch w.rng.IntN(40) {
	case 0:
		for range 150 {
			sub, value := w.randSub(no), fmt.Appendf(nil, "%d", w.rng.IntN(300))
			if no == 2 && len(m[string(key)][""]) > 2 {
				return // few values of one key at a time
			}
			t.Add(h, key, sub, value, 1)
			m.add(string(key), string(sub), string(value), 1)
		}
	case 1, 2:
		keep := w.rng.IntN(20)
		for r := t.First(h, key); r != 0; {
			next := t.Next(r)
			if keep--; keep < 0 {
				m.add(string(key), string(t.Sub(r)), string(t.Value(r)), -t.Weight(r))
				t.Delete(r)
			}
			r = next
		}
	}
}

// settle removes what may not be there at a barrier.
func (w *world) settle() {
	for no, m := range w.model {
		for key, subs := range m.clone() {
			k := []byte(key)
			h := keyenc.Hash(k)
			t := w.load(no, k)
			for sub, vals := range subs {
				left := false
				for v, weight := range vals {
					want := weight
					if !kinds[no] {
						want = 1
						if left || weight < 0 {
							want = 0
						}
					} else if weight < 0 {
						want = 0
					}
					left = left || want > 0
					if want != weight {
						t.Add(h, k, []byte(sub), []byte(v), want-weight)
						m.add(key, sub, v, want-weight)
					}
				}
			}
		}
	}
	for no := range w.model {
		for i := range w.shards {
			t := tableOf(w.s.Shard(stageOf(no), i), no)
			if t.Negatives() != 0 || t.Conflicts() != 0 || len(t.Offenders(5)) != 0 {
				w.t.Fatalf("table %d: %d negatives, %d conflicts after settling", no, t.Negatives(), t.Conflicts())
			}
		}
	}
}

func (w *world) load(no int, key []byte) *Table {
	t := tableOf(w.shardOf(no, key), no)
	var kb KeyBatch
	kb.Add(key)
	if err := t.Load(&kb); err != nil {
		w.t.Fatal(err)
	}
	return t
}

func (w *world) freeze() {
	if w.pending != nil {
		w.finish()
	}
	w.settle()
	w.epoch++
	w.pending = []*Frozen{}
	w.each(func(_ int, sh *Shard) { w.pending = append(w.pending, sh.Freeze()) })
	for i := range w.model {
		w.pendModel[i] = w.model[i].clone()
	}
	w.pendCut = fmt.Appendf(nil, "cut %d", w.epoch)
}

func (w *world) finish() {
	if err := w.s.Commit(w.pending, w.pendCut); err != nil {
		w.t.Fatal(err)
	}
	w.committed, w.cut = w.pendModel, w.pendCut
	w.each(func(i int, sh *Shard) { must(w.t, sh.Durable(w.pending[i])) })
	w.pending, w.pendModel = nil, [3]modelTable{}
}

func (w *world) verify() {
	w.t.Helper()
	for no := range w.model {
		for i := range w.keys {
			k := w.key(i)
			w.check(w.load(no, k), no, k)
			if w.budget > 0 && w.rng.IntN(4) == 0 {
				w.maintain()
			}
		}
		want, neg := w.model[no].count()
		got, gotNeg := 0, 0
		rows := w.s.restored[TableID(uint8(stageOf(no)), uint8(no))]
		for i := range w.shards {
			t := tableOf(w.s.Shard(stageOf(no), i), no)
			got += t.Len()
			rows += t.Rows()
			gotNeg += t.Negatives()
			t.audit(w.t)
		}
		if rows != int64(want) {
			w.t.Fatalf("table %d has %d rows, on disk too; want %d", no, rows, want)
		}
		if got > want || w.budget == 0 && got != want || gotNeg != neg {
			w.t.Fatalf("table %d has %d rows in memory, %d negative; want %d, %d", no, got, gotNeg, want, neg)
		}
	}
}

// checkWarm sees that all of the state is in memory, and that misses are final.
func (w *world) checkWarm() {
	if w.budget > 0 {
		return // it may not fit
	}
	w.each(func(_ int, sh *Shard) {
		if sh.Cold() {
			w.t.Fatal("cold after Warm")
		}
	})
	for no, m := range w.model {
		want, _ := m.count()
		for i := range w.shards {
			want -= tableOf(w.s.Shard(stageOf(no), i), no).Len()
		}
		if want != 0 {
			w.t.Fatalf("%d rows of table %d were not warmed up", want, no)
		}
	}
	if n := w.s.cold.Load(); n != 0 {
		w.t.Fatalf("%d cold key groups after Warm", n)
	}
}

// warm calls Warm of all shards n times.
func (w *world) warm(n int) {
	w.each(func(_ int, sh *Shard) {
		for range n {
			more, err := sh.Warm()
			if err != nil {
				w.t.Fatal(err)
			}
			if !more {
				break
			}
		}
	})
}

func (w *world) maintain() {
	w.each(func(_ int, sh *Shard) {
		if err := sh.Maintain(); err != nil {
			w.t.Fatal(err)
		}
		w.runs += len(sh.runs)
	})
}

func (w *world) run(steps int) {
	for i := range w.committed {
		w.committed[i] = modelTable{}
	}
	w.open()
	for range steps {
		switch x := w.rng.IntN(100); {
		case x < 70:
			w.batch()
		case x < 78:
			w.maintain()
		case x < 80:
			w.warm(1 + w.rng.IntN(100))
		case x < 88:
			if !w.slow || w.rng.IntN(200) == 0 {
				w.freeze()
			}
		case x < 95:
			if w.pending != nil {
				w.finish()
			}
		case x < 97:
			w.verify()
		case w.fs != nil:
			for range 1 + w.rng.IntN(3) { // more than one in a row
				clone := w.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: w.rng.IntN(2) * 50, RNG: w.rng})
				if err := w.s.Close(); err != nil {
					w.t.Fatal(err)
				}
				w.fs = clone
				w.shards = 1 + w.rng.IntN(5)
				w.open()
			}
			if w.rng.IntN(3) == 0 {
				w.warm(1 << 20)
				w.checkWarm()
			}
			if w.rng.IntN(2) == 0 {
				w.verify()
			}
		}
	}
	w.verify()
	w.empty()
}

// empty deletes everything and sees that nothing is left.
func (w *world) empty() {
	for no, m := range w.model {
		for key, subs := range m.clone() {
			t := w.load(no, []byte(key))
			h := keyenc.Hash([]byte(key))
			for range subs {
				if r := t.First(h, []byte(key)); r != 0 {
					t.Delete(r)
				}
			}
			for r := t.First(h, []byte(key)); r != 0; r = t.First(h, []byte(key)) {
				t.Delete(r)
			}
			delete(m, key)
		}
	}
	w.freeze()
	w.finish()
	w.maintain()
	w.verify()
	w.each(func(i int, sh *Shard) {
		if sh.arena.live != 0 || sh.arena.held != 0 || sh.dirtyBytes != 0 {
			w.t.Fatalf("shard %d still holds %d bytes live, %d in slabs, %d dirty", i, sh.arena.live, sh.arena.held, sh.dirtyBytes)
		}
		for _, t := range sh.order {
			if t.Len() != 0 || t.Bytes() != 0 {
				w.t.Fatalf("table %d: %d rows, %d bytes", t.id, t.Len(), t.Bytes())
			}
		}
	})
	if n := w.s.countStateKeys(w.t); n != 0 {
		w.t.Fatalf("%d state keys left in Pebble", n)
	}
	if err := w.s.Close(); err != nil {
		w.t.Fatal(err)
	}
}

func (s *Store) countStateKeys(t testing.TB) int {
	if s.db == nil {
		return 0
	}
	it, err := s.db.NewIter(nil)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		if it.Key()[0] != metaSpace {
			n++
		}
	}
	if err := errorsFirst(it.Error(), it.Close()); err != nil {
		t.Fatal(err)
	}
	return n
}

// audit checks a table's structure: links, indexes, flags and counters.
func (t *Table) audit(tb testing.TB) {
	tb.Helper()
	a := &t.sh.arena
	live, used, heads := 0, 0, 0
	var bytes, bigs int64
	seen := map[*segment]bool{}
	for i, g := range t.ix.dir {
		if i>>(t.ix.depth-g.depth)<<(t.ix.depth-g.depth) == i {
			if seen[g] {
				tb.Fatal("segment stands twice")
			}
			seen[g] = true
		} else if !seen[g] {
			tb.Fatal("segment stands in the wrong places")
		}
	}
	for g := range seen {
		n := uint32(0)
		for j := uint32(0); j <= g.mask; j++ {
			s := g.slot(j)
			if s.ref == 0 {
				continue
			}
			n++
			heads++
			if h := keyenc.Hash(a.at(s.ref).key()); tagOf(h) != s.tag || t.head(h, a.at(s.ref).key()) != s.ref {
				tb.Fatal("slot leads astray")
			}
			prev := Ref(0)
			members := 0
			for r := s.ref; r != 0; {
				e := a.at(r)
				bytes += int64(a.size(r))
				if e.prev != prev || e.flags&flagDead != 0 {
					tb.Fatal("broken link or dead member")
				}
				if e.flags&flagGroup != 0 {
					bigs += t.bigOf(e).ix.bytes
				} else {
					members++
					if (e.flags&flagIndexed != 0) != (a.at(s.ref).flags&flagGroup != 0) {
						tb.Fatal("indexed flag does not match the group")
					}
					if e.weight == 0 && e.flags&flagDurable == 0 {
						tb.Fatal("tombstone of nothing")
					}
				}
				if e.weight != 0 {
					live++
				}
				prev, r = r, e.next
			}
			if head := a.at(s.ref); head.flags&flagGroup != 0 && t.bigOf(head).ix.used != members {
				tb.Fatal("big group's index has another number of entries")
			}
		}
		if n != g.used {
			tb.Fatal("segment counts wrongly")
		}
		used += int(n)
	}
	dead := map[Ref]bool{}
	for _, list := range [][]Ref{t.dirty, t.frozen, t.buried} {
		for _, r := range list {
			if a.at(r).flags&flagDead != 0 && !dead[r] {
				dead[r] = true
				bytes += int64(a.size(r))
			}
		}
	}
	if live != t.live || used != t.ix.used || bytes != t.bytes || bigs != t.bigBytes {
		tb.Fatalf("counters: live %d is %d, groups %d is %d, bytes %d is %d, index bytes %d is %d",
			t.live, live, t.ix.used, used, t.bytes, bytes, t.bigBytes, bigs)
	}
}

func TestModel(t *testing.T) {
	for _, c := range []struct {
		name   string
		disk   bool
		budget int64
		long   bool
		slow   bool
	}{
		{"memory", false, 0, true, false},
		{"unlimited", true, 0, false, false},
		{"unlimited long", true, 0, true, false},
		{"tiny", true, 1 << 16, false, false},
		{"small long", true, 4 << 20, true, false},
		{"tiny, long epochs", true, 1 << 16, false, true},
		{"small long, long epochs", true, 1 << 20, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			seeds, steps, runs := uint64(6), 300, 0
			if c.slow {
				steps *= 2
			}
			if underRace {
				seeds, steps = 2, 120
			}
			for seed := range seeds {
				w := &world{t: t, rng: rand.New(rand.NewPCG(seed, 1)), budget: c.budget, shards: 1 + int(seed)%3, keys: 120, long: c.long, slow: c.slow}
				if c.disk {
					w.fs = vfs.NewCrashableMem()
				}
				w.run(steps)
				runs += w.runs
			}
			if c.slow && runs == 0 {
				t.Error("no run was written")
			}
		})
	}
}
