package row

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/engine/types"
)

// Check accepts what the builder makes, of any width and in any order of columns.
func TestCheckAcceptsBuilt(t *testing.T) {
	of := map[types.Phys]types.Type{
		types.PhysInt: types.Of(types.BigInt), types.PhysFloat: types.Of(types.Double),
		types.PhysWide: types.DecimalOf(38, 0), types.PhysBytes: types.String(),
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 5, 63, 64, 65, 130} {
		phys := forms(n)
		ts := make([]types.Type, n)
		for i, p := range phys {
			ts[i] = of[p]
		}
		for range 20 {
			var b Builder
			b.Begin(nil, n)
			for _, i := range r.Perm(n) {
				b.Datum(i, phys[i], randomDatum(r, phys[i]))
			}
			if err := Check(b.Finish(phys), ts); err != nil {
				t.Fatalf("%d columns: %v", n, err)
			}
		}
	}
}

func TestCheckNested(t *testing.T) {
	str, num := types.String(), types.Of(types.Int)
	ts := []types.Type{types.ArrayOf(str), types.MapOf(str, num), types.RowOf(types.Field{Name: "a", Type: num})}
	var inner Builder
	inner.Begin(nil, 1)
	inner.Int64(0, 1)
	build := func(arr, m, r []byte) Row {
		var b Builder
		b.Begin(nil, 3)
		b.Bytes(0, arr)
		b.Bytes(1, m)
		b.Bytes(2, r)
		return b.Finish(nil)
	}
	arr := AppendArray(nil, types.PhysBytes, []Datum{String("a"), NullDatum})
	m := AppendMap(nil, types.PhysBytes, types.PhysInt, []Datum{String("k")}, []Datum{Int(1)})
	rw := inner.Finish(nil)
	if err := Check(build(arr, m, rw), ts); err != nil {
		t.Error(err)
	}
	uneven := AppendMap(nil, types.PhysBytes, types.PhysInt, []Datum{String("k")}, nil)
	for name, r := range map[string]Row{
		"array cut":      build(arr[:len(arr)-1], m, rw),
		"array too long": build(binary.LittleEndian.AppendUint64(nil, 1<<40), m, rw),
		"map cut":        build(arr, m[:20], rw),
		"map uneven":     build(arr, uneven, rw),
		"map of nothing": build(arr, nil, rw),
		"map of little":  build(arr, m[:12], rw),
		"row too long":   build(arr, m, append(rw, 0)),
	} {
		if Check(r, ts) == nil {
			t.Errorf("%s passed", name)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	ts := []types.Type{types.Of(types.Int), types.String(), types.Of(types.Boolean), types.DecimalOf(38, 0), types.String()}
	base := func() Row {
		var b Builder
		b.Begin(nil, 5)
		b.Int64(0, 7)
		b.String(1, "abc")
		b.Wide(3, 0, 5)
		b.String(4, "de")
		return b.Finish(nil)
	}
	if err := Check(base(), ts); err != nil {
		t.Fatal(err)
	}
	put := func(i int, v uint64) Row {
		r := base()
		binary.LittleEndian.PutUint64(r[slot(i):], v)
		return r
	}
	bits := func(v uint64) Row {
		r := base()
		binary.LittleEndian.PutUint64(r, binary.LittleEndian.Uint64(r)|v)
		return r
	}
	head := uint64(HeadSize(5))
	for _, c := range []struct {
		name string
		r    Row
		want string
	}{
		{"no head", base()[:40], "40 bytes"},
		{"NULL with a value", bits(1), "column 0 is NULL"},
		{"an INT out of range", put(0, 1<<40), "is no INT"},
		{"a BOOLEAN of 2", func() Row { r := put(2, 2); r[0] &^= 4; return r }(), "is no BOOLEAN"},
		{"a gap in the tail", put(1, head+1|2<<32), "column 1 begins"},
		{"tail parts out of order", put(1, head+19|2<<32), "column 1 begins"},
		{"a tail beyond the end", put(4, head+19|20<<32), "column 4 ends"},
		{"a wide value of 15 bytes", put(3, head+3|15<<32), "instead of 16"},
		{"bytes at the end", append(base(), 0), "1 bytes behind"},
		{"null bits beyond", bits(1 << 5), "beyond the last column"},
	} {
		if err := Check(c.r, ts); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	var b Builder
	for _, c := range []struct {
		t    types.Type
		bits uint64
	}{
		{types.Of(types.TinyInt), 128}, {types.Of(types.SmallInt), 1 << 15}, {types.Of(types.Float), math.Float64bits(0.1)},
		{types.Of(types.Double), 0x7ff0000000000001},
	} {
		b.Begin(nil, 1)
		b.Int64(0, int64(c.bits))
		if Check(b.Finish(nil), []types.Type{c.t}) == nil {
			t.Errorf("%#x passed as %s", c.bits, c.t)
		}
	}
}
