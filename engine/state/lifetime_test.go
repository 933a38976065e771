package state

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/sluicesql/sluice/engine/keyenc"
)

// timedModel is what a timed table must hold: rows by key and sub, or by key and value.
type timedModel map[string]timedRow

type timedRow struct {
	value  string
	weight int32
	time   int64
}

// text lists the rows of a model, or of a table, for comparison.
func (m timedModel) text() string {
	var lines []string
	for k, r := range m {
		lines = append(lines, fmt.Sprintf("%s=%s*%d@%d", k, r.value, r.weight, r.time))
	}
	sort.Strings(lines)
	return fmt.Sprint(lines)
}

// A timed table over random epochs, with commits, restarts and state that leaves memory, holds at each barrier the
// rows that a plain map would, with the end of the epoch that changed them; what is too old is not there.
func TestTimedTable(t *testing.T) {
	seeds := int64(12)
	if underRace {
		seeds = 4
	}
	for seed := range seeds {
		for _, bag := range []bool{false, true} {
			for _, durable := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d/bag=%v/durable=%v", seed, bag, durable), func(t *testing.T) {
					runTimed(t, rand.New(rand.NewPCG(uint64(seed), 0)), bag, durable)
				})
			}
		}
	}
}

func runTimed(t *testing.T, rnd *rand.Rand, bag, durable bool) {
	const ttl, keys, subs, values = 50, 4, 150, 3
	o := Options{Shards: 1}
	if durable {
		o.Dir, o.Budget = t.TempDir(), 1
	}
	now := int64(1000)
	open := func() (*Store, *Table) {
		s, err := Open(o)
		must(t, err)
		table := s.Shard(0, 0).Table(1, bag)
		table.MakeTimed(ttl)
		table.SetTime(now)
		return s, table
	}
	s, table := open()
	defer func() { must(t, s.Close()) }()
	var all KeyBatch
	for k := range keys {
		all.Add(intKey(nil, uint64(k)))
	}
	model := timedModel{}
	for epoch := range 60 {
		must(t, table.Load(&all))
		table.Expire(&all, nil)
		for k, r := range model {
			if r.time <= now-ttl-1 {
				delete(model, k)
			}
		}
		before := timedModel{}
		for k, r := range model {
			before[k] = r
		}
		for range rnd.IntN(400) {
			k := rnd.IntN(keys)
			if k > 1 { // the first groups become big
				k = rnd.IntN(2)
			}
			key := all.Key(k)
			sub, value := fmt.Sprint(rnd.IntN(subs)), fmt.Sprint(rnd.IntN(values))
			if bag {
				value = sub
				delta := int32(1)
				id := fmt.Sprintf("%x/%s", key, value)
				if r := model[id]; r.weight > 0 && rnd.IntN(2) == 0 {
					delta = -1
				}
				table.Add(all.Hash(k), key, nil, []byte(value), delta)
				r := model[id]
				r.value, r.weight = value, r.weight+delta
				if model[id] = r; r.weight == 0 {
					delete(model, id)
				}
				continue
			}
			id := fmt.Sprintf("%x/%s", key, sub)
			if at := table.Find(all.Hash(k), key, []byte(sub)); at != 0 && rnd.IntN(3) == 0 {
				table.Delete(at)
				delete(model, id)
				continue
			}
			table.Put(all.Hash(k), key, []byte(sub), []byte(value))
			model[id] = timedRow{value: value, weight: 1}
		}
		end := now + int64(rnd.IntN(30))
		for k, r := range model {
			if was, ok := before[k]; ok && was.value == r.value && was.weight == r.weight {
				r.time = was.time
			} else {
				r.time = end - 1
			}
			model[k] = r
		}
		must(t, table.Sweep(func(k *KeyBatch) error {
			if err := table.Load(k); err != nil {
				return err
			}
			table.Expire(k, nil)
			return nil
		}))
		must(t, table.Settle(end))
		for k, r := range model {
			if r.time <= now-ttl-1 {
				delete(model, k)
			}
		}
		must(t, table.Load(&all))
		if got, want := timedText(table, &all), model.text(); got != want {
			t.Fatalf("epoch %d:\ngot  %s\nwant %s", epoch, got, want)
		}
		now = end
		table.SetTime(now)
		if !durable || rnd.IntN(2) == 0 {
			continue
		}
		f := s.Shard(0, 0).Freeze()
		must(t, s.Commit([]*Frozen{f}, nil))
		must(t, s.Shard(0, 0).Durable(f))
		must(t, s.Shard(0, 0).Maintain())
		if rnd.IntN(3) == 0 {
			must(t, s.Close())
			s, table = open()
		}
	}
}

func timedText(t *Table, keys *KeyBatch) string {
	m := timedModel{}
	for k := range keys.Len() {
		for r := t.First(keys.Hash(k), keys.Key(k)); r != 0; r = t.Next(r) {
			ident := t.Sub(r)
			if t.bag {
				ident = t.Value(r)
			}
			m[fmt.Sprintf("%x/%s", keys.Key(k), ident)] = timedRow{string(t.Value(r)), t.Weight(r), t.sh.arena.at(r).time()}
		}
	}
	return m.text()
}

// Rows that nobody asks for again leave memory and disk as epochs pass, in a number of looks that is in proportion to
// the rows.
func TestSweepFreesSpace(t *testing.T) {
	const rows, ttl = 20_000, 1000
	s, err := Open(Options{Dir: t.TempDir(), Shards: 1, Budget: 4 << 20})
	must(t, err)
	defer func() { must(t, s.Close()) }()
	sh := s.Shard(0, 0)
	table := sh.Table(1, false)
	table.MakeTimed(ttl)
	now := int64(1_000_000)
	table.SetTime(now)
	end := func(millis int64) {
		must(t, table.Sweep(func(k *KeyBatch) error {
			if err := table.Load(k); err != nil {
				return err
			}
			table.Expire(k, nil)
			return nil
		}))
		found := sh.shown.loaded.Load()
		must(t, table.Settle(millis))
		if n := sh.shown.loaded.Load() - found; n > 0 && millis > 1_000_000 {
			t.Fatalf("%d groups were read again to be settled", n)
		}
		f := sh.Freeze()
		must(t, s.Commit([]*Frozen{f}, nil))
		must(t, sh.Durable(f))
		must(t, sh.Maintain())
		table.SetTime(millis)
	}
	value := make([]byte, 300)
	noise := rand.NewChaCha8([32]byte{})
	for i := range rows {
		key := intKey(nil, uint64(i))
		_, err := noise.Read(value) // never fails
		must(t, err)
		table.Put(keyenc.Hash(key), key, nil, value)
		if i%1000 == 999 {
			must(t, sh.Maintain())
		}
	}
	end(now)
	disk := func() uint64 {
		must(t, s.db.Flush())
		must(t, s.db.Compact(t.Context(), []byte{0}, []byte{metaSpace}, false))
		n, err := s.db.EstimateDiskUsage([]byte{0}, []byte{metaSpace})
		must(t, err)
		return n
	}
	full := s.Stats()
	if full.Rows != rows || table.coldGroups == 0 || disk() < rows*200 {
		t.Fatalf("%d rows, %d cold groups, %d bytes on disk: too little to free", full.Rows, table.coldGroups, disk())
	}
	steps := 0
	for ; table.Rows() > 0; steps++ {
		if steps == 200 {
			t.Fatalf("%d rows are left", table.Rows())
		}
		now += ttl
		end(now)
	}
	if st, left := s.Stats(), disk(); st.Rows != 0 || left > rows || st.Live > full.Live/10+1<<20 {
		t.Errorf("%d rows, %d bytes on disk, %d in memory after %d", st.Rows, left, st.Live, full.Live)
	}
}
