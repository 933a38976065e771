package op

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// A mean is the exact quotient, rounded once, also where the sum is beyond the range or the mean below the normal
// numbers.
func TestMeanRoundsOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	scales := []float64{1, 1e-3, 1e300, 1e-310, 1e-160, math.MaxFloat64, math.SmallestNonzeroFloat64}
	for range 20_000 {
		var s exactSum
		want := new(big.Rat)
		n := 1 + rng.IntN(7)
		scale := scales[rng.IntN(len(scales))]
		for range n {
			x := (rng.Float64()*2 - 1) * scale
			if rng.IntN(3) == 0 {
				x = float64(float32(rng.Float64()))
			}
			s.add(x, 1)
			want.Add(want, new(big.Rat).SetFloat64(x))
		}
		want.Quo(want, new(big.Rat).SetInt64(int64(n)))
		if w, _ := want.Float64(); s.mean(int64(n), false) != w {
			t.Fatalf("mean of %d values of scale %g: %v, not %v", n, scale, s.mean(int64(n), false), w)
		}
		if w, _ := want.Float32(); s.mean(int64(n), true) != float64(w) {
			t.Fatalf("FLOAT mean of %d values of scale %g: %v, not %v", n, scale, s.mean(int64(n), true), w)
		}
	}
	var s exactSum
	s.add(math.MaxFloat64, 2)
	if got := s.mean(2, false); got != math.MaxFloat64 {
		t.Errorf("the mean of two of the largest is %v", got)
	}
	if got := s.float64(); !math.IsInf(got, 1) {
		t.Errorf("their sum is %v", got)
	}
}
