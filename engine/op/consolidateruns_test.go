package op

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/engine/types"
)

func memoryStore(t testing.TB) *state.Store {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	s, err := state.Open(state.Options{Shards: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
			t.Errorf("left in the temporary directory: %v %v", left, err)
		}
	})
	return s
}

// randomEpoch is a valid epoch over a few keys, in any order, as changes that came over several shards are; rows of
// different lengths begin alike.
func randomEpoch(rng *rand.Rand, held map[int64]string) []string {
	var lines []string
	value := func() string { return strings.Repeat("a", 1+rng.IntN(3)) + strings.Repeat("\x00", rng.IntN(6)) + "b" }
	for range rng.IntN(60) {
		k := rng.Int64N(8)
		was, ok := held[k]
		switch {
		case !ok:
			held[k] = value()
			lines = append(lines, fmt.Sprintf("+I %d %s", k, held[k]))
		case rng.IntN(2) == 0:
			delete(held, k)
			lines = append(lines, fmt.Sprintf("-D %d %s", k, was))
		default:
			held[k] = value()
			lines = append(lines, fmt.Sprintf("-D %d %s", k, was), fmt.Sprintf("+I %d %s", k, held[k]))
		}
	}
	rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return lines
}

// An epoch that goes through runs has the same net changes as one in memory, deletes first.
func TestConsolidateRuns(t *testing.T) {
	store := memoryStore(t)
	rng := rand.New(rand.NewPCG(1, 2))
	key := []keyenc.Column{{Index: 0, Phys: types.PhysInt}}
	for _, c := range []struct {
		name   string
		pair   []keyenc.Column
		upsert bool
	}{{"key", key, false}, {"upsert", key, true}, {"rows", nil, false}} {
		t.Run(c.name, func(t *testing.T) {
			spec := ConsolidateSpec{Pair: c.pair, Upsert: c.upsert}
			mem, disk := NewConsolidate(spec), NewConsolidate(spec)
			held := map[int64]string{}
			spilled := 0
			for range 60 {
				disk.SpillTo(store.Scratch(), 1+rng.IntN(600)) // several limits, each of its own Scratch
				lines := randomEpoch(rng, held)
				for len(lines) > 0 {
					n := 1 + rng.IntN(len(lines))
					b := batchOf(t, lines[:n]...)
					lines = lines[n:]
					if err := errors.Join(mem.Push(b), disk.Push(b)); err != nil {
						t.Fatal(err)
					}
				}
				if !disk.runs.scratch.Empty() {
					spilled++
				}
				var got, want collect
				if err := errors.Join(mem.Finish(&want), disk.Finish(&got)); err != nil {
					t.Fatal(err)
				}
				late := slices.IndexFunc(got.lines, func(l string) bool { return l[:2] != "-D" })
				if late >= 0 && slices.ContainsFunc(got.lines[late:], func(l string) bool { return l[:2] == "-D" }) {
					t.Fatalf("a delete comes late in %q", got.lines)
				}
				for i, l := range got.lines {
					if l[:2] == "-U" && (i+1 == len(got.lines) || got.lines[i+1][:5] != "+U"+l[2:5]) {
						t.Fatalf("half an update in %q", got.lines)
					}
				}
				slices.Sort(got.lines)
				slices.Sort(want.lines)
				if !slices.Equal(got.lines, want.lines) {
					t.Fatalf("got  %q\nwant %q", got.lines, want.lines)
				}
				if !disk.runs.scratch.Empty() {
					t.Fatal("runs are left after the epoch")
				}
			}
			if spilled < 20 {
				t.Errorf("%d epochs went to disk", spilled)
			}
		})
	}
}

// Where state forgets, one of several rows of a key and sign counts: the same in any order, in memory and through runs,
// among inserts alone too.
func TestConsolidateChooses(t *testing.T) {
	store := memoryStore(t)
	rng := rand.New(rand.NewPCG(3, 4))
	key := []keyenc.Column{{Index: 0, Phys: types.PhysInt}}
	for _, upsert := range []bool{false, true} {
		spec := ConsolidateSpec{Pair: key, Upsert: upsert, Choose: true}
		mem, disk := NewConsolidate(spec), NewConsolidate(spec)
		several, spilled := 0, 0
		for epoch := range 200 {
			disk.SpillTo(store.Scratch(), 1+rng.IntN(600))
			var lines []string
			weights := map[string]int{}
			for range rng.IntN(30) {
				sign := "+I"
				if epoch%4 > 0 && rng.IntN(2) == 0 {
					sign = "-D"
				}
				id := fmt.Sprintf("%d %s", rng.Int64N(6), strings.Repeat("b", rng.IntN(3))+[]string{"a", "c"}[rng.IntN(2)])
				lines = append(lines, sign+" "+id)
				weights[id] += map[string]int{"+I": 1, "-D": -1}[sign]
			}
			// The greatest of what is left of each key and sign.
			best := map[string]string{}
			for id, w := range weights {
				if w == 0 {
					continue
				}
				at := fmt.Sprintf("%t %s", w > 0, id[:1])
				if was, ok := best[at]; ok {
					several++
					if len(was) > len(id) || len(was) == len(id) && was > id {
						continue
					}
				}
				best[at] = id
			}
			var want []string
			for k := range 6 {
				before, minus := best[fmt.Sprintf("false %d", k)]
				after, plus := best[fmt.Sprintf("true %d", k)]
				switch {
				case minus && plus && upsert:
					want = append(want, "+U "+after)
				case minus && plus:
					want = append(want, "-U "+before, "+U "+after)
				case minus:
					want = append(want, "-D "+before)
				case plus:
					want = append(want, "+I "+after)
				}
			}
			slices.Sort(want)
			for _, k := range []*Consolidate{mem, disk} {
				rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
				for _, l := range lines {
					if err := k.Push(batchOf(t, l)); err != nil {
						t.Fatal(err)
					}
				}
				if k == disk && !disk.runs.scratch.Empty() {
					spilled++
				}
				var got collect
				if err := k.Finish(&got); err != nil {
					t.Fatal(err)
				}
				slices.Sort(got.lines)
				if !slices.Equal(got.lines, want) {
					t.Fatalf("of %q\ngot  %q\nwant %q (disk: %t)", lines, got.lines, want, k == disk)
				}
			}
		}
		if several < 100 || spilled < 50 {
			t.Errorf("%d rows had another of their key, %d epochs went to disk", several, spilled)
		}
	}
}

// Rows without a key come as often as they are there.
func TestConsolidateRunsMultiplicity(t *testing.T) {
	k := NewConsolidate(ConsolidateSpec{})
	k.SpillTo(memoryStore(t).Scratch(), 1)
	for _, l := range []string{"+I 1 a", "+I 1 a", "-D 2 b", "+I 1 a", "-D 2 b", "-D 1 a", "+I 3 c", "-D 3 c"} {
		if err := k.Push(batchOf(t, l)); err != nil {
			t.Fatal(err)
		}
	}
	var out collect
	if err := k.Finish(&out); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(out.lines, "; "); got != "-D 2 b; -D 2 b; +I 1 a; +I 1 a" {
		t.Error(got)
	}
}

// BenchmarkConsolidateRuns is an epoch of updates that goes through runs of 4 MB.
func BenchmarkConsolidateRuns(b *testing.B) {
	in := make([]changelog.Batch, 50)
	rows := 0
	for p := range in {
		for i := range 4096 {
			k, v := int64(i*len(in)+p), fmt.Sprintf("some value of usual length %d", i)
			in[p].AppendRow(changelog.UpdateBefore, pairRow(k, v))
			in[p].AppendRow(changelog.UpdateAfter, pairRow(k, v+"'"))
		}
		rows += in[p].Len()
	}
	store := memoryStore(b)
	k := NewConsolidate(ConsolidateSpec{Pair: []keyenc.Column{{Index: 0, Phys: types.PhysInt}}})
	k.SpillTo(store.Scratch(), 4<<20)
	b.ReportAllocs()
	for b.Loop() {
		for p := range in {
			if err := k.Push(&in[p]); err != nil {
				b.Fatal(err)
			}
		}
		if err := k.Finish(discard{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
}
