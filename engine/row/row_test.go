package row

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sluicesql/sluice/engine/types"
)

// forms assigns physical forms to columns in turn.
func forms(n int) []types.Phys {
	p := make([]types.Phys, n)
	for i := range p {
		p[i] = types.Phys(i % 4)
	}
	return p
}

func randomDatum(r *rand.Rand, p types.Phys) Datum {
	if r.IntN(4) == 0 {
		return NullDatum
	}
	switch p {
	case types.PhysBytes:
		b := make([]byte, r.IntN(20))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return Bytes(b)
	case types.PhysWide:
		return Wide(int64(r.Uint64()), r.Uint64())
	case types.PhysFloat:
		return Float(r.NormFloat64())
	default:
		return Int(int64(r.Uint64()))
	}
}

func same(p types.Phys, a, b Datum) bool {
	if a.Null || b.Null {
		return a.Null == b.Null
	}
	return p == types.PhysBytes && bytes.Equal(a.B, b.B) || p != types.PhysBytes && a.I == b.I && a.Hi == b.Hi
}

// Rows of every width read back, are the same bytes whatever order their columns are set in, and leave what
// lies before them in the buffer alone.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var b Builder
	for _, n := range []int{0, 1, 3, 4, 63, 64, 65, 127, 128, 129, 200, 600} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			phys := forms(n)
			for range 50 {
				values := make([]Datum, n)
				for i := range values {
					values[i] = randomDatum(r, phys[i])
				}
				build := func(prefix string, order []int) []byte {
					b.Begin([]byte(prefix), n)
					for _, i := range order {
						b.Datum(i, phys[i], values[i])
					}
					out := b.Finish(phys)
					if string(out[:len(prefix)]) != prefix {
						t.Fatal("the bytes before the row changed")
					}
					return out[len(prefix):]
				}
				order := make([]int, n)
				for i := range order {
					order[i] = i
				}
				want := Row(build("", order))
				if len(want) < HeadSize(n) {
					t.Fatalf("%d bytes, the head alone has %d", len(want), HeadSize(n))
				}
				for i, v := range values {
					if got := want.Get(i, phys[i]); !same(phys[i], got, v) {
						t.Fatalf("column %d is %v, want %v", i, got, v)
					}
				}
				r.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
				if got := build("prefix", order); !bytes.Equal(got, want) {
					t.Fatalf("set in the order %v:\n%x, want\n%x", order, got, []byte(want))
				}
				b.Begin([]byte("other"), n)
				for i := range n {
					b.Copy(i, want, i, phys[i])
				}
				if got := b.Finish(phys); !bytes.Equal(got[5:], want) {
					t.Fatalf("copied:\n%x, want\n%x", got[5:], []byte(want))
				}
			}
		})
	}
}

func TestSetters(t *testing.T) {
	var b Builder
	b.Begin([]byte("x"), 6)
	b.Bool(0, true)
	b.Float64(1, math.Float64frombits(0x7ff0000000000001)) // one of many NaNs
	b.Append(3, func(buf []byte) []byte { return append(buf, "tail"...) })
	b.String(2, "before")
	b.Wide(4, -1, 5)
	if r := b.Row(); r.Int64(0) != 1 || string(r.Bytes(3)) != "tail" || !r.IsNull(5) {
		t.Error("the row under construction")
	}
	phys := []types.Phys{types.PhysInt, types.PhysFloat, types.PhysBytes, types.PhysBytes, types.PhysWide, types.PhysBytes}
	r := Row(b.Finish(phys)[1:])
	hi, lo := r.Wide(4)
	if string(r.Bytes(2)) != "before" || string(r.Bytes(3)) != "tail" || hi != -1 || lo != 5 || len(r.Bytes(5)) != 0 {
		t.Errorf("%x", []byte(r))
	}
	if math.Float64bits(r.Float64(1)) != math.Float64bits(math.NaN()) {
		t.Error("NaN is not the canonical one")
	}
	if hi, lo := r.Wide(5); hi != 0 || lo != 0 {
		t.Error("a NULL read as wide is not 0")
	}
	b.Begin([]byte("keep"), 2)
	b.String(0, "gone")
	if got := string(b.Abort()); got != "keep" {
		t.Errorf("after Abort: %q", got)
	}
}

func TestNested(t *testing.T) {
	elems := []Datum{String("a"), NullDatum, String("ccc")}
	arr := AppendArray([]byte("at the end of "), types.PhysBytes, elems)[14:]
	if ArrayLen(arr) != 3 || string(ArrayRow(arr).Bytes(2)) != "ccc" || !ArrayRow(arr).IsNull(1) {
		t.Errorf("%x", arr)
	}
	m := AppendMap([]byte("x"), types.PhysInt, types.PhysBytes, []Datum{Int(1), Int(2), Int(3)}, elems)[1:]
	k, v := MapArrays(m)
	if ArrayLen(k) != 3 || ArrayRow(k).Int64(1) != 2 || !bytes.Equal(v, arr) {
		t.Errorf("%x", m)
	}
	if e := AppendArray(nil, types.PhysInt, nil); ArrayLen(e) != 0 || len(e) != 8 {
		t.Errorf("the empty array is %x", e)
	}
	wide := AppendArray(nil, types.PhysWide, []Datum{Wide(1, 2)})
	if hi, lo := ArrayRow(wide).Wide(0); hi != 1 || lo != 2 {
		t.Errorf("%x", wide)
	}
}

func TestBuilderAllocatesNothing(t *testing.T) {
	var b Builder
	buf := make([]byte, 0, 1024)
	phys := []types.Phys{types.PhysInt, types.PhysBytes, types.PhysBytes}
	name := []byte("Mitya")
	fill := func() {
		b.Begin(buf, 3)
		b.Bytes(2, name)
		b.Bytes(1, name)
		b.Int64(0, 7)
		b.Finish(phys)
	}
	fill()
	if n := testing.AllocsPerRun(100, fill); n != 0 {
		t.Errorf("%v allocations a row", n)
	}
}

func FuzzBuilder(f *testing.F) {
	f.Add([]byte("abc"), []byte(""), int64(5), 3, true)
	f.Fuzz(func(t *testing.T, x, y []byte, i int64, at int, null bool) {
		if at < 0 || at > 300 {
			return
		}
		n := at + 3
		phys := make([]types.Phys, n)
		phys[at], phys[at+1] = types.PhysBytes, types.PhysBytes
		var b Builder
		b.Begin(nil, n)
		b.Bytes(at+1, y)
		b.Int64(at+2, i)
		if !null {
			b.Bytes(at, x)
		}
		r := Row(b.Finish(phys))
		if r.IsNull(at) != null || !null && !bytes.Equal(r.Bytes(at), x) || !bytes.Equal(r.Bytes(at+1), y) || r.Int64(at+2) != i {
			t.Fatalf("%x", []byte(r))
		}
	})
}
