package keyenc

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

var update = flag.Bool("update", false, "write testdata/golden.txt anew; doing so changes the on-disk format")

var all = []types.Phys{types.PhysInt, types.PhysFloat, types.PhysWide, types.PhysBytes}

func samples() map[types.Phys][]row.Datum {
	return map[types.Phys][]row.Datum{
		types.PhysInt:   {row.NullDatum, row.Int(0), row.Int(1), row.Int(-1), row.Int(math.MaxInt64), row.Int(math.MinInt64), row.Int(256)},
		types.PhysFloat: {row.NullDatum, row.Float(0), row.Float(math.Copysign(0, -1)), row.Float(1.5), row.Float(-1.5), row.Float(math.Inf(1)), row.Float(math.Inf(-1)), row.Float(math.NaN())},
		types.PhysWide:  {row.NullDatum, row.Wide(0, 0), row.Wide(0, 1), row.Wide(-1, math.MaxUint64), row.Wide(math.MaxInt64, math.MaxUint64), row.Wide(math.MinInt64, 0)},
		types.PhysBytes: {row.NullDatum, row.String(""), row.String("a"), row.String("\x00"), row.String("a\x00b"), row.String("\xff\xff"), row.String("Egor"), row.String("Егор, 17 bytes +")},
	}
}

// The encodings and hashes are on-disk format: this file changes only with the format's version.
func TestGolden(t *testing.T) {
	var got strings.Builder
	for _, p := range all {
		for _, d := range samples()[p] {
			key := AppendDatum(nil, p, d)
			h := Hash(key)
			fmt.Fprintf(&got, "%d %x hash %016x group %d\n", p, key, h, Group(h))
		}
	}
	for n := range 40 {
		fmt.Fprintf(&got, "length %d hash %016x\n", n, Hash([]byte("0123456789abcdefghijklmnopqrstuvwxyzABCD")[:n]))
	}
	if *update {
		if err := os.WriteFile("testdata/golden.txt", []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the on-disk format changed:\n%s", got.String())
	}
}

// compare orders values as SQL does, NULL first, as an independent statement of what the bytes must do.
func compare(p types.Phys, a, b row.Datum) int {
	if a.Null || b.Null {
		return cmp.Compare(btoi(b.Null), btoi(a.Null))
	}
	switch p {
	case types.PhysInt:
		return cmp.Compare(a.I, b.I)
	case types.PhysBytes:
		return bytes.Compare(a.B, b.B)
	case types.PhysWide:
		if c := cmp.Compare(a.Hi, b.Hi); c != 0 {
			return c
		}
		return cmp.Compare(uint64(a.I), uint64(b.I))
	default:
		x, y := a.Float(), b.Float()
		if x != x || y != y { // NaN is above everything
			return cmp.Compare(btoi(x != x), btoi(y != y))
		}
		return cmp.Compare(x, y)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func random(r *rand.Rand, p types.Phys) row.Datum {
	s := samples()[p]
	if r.IntN(3) == 0 {
		return s[r.IntN(len(s))]
	}
	switch p {
	case types.PhysInt:
		return row.Int(int64(r.Uint64()) >> r.IntN(64))
	case types.PhysFloat:
		return row.Float(r.NormFloat64() * math.Pow(10, float64(r.IntN(40)-20)))
	case types.PhysWide:
		return row.Wide(int64(r.Uint64())>>r.IntN(64), r.Uint64()>>r.IntN(64))
	default:
		b := make([]byte, r.IntN(6))
		for i := range b {
			b[i] = []byte{0, 1, 'a', 0xFE, 0xFF}[r.IntN(5)]
		}
		return row.Bytes(b)
	}
}

// The order of the bytes is the order of the values, also for keys of several columns.
func TestOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50_000 {
		var a, b []byte
		want := 0
		for range 1 + r.IntN(3) {
			p := all[r.IntN(4)]
			x := random(r, p)
			y := x
			if r.IntN(2) == 0 {
				y = random(r, p)
			}
			a, b = AppendDatum(a, p, x), AppendDatum(b, p, y)
			if want == 0 {
				want = compare(p, x, y)
			}
		}
		if got := bytes.Compare(a, b); got != want {
			t.Fatalf("%x and %x compare as %d, their values as %d", a, b, got, want)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50_000 {
		var key []byte
		n := 1 + r.IntN(4)
		phys, values := make([]types.Phys, n), make([]row.Datum, n)
		for i := range phys {
			phys[i] = all[r.IntN(4)]
			values[i] = random(r, phys[i])
			key = AppendDatum(key, phys[i], values[i])
		}
		rest := key
		for i, p := range phys {
			var d row.Datum
			var err error
			if d, rest, err = Decode(rest, p, []byte("scratch")); err != nil {
				t.Fatal(err)
			}
			if compare(p, d, values[i]) != 0 {
				t.Fatalf("%v came back as %v", values[i], d)
			}
		}
		if len(rest) != 0 {
			t.Fatalf("%d bytes are left", len(rest))
		}
	}
}

// Keys of rows are those of their values, and a key with fewer columns is a prefix.
func TestAppend(t *testing.T) {
	schema := []types.Type{types.Of(types.BigInt), types.String(), types.Of(types.Double), types.DecimalOf(38, 0), types.Of(types.Int)}
	var b row.Builder
	b.Begin(nil, len(schema))
	b.Int64(0, -7)
	b.String(1, "a\x00")
	b.Float64(2, 0.5)
	b.Wide(3, -1, 9)
	r := row.Row(b.Finish(nil))
	key := Columns(schema, []int{3, 1, 4, 0, 2})
	var want []byte
	for _, c := range key {
		want = AppendDatum(want, c.Phys, r.Get(c.Index, c.Phys))
	}
	got := Append([]byte("x"), r, key)
	if !bytes.Equal(got[1:], want) || !bytes.HasPrefix(got, Append([]byte("x"), r, key[:2])) {
		t.Errorf("%x, want %x", got[1:], want)
	}
	if !HasNull(r, key) || HasNull(r, key[:2]) {
		t.Error("NULL columns")
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct {
		key string
		p   types.Phys
	}{
		{"", types.PhysInt}, {"\x02", types.PhysInt}, {"\x01123", types.PhysInt}, {"\x011234567", types.PhysFloat}, {"\x01123456789", types.PhysWide},
		{"\x01abc", types.PhysBytes}, {"\x01abc\x00", types.PhysBytes}, {"\x01abc\x00\x02", types.PhysBytes},
	} {
		if _, _, err := Decode([]byte(c.key), c.p, nil); err == nil {
			t.Errorf("%x decodes as form %d", c.key, c.p)
		}
	}
}

// Keys spread evenly over the groups, and groups over the shards.
func TestSpread(t *testing.T) {
	var groups [KeyGroups]int
	const n = 128_000
	for i := range int64(n) {
		groups[Group(Hash(AppendDatum(nil, types.PhysInt, row.Int(i))))]++
	}
	for g, c := range groups {
		if c < n/KeyGroups*8/10 || c > n/KeyGroups*12/10 {
			t.Errorf("group %d has %d of %d keys", g, c, n)
		}
	}
	for shards := 1; shards <= KeyGroups; shards++ {
		last := 0
		seen := map[int]int{}
		for g := range KeyGroups {
			s := Shard(g, shards)
			if s < last || s >= shards {
				t.Fatalf("group %d of %d shards is at %d", g, shards, s)
			}
			last = s
			seen[s]++
		}
		if len(seen) != shards {
			t.Fatalf("%d of %d shards have groups", len(seen), shards)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, p := range all {
		for _, d := range samples()[p] {
			f.Add(AppendDatum(nil, p, d), byte(p))
		}
	}
	f.Fuzz(func(t *testing.T, key []byte, form byte) {
		p := all[form%4]
		d, rest, err := Decode(key, p, nil)
		if err != nil {
			return
		}
		again := AppendDatum(nil, p, d)
		if negativeZero := p == types.PhysFloat && !d.Null && d.Float() == 0; !negativeZero && !bytes.Equal(again, key[:len(key)-len(rest)]) {
			t.Fatalf("%x decodes to %v, which encodes as %x", key, d, again)
		}
	})
}
