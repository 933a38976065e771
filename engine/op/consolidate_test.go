package op

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// pairPhys is the schema of the tests: (k INT, v STRING).
var pairPhys = []types.Phys{types.PhysInt, types.PhysBytes}

func pairRow(k int64, v string) row.Row {
	var b row.Builder
	b.Begin(nil, 2)
	b.Int64(0, k)
	b.String(1, v)
	return b.Finish(pairPhys)
}

// pairText reads a row from its two values; NULL is NULL.
func pairText(t testing.TB, k, v string) row.Row {
	t.Helper()
	var b row.Builder
	b.Begin(nil, 2)
	if k != "NULL" {
		n, err := strconv.ParseInt(k, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		b.Int64(0, n)
	}
	if v != "NULL" {
		b.String(1, v)
	}
	return b.Finish(pairPhys)
}

// collect is an Output that writes changes down, as "+I 1 a".
type collect struct{ lines []string }

func (c *collect) Push(b *changelog.Batch) error {
	for i := range b.Len() {
		r := b.Row(i)
		c.lines = append(c.lines, fmt.Sprintf("%s %d %s", b.Op(i), r.Int64(0), r.Bytes(1)))
	}
	return nil
}

// batchOf reads changes written as collect writes them.
func batchOf(t testing.TB, lines ...string) *changelog.Batch {
	t.Helper()
	var b changelog.Batch
	for _, l := range lines {
		var op, k, v string
		if _, err := fmt.Sscanf(l, "%s %s %s", &op, &k, &v); err != nil {
			t.Fatalf("%q: %v", l, err)
		}
		b.AppendRow(map[string]changelog.Op{"+I": changelog.Insert, "-U": changelog.UpdateBefore, "+U": changelog.UpdateAfter, "-D": changelog.Delete}[op], pairText(t, k, v))
	}
	return &b
}

func TestConsolidate(t *testing.T) {
	key := []keyenc.Column{{Index: 0, Phys: types.PhysInt}}
	for _, c := range []struct {
		name     string
		pair     []keyenc.Column
		upsert   bool
		in, want string
	}{
		{"inserts pass in order", nil, false, "+I 2 a; +I 1 a; +I 2 a", "+I 2 a; +I 1 a; +I 2 a"},
		{"insert and delete cancel", nil, false, "+I 1 a; -D 1 a", ""},
		{"delete and insert of the same row cancel", nil, false, "-D 1 a; +I 1 a", ""},
		{"one of two equal rows stays", nil, false, "+I 1 a; +I 1 a; -D 1 a", "+I 1 a"},
		{"deletes go first", nil, false, "+I 1 a; -D 2 b", "-D 2 b; +I 1 a"},
		{"an update stays one without a key", nil, false, "-U 1 a; +U 1 b", "-U 1 a; +U 1 b"},
		{"a chain of updates becomes one", nil, false, "-U 1 a; +U 1 b; -U 1 b; +U 1 c", "-U 1 a; +U 1 c"},
		{"an update undone is nothing", nil, false, "-U 1 a; +U 1 b; -U 1 b; +U 1 a", ""},
		{"an update that changes nothing is nothing", nil, false, "-U 1 a; +U 1 a", ""},
		{"an insert updated is an insert", nil, false, "+I 1 a; -U 1 a; +U 1 b", "+I 1 b"},
		{"an update deleted is a delete", nil, false, "-U 1 a; +U 1 b; -D 1 b", "-D 1 a"},
		{"no update is made without a key", nil, false, "-D 1 a; +I 1 b", "-D 1 a; +I 1 b"},
		{"a key makes an update", key, false, "-D 1 a; +I 1 b; +I 2 x", "-U 1 a; +U 1 b; +I 2 x"},
		{"order between shards does not matter", key, false, "+I 1 b; -D 1 a", "-U 1 a; +U 1 b"},
		{"upsert leaves out the row before", key, true, "-D 1 a; +I 1 b; -D 2 c", "-D 2 c; +U 1 b"},
		{"an update of the key is a delete and an insert", key, false, "-U 1 a; +U 2 a", "-D 1 a; +I 2 a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := NewConsolidate(ConsolidateSpec{Pair: c.pair, Upsert: c.upsert})
			for _, l := range strings.Split(c.in, "; ") { // a batch each: batches do not matter
				if err := k.Push(batchOf(t, l)); err != nil {
					t.Fatal(err)
				}
			}
			var out collect
			if err := k.Finish(&out); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(out.lines, "; "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// An epoch that leaves a key two rows of one sign names them, whatever order they come in, in memory and through runs;
// among inserts alone where the key is in doubt.
func TestConsolidateRefusesTwoRowsOfOneKey(t *testing.T) {
	store := memoryStore(t)
	for _, c := range []struct{ in, plain, want string }{
		{"+I 1 c; +I 2 x; +I 1 b", "", "+ 1 b, 1 c"},
		{"+I 1 b; +I 1 b", "", "+ 1 b, 1 b"},
		{"+I 1 b; +I 1 c; -D 2 x", "+ 1 b, 1 c", "+ 1 b, 1 c"},
		{"-D 1 a; +I 1 b; +I 1 cc", "+ 1 b, 1 cc", "+ 1 b, 1 cc"},
		{"-D 1 a; -D 1 b; +I 1 c", "- 1 a, 1 b", "- 1 a, 1 b"},
		{"-D 1 a; -D 1 a", "- 1 a, 1 a", "- 1 a, 1 a"},
		{"+U 1 a; +U 1 b", "+ 1 a, 1 b", "+ 1 a, 1 b"},
		{"+I 1 a; +I 1 b; -D 1 a; +I 2 a", "", ""},
		{"+I 1 a; +I 2 a; +I 3 a", "", ""},
	} {
		lines := strings.Split(c.in, "; ")
		for _, doubt := range []bool{false, true} {
			for _, runs := range []bool{false, true} {
				for _, turned := range []bool{false, true} {
					k := NewConsolidate(ConsolidateSpec{Pair: []keyenc.Column{{Index: 0, Phys: types.PhysInt}}, Doubt: doubt, SameKey: func(x, y row.Row, taken bool) error {
						return fmt.Errorf("%s %d %s, %d %s", map[bool]string{true: "-", false: "+"}[taken], x.Int64(0), x.Bytes(1), y.Int64(0), y.Bytes(1))
					}})
					if runs {
						k.SpillTo(store.Scratch(), 1)
					}
					for i := range lines {
						if turned {
							i = len(lines) - 1 - i
						}
						if err := k.Push(batchOf(t, lines[i])); err != nil {
							t.Fatal(err)
						}
					}
					want, got := c.want, ""
					if !doubt && !runs {
						want = c.plain
					}
					if err := k.Finish(&collect{}); err != nil {
						got = err.Error()
					}
					if got != want {
						t.Errorf("%s (doubt %t, runs %t, turned %t): got %q, want %q", c.in, doubt, runs, turned, got, want)
					}
				}
			}
		}
	}
}

// TestConsolidateNet holds random epochs to their net effect: no row of both signs, the same sum, deletes first.
func TestConsolidateNet(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		k := NewConsolidate(ConsolidateSpec{})
		want := map[string]int{}
		for range rng.IntN(40) {
			id, v := rng.Int64N(4), string(rune('a'+rng.IntN(3)))
			name := fmt.Sprintf("%d %s", id, v)
			if rng.IntN(3) == 0 {
				w := string(rune('a' + rng.IntN(3)))
				_ = k.Push(batchOf(t, "-U "+name, fmt.Sprintf("+U %d %s", id, w)))
				want[name]--
				want[fmt.Sprintf("%d %s", id, w)]++
				continue
			}
			op := changelog.Insert
			if rng.IntN(2) == 0 {
				op = changelog.Delete
			}
			_ = k.Push(batchOf(t, op.String()+" "+name))
			want[name] += op.Weight()
		}
		var out collect
		if err := k.Finish(&out); err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		signs := map[string]string{}
		late := false
		for i, l := range out.lines {
			name, sign := l[3:], l[:1]
			if s, ok := signs[name]; ok && s != sign {
				t.Fatalf("%s comes with both signs in %v", name, out.lines)
			}
			signs[name] = sign
			if sign == "+" {
				got[name]++
			} else {
				got[name]--
			}
			if l[:2] == "-D" && late {
				t.Fatalf("a delete comes late in %v", out.lines)
			}
			late = late || l[:2] != "-D"
			if l[:2] == "-U" && (i+1 == len(out.lines) || out.lines[i+1][:2] != "+U") {
				t.Fatalf("half an update in %v", out.lines)
			}
		}
		if a, b := sum(got), sum(want); a != b {
			t.Fatalf("got %s want %s", a, b)
		}
	}
}

func sum(m map[string]int) string {
	var s []string
	for k, n := range m {
		if n != 0 {
			s = append(s, fmt.Sprintf("%s:%+d", k, n))
		}
	}
	sort.Strings(s)
	return strings.Join(s, " ")
}

// BenchmarkConsolidate is an epoch of updates of which a third cancel.
func BenchmarkConsolidate(b *testing.B) {
	var in changelog.Batch
	for i := range 4096 {
		v := fmt.Sprintf("some value of usual length %d", i)
		in.AppendRow(changelog.UpdateBefore, pairRow(int64(i), v))
		in.AppendRow(changelog.UpdateAfter, pairRow(int64(i), v+"'"))
		if i%3 == 0 {
			in.AppendRow(changelog.UpdateBefore, pairRow(int64(i), v+"'"))
			in.AppendRow(changelog.UpdateAfter, pairRow(int64(i), v+"''"))
		}
	}
	k := NewConsolidate(ConsolidateSpec{})
	b.ReportAllocs()
	for b.Loop() {
		_ = k.Push(&in)
		_ = k.Finish(discard{})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*in.Len()), "ns/row")
}

type discard struct{}

func (discard) Push(*changelog.Batch) error { return nil }
