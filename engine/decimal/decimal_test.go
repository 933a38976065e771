package decimal

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/engine/row"
)

func (v Int128) big() *big.Int {
	b := big.NewInt(v.Hi)
	b.Lsh(b, 64)
	return b.Add(b, new(big.Int).SetUint64(v.Lo))
}

func mustParse(t *testing.T, s string, p, scale int) Int128 {
	t.Helper()
	v, err := Parse([]byte(s), p, scale, false)
	if err != nil {
		t.Fatalf("Parse(%q, %d, %d): %v", s, p, scale, err)
	}
	return v
}

func text(v Int128, scale int) string { return string(Append(nil, v, scale)) }

const nines = "99999999999999999999999999999999999999"

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in    string
		p, s  int
		round bool
		want  string
		err   error
	}{
		{"0", 1, 0, false, "0", nil},
		{"-0", 1, 0, false, "0", nil},
		{"12.5", 10, 2, false, "12.50", nil},
		{"+12.5", 10, 2, false, "12.50", nil},
		{"-.5", 3, 1, false, "-0.5", nil},
		{"5.", 3, 1, false, "5.0", nil},
		{"1e3", 4, 0, false, "1000", nil},
		{"1E3", 3, 0, false, "", ErrOverflow},
		{"1.5e-2", 10, 3, false, "0.015", nil},
		{"1.5e-2", 10, 2, false, "", ErrInexact},
		{"1.5e-2", 10, 2, true, "0.02", nil},
		{"1.4999e-2", 10, 2, true, "0.01", nil},
		{"-0.005", 10, 2, true, "-0.01", nil},
		{"0.005", 10, 1, true, "0.0", nil},
		{"9.99", 3, 1, true, "10.0", nil},
		{"9.99", 2, 1, true, "", ErrOverflow},
		{"1.500", 2, 1, false, "1.5", nil},
		{"0e999999999999999999999", 1, 0, false, "0", nil},
		{"1e999999999999999999999", 38, 0, false, "", ErrOverflow},
		{"1e-999999999999999999999", 38, 0, true, "0", nil},
		{nines, 38, 0, false, nines, nil},
		{"-" + nines, 38, 38, false, "", ErrOverflow},
		{"-0." + nines, 38, 38, false, "-0." + nines, nil},
		{nines + "0", 38, 0, false, "", ErrOverflow},
		{nines + ".5", 38, 0, true, "", ErrOverflow},
		{strings.Repeat("0", 100) + "7", 1, 0, false, "7", nil},
		{"", 1, 0, false, "", ErrSyntax},
		{"-", 1, 0, false, "", ErrSyntax},
		{".", 1, 0, false, "", ErrSyntax},
		{"1.2.3", 10, 2, false, "", ErrSyntax},
		{"1e", 10, 2, false, "", ErrSyntax},
		{"1e+", 10, 2, false, "", ErrSyntax},
		{"0x10", 10, 2, false, "", ErrSyntax},
		{"1 ", 10, 2, false, "", ErrSyntax},
		{"NaN", 10, 2, false, "", ErrSyntax},
	} {
		v, err := Parse([]byte(c.in), c.p, c.s, c.round)
		if !errors.Is(err, c.err) {
			t.Errorf("Parse(%q, %d, %d, %v): error %v, want %v", c.in, c.p, c.s, c.round, err, c.err)
		} else if err == nil && text(v, c.s) != c.want {
			t.Errorf("Parse(%q, %d, %d, %v) = %s, want %s", c.in, c.p, c.s, c.round, text(v, c.s), c.want)
		}
	}
}

// random returns values of all sizes, with the limits among them.
func random(r *rand.Rand) Int128 {
	switch r.IntN(8) {
	case 0:
		return Int128{}
	case 1:
		return withSign(pow10s[38].sub(u128{0, 1}), r.IntN(2) == 0)
	case 2:
		return withSign(pow10s[r.IntN(38)], r.IntN(2) == 0)
	}
	v := u128{r.Uint64(), r.Uint64()}
	_, v = v.divMod128(pow10s[1+r.IntN(38)])
	return withSign(v, r.IntN(2) == 0)
}

func bigPow(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// bigRound is the HALF_UP quotient n/d.
func bigRound(n, d *big.Int) *big.Int {
	twice := new(big.Int).Abs(n)
	abs := new(big.Int).Abs(d)
	twice.Lsh(twice, 1).Add(twice, abs)
	q := twice.Quo(twice, abs.Lsh(abs, 1))
	if n.Sign()*d.Sign() < 0 {
		q.Neg(q)
	}
	return q
}

func TestArithmeticAgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 40_000 {
		a, b := random(r), random(r)
		as, bs := r.IntN(39), r.IntN(39)
		p := 1 + r.IntN(38)
		s := r.IntN(p + 1)
		A, B := a.big(), b.big()
		common := max(as, bs)
		x := new(big.Int).Mul(A, bigPow(common-as))
		y := new(big.Int).Mul(B, bigPow(common-bs))
		if got, want := Compare(a, as, b, bs), x.Cmp(y); got != want {
			t.Fatalf("Compare(%v·10^-%d, %v·10^-%d) = %d, want %d", A, as, B, bs, got, want)
		}
		check := func(op string, got Int128, err error, num, den *big.Int, scale int) {
			t.Helper()
			want := bigRound(new(big.Int).Mul(num, bigPow(s)), new(big.Int).Mul(den, bigPow(scale)))
			if over := new(big.Int).Abs(want).Cmp(bigPow(p)) >= 0; over != (err != nil) {
				t.Fatalf("%v·10^-%d %s %v·10^-%d as (%d,%d): error %v, want value %v", A, as, op, B, bs, p, s, err, want)
			} else if !over && got.big().Cmp(want) != 0 {
				t.Fatalf("%v·10^-%d %s %v·10^-%d as (%d,%d) = %v, want %v", A, as, op, B, bs, p, s, got.big(), want)
			}
		}
		one := big.NewInt(1)
		got, err := Add(a, as, b, bs, p, s)
		check("+", got, err, new(big.Int).Add(x, y), one, common)
		got, err = Sub(a, as, b, bs, p, s)
		check("-", got, err, new(big.Int).Sub(x, y), one, common)
		got, err = Mul(a, as, b, bs, p, s)
		check("*", got, err, new(big.Int).Mul(A, B), one, as+bs)
		got, ok := Rescale(a, as, s, p)
		err = nil
		if !ok {
			err = ErrOverflow
		}
		check("rescale", got, err, A, one, as)
		if b.Sign() == 0 {
			continue
		}
		got, err = Div(a, as, b, bs, p, s)
		check("/", got, err, x, y, 0)
		got, err = Mod(a, as, b, bs, p, s)
		check("%", got, err, new(big.Int).Rem(x, y), one, common)
	}
}

func TestDivMod256AgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	word := func() uint64 {
		switch r.IntN(4) {
		case 0:
			return 0
		case 1:
			return ^uint64(0)
		case 2:
			return 1 << r.IntN(64)
		}
		return r.Uint64()
	}
	toBig := func(w u256) *big.Int {
		b := new(big.Int)
		for i := 3; i >= 0; i-- {
			b.Lsh(b, 64).Add(b, new(big.Int).SetUint64(w[i]))
		}
		return b
	}
	for range 40_000 {
		w := u256{word(), word(), word(), word()}
		d := u128{word(), word()}
		if d.isZero() {
			continue
		}
		q, rest := w.divMod(d)
		bq, br := new(big.Int).QuoRem(toBig(w), toBig(u256{d.lo, d.hi}), new(big.Int))
		if toBig(q).Cmp(bq) != 0 || toBig(u256{rest.lo, rest.hi}).Cmp(br) != 0 {
			t.Fatalf("%x / %x = %x rest %x", w, d, q, rest)
		}
	}
}

func TestDivisionByZero(t *testing.T) {
	if _, err := Div(FromInt64(1), 0, Int128{}, 0, 10, 2); !errors.Is(err, ErrDivisionByZero) {
		t.Errorf("Div: %v", err)
	}
	if _, err := Mod(FromInt64(1), 0, Int128{}, 0, 10, 2); !errors.Is(err, ErrDivisionByZero) {
		t.Errorf("Mod: %v", err)
	}
}

func TestRoundTrips(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 50_000 {
		v := random(r)
		scale := r.IntN(39)
		back, err := Parse(Append(nil, v, scale), 38, scale, false)
		if err != nil || back != v {
			t.Fatalf("%s read back as %v, %v", text(v, scale), back, err)
		}
		bytes := appendBigEndian(nil, v)
		if back, err = FromBigEndian(bytes); err != nil || back != v {
			t.Fatalf("% x read back as %v, %v", bytes, back, err)
		}
		long := append([]byte{byte(v.Hi >> 63), byte(v.Hi >> 63), byte(v.Hi >> 63)}, bytes...)
		if back, err = FromBigEndian(long); err != nil || back != v {
			t.Fatalf("% x read back as %v, %v", long, back, err)
		}
		if d := v.Datum(38); Load(38, d) != v {
			t.Fatalf("datum of %v", v)
		}
		if n := v.Digits(); n != len(new(big.Int).Abs(v.big()).String()) {
			t.Fatalf("%v has %d digits", v.big(), n)
		}
	}
	if d := FromInt64(-7).Datum(18); d.I != -7 || d.Hi != 0 || Load(18, row.Int(-7)) != FromInt64(-7) {
		t.Error("short decimals are int64")
	}
}

func TestBigEndian(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int64
		err  error
	}{
		{"\x00", 0, nil}, {"\x7f", 127, nil}, {"\x80", -128, nil}, {"\x00\x80", 128, nil},
		{"\x04\xd2", 1234, nil}, {"\xff", -1, nil}, {"", 0, ErrSyntax},
		{"\x01" + strings.Repeat("\x00", 16), 0, ErrOverflow},
		{"\x00\x80" + strings.Repeat("\x00", 15), 0, ErrOverflow},
	} {
		v, err := FromBigEndian([]byte(c.in))
		if !errors.Is(err, c.err) || err == nil && v != FromInt64(c.want) {
			t.Errorf("%x: %v, %v", c.in, v, err)
		}
		if err == nil && string(appendBigEndian(nil, v)) != c.in {
			t.Errorf("%d written as %x, want %x", c.want, appendBigEndian(nil, v), c.in)
		}
	}
}

func TestFloat(t *testing.T) {
	for _, c := range []struct {
		f    float64
		p, s int
		want string
		err  error
	}{
		{0.1, 10, 3, "0.100", nil}, {2.5, 10, 0, "3", nil}, {-2.5, 10, 0, "-3", nil},
		{1e22, 38, 0, "10000000000000000000000", nil}, {1e-300, 38, 38, "0." + strings.Repeat("0", 38), nil},
		{123.456, 4, 2, "", ErrOverflow}, {math.NaN(), 4, 2, "", ErrOverflow}, {math.Inf(1), 4, 2, "", ErrOverflow},
	} {
		v, err := FromFloat(c.f, c.p, c.s)
		if !errors.Is(err, c.err) || err == nil && text(v, c.s) != c.want {
			t.Errorf("FromFloat(%v, %d, %d) = %s, %v; want %s", c.f, c.p, c.s, text(v, c.s), err, c.want)
		}
	}
	if f := mustParse(t, "0.1", 38, 1).Float(1); f != 0.1 {
		t.Error(f)
	}
	if f := mustParse(t, "-"+nines, 38, 0).Float(0); f != -1e38 {
		t.Error(f)
	}
	if f := mustParse(t, "9007199254740993", 38, 0).Float(0); f != 9007199254740992 {
		t.Error(f)
	}
}

func TestTruncateFloorCeil(t *testing.T) {
	for _, c := range []struct{ in, trunc, floor, ceil string }{
		{"1.999", "1", "1", "2"}, {"-1.999", "-1", "-2", "-1"}, {"-2.000", "-2", "-2", "-2"}, {"0.001", "0", "0", "1"},
		{"-0.001", "0", "-1", "0"},
	} {
		v := mustParse(t, c.in, 10, 3)
		if got := text(Truncate(v, 3, 0), 0); got != c.trunc {
			t.Errorf("Truncate(%s) = %s", c.in, got)
		}
		if got := text(Floor(v, 3), 0); got != c.floor {
			t.Errorf("Floor(%s) = %s", c.in, got)
		}
		if got := text(Ceil(v, 3), 0); got != c.ceil {
			t.Errorf("Ceil(%s) = %s", c.in, got)
		}
	}
}

// The vectors are those of Flink's own tests of LogicalTypeMerging, and of its documentation.
func TestRules(t *testing.T) {
	type rule func(p1, s1, p2, s2 int) (int, int)
	for _, c := range []struct {
		name           string
		f              rule
		p1, s1, p2, s2 int
		p, s           int
	}{
		{"div", DivType, 32, 8, 38, 8, 38, 6},
		{"div", DivType, 30, 20, 30, 20, 38, 8},
		{"div", DivType, 10, 2, 5, 1, 17, 8},
		{"mul", MulType, 30, 10, 30, 10, 38, 6},
		{"mul", MulType, 30, 20, 30, 20, 38, 17},
		{"mul", MulType, 38, 2, 38, 3, 38, 5},
		{"mul", MulType, 5, 2, 5, 2, 11, 4},
		{"mod", ModType, 30, 10, 30, 10, 30, 10},
		{"mod", ModType, 30, 20, 25, 20, 25, 20},
		{"add", AddType, 5, 2, 10, 4, 11, 4},
		{"add", AddType, 38, 8, 32, 8, 38, 7},
		{"add", AddType, 32, 8, 38, 8, 38, 7},
		{"add", AddType, 30, 20, 28, 20, 31, 20},
		{"common", CommonType, 10, 0, 5, 2, 12, 2},
		{"common", CommonType, 38, 0, 38, 10, 38, 6},
	} {
		if p, s := c.f(c.p1, c.s1, c.p2, c.s2); p != c.p || s != c.s {
			t.Errorf("%s(%d,%d; %d,%d) = (%d,%d), want (%d,%d)", c.name, c.p1, c.s1, c.p2, c.s2, p, s, c.p, c.s)
		}
	}
	for _, c := range [][5]int{{10, 4, 2, 9, 2}, {10, 4, 4, 10, 4}, {10, 4, 6, 10, 4}, {10, 4, -1, 7, 0}, {38, 0, -1, 38, 0}} {
		if p, s := RoundType(c[0], c[1], c[2]); p != c[3] || s != c[4] {
			t.Errorf("RoundType(%v) = (%d,%d)", c, p, s)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"0", "-1.5e3", "1e-40", nines, ".5"} {
		f.Add([]byte(s), 20, 5)
	}
	f.Fuzz(func(t *testing.T, in []byte, p, s int) {
		if p < 1 || p > 38 || s < 0 || s > p || len(in) > 200 {
			return
		}
		v, err := Parse(in, p, s, false)
		if err != nil {
			return
		}
		rat, ok := new(big.Rat).SetString(string(in))
		if !ok {
			return // an exponent too large for math/big, of a zero
		}
		if want := new(big.Rat).SetFrac(v.big(), bigPow(s)); rat.Cmp(want) != 0 {
			t.Fatalf("%s read as %s", in, text(v, s))
		}
	})
}

func BenchmarkMul(b *testing.B) {
	x, y := FromInt64(123456789), FromInt64(987654)
	for b.Loop() {
		if _, err := Mul(x, 2, y, 3, 38, 5); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDiv(b *testing.B) {
	x, y := FromInt64(123456789), FromInt64(987654)
	for b.Loop() {
		if _, err := Div(x, 2, y, 3, 38, 12); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	buf := make([]byte, 0, 64)
	for b.Loop() {
		buf = Append(buf[:0], FromInt64(123456789), 2)
	}
}

// appendBigEndian is the inverse of FromBigEndian, Java's BigInteger.toByteArray: two's complement, the most significant
// byte first, in as few bytes as hold the value and its sign.
func appendBigEndian(buf []byte, v Int128) []byte {
	var w [16]byte
	binary.BigEndian.PutUint64(w[:], uint64(v.Hi))
	binary.BigEndian.PutUint64(w[8:], v.Lo)
	i := 0
	for i < 15 && w[i] == byte(int8(w[i+1])>>7) {
		i++
	}
	return append(buf, w[i:]...)
}
