package expr

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/sluicesql/sluice/engine/types"
)

func tiny(v int64) *Const {
	return &Const{Value: IntConst(v).Value, T: types.Of(types.TinyInt).Required()}
}

func TestArithmetic(t *testing.T) {
	big := dec("99999999999999999999999999999999999999", 38, 0)
	for _, c := range []struct {
		want string
		op   string
		args []any
	}{
		{"error: TINYINT overflow: 127 + 1; CAST an operand to BIGINT", "+", []any{tiny(127), tiny(1)}},
		{"128", "+", []any{tiny(127), 1}},
		{"error: INT overflow", "+", []any{math.MaxInt32, 1}},
		{"2147483648", "+", []any{math.MaxInt32, int64(1)}},
		{"error: BIGINT overflow", "-", []any{int64(math.MinInt64), 1}},
		{"error: BIGINT overflow", "*", []any{int64(math.MinInt64), -1}},
		{"error: BIGINT overflow", "/", []any{int64(math.MinInt64), -1}},
		{"0", "%", []any{int64(math.MinInt64), -1}},
		{"error: INT overflow: -(-2147483648)", "-", []any{&Const{Value: IntConst(math.MinInt32).Value, T: types.Of(types.Int)}}},
		{"99999999999999999999999999999999999999", "+", []any{big, 0}},
		{"error: DECIMAL(38, 0) overflow", "+", []any{big, 1}},
		{"3.00", "+", []any{dec("1.00", 3, 2), 2}},
		{"2.5", "+", []any{dec("1.5", 2, 1), 1.0}},
		{"1.0E10", "*", []any{1e5, 1e5}},
		{"error: division by zero: 1.5 / 0", "/", []any{1.5, 0.0}},
		{"error: division by zero", "/", []any{dec("1.0", 2, 1), dec("0.0", 2, 1)}},
		{"error: division by zero", "%", []any{5, 0}},
		{"0.66666667", "/", []any{dec("2.00", 5, 2), dec("3.0", 5, 1)}},
		{"0.100000000000000005551115123", "+", []any{dec("0.1000000000000000055511151231257827021", 38, 37), 0}},
		{"NULL", "+", []any{nil, 1}}, {"NULL", "-", []any{nil}},
		{"+0 12:00:00.000", "+", []any{days("0 06:00:00"), days("0 06:00:00")}},
		{"+2-06", "*", []any{months("0-10"), 3}}, {"-1-00", "-", []any{months("1-0")}},
		{"2024-02-29 12:00:00.000", "+", []any{days("0 12:00:00"), timestamp("2024-02-29 00:00:00")}},
		{"2023-02-28", "-", []any{date("2024-02-29"), months("1-0")}},
		{"1969-12-31 23:59:59.999", "-", []any{timestamp("1970-01-01 00:00:00"), days("0 00:00:00.001")}},
		{"01:00:00", "+", []any{lit(types.Type{Kind: types.Time}, "23:00:00"), days("0 02:00:00")}},
		{"23:00:00", "-", []any{lit(types.Type{Kind: types.Time}, "01:00:00"), days("1 02:00:00")}},
		{"2024-02-28 23:00:00", "+", []any{date("2024-02-29"), resolved(t, "-", days("0 01:00:00"))}},
		{"1970-01-01 00:00:00.000000001", "+", []any{lit(types.TimestampOf(9), "1969-12-31 23:59:59.000000001"), days("0 00:00:01")}},
		{"error: out of range", "+", []any{date("2024-01-01"), months("999999-0")}},
	} {
		check(t, c.want, c.op, c.args...)
	}
}

// The vectors of result types are those of Flink's documentation and its planner's tests.
func TestArithmeticTypes(t *testing.T) {
	of := func(k types.Kind) Expr { return NullConst(types.Of(k)) }
	d := func(p, s int) Expr { return NullConst(types.DecimalOf(p, s)) }
	for _, c := range []struct {
		op   string
		a, b Expr
		want string
	}{
		{"+", of(types.TinyInt), of(types.SmallInt), "SMALLINT"}, {"+", of(types.Int), of(types.BigInt), "BIGINT"},
		{"/", of(types.Int), of(types.Int), "INT"}, {"%", of(types.BigInt), of(types.Int), "INT"},
		{"+", d(5, 2), d(10, 4), "DECIMAL(11, 4)"}, {"*", d(5, 2), d(5, 2), "DECIMAL(11, 4)"},
		{"*", d(30, 10), d(30, 10), "DECIMAL(38, 6)"}, {"/", d(30, 20), d(30, 20), "DECIMAL(38, 8)"},
		{"+", d(5, 2), of(types.Int), "DECIMAL(13, 2)"}, {"*", of(types.BigInt), d(5, 2), "DECIMAL(25, 2)"},
		{"%", d(30, 20), d(25, 20), "DECIMAL(25, 20)"}, {"%", d(5, 2), of(types.Int), "DECIMAL(5, 2)"},
		{"+", d(5, 2), of(types.Float), "DOUBLE"}, {"+", of(types.Int), of(types.Float), "FLOAT"}, {"*", of(types.Float), of(types.Double), "DOUBLE"},
		{"+", of(types.Date), of(types.IntervalDT), "DATE"}, {"+", NullConst(types.TimestampLTZOf(6)), of(types.IntervalYM), "TIMESTAMP_LTZ(6)"},
	} {
		e, err := call(c.op, c.a, c.b)
		if err != nil {
			t.Errorf("%s %s %s: %v", c.a.Type(), c.op, c.b.Type(), err)
		} else if got := e.Type().String(); got != c.want {
			t.Errorf("%s %s %s is %s, want %s", c.a.Type(), c.op, c.b.Type(), got, c.want)
		}
	}
	if e := resolved(t, "+", 1, 2); e.Type().String() != "INT NOT NULL" {
		t.Error(e.Type())
	}
}

func TestIntKernelsAgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	value := func() int64 {
		switch r.IntN(4) {
		case 0:
			return []int64{0, 1, -1, math.MaxInt64, math.MinInt64, math.MaxInt32, math.MinInt32}[r.IntN(7)]
		default:
			return int64(r.Uint64()) >> r.IntN(64)
		}
	}
	for range 200_000 {
		a, b := value(), value()
		x, y := big.NewInt(a), big.NewInt(b)
		for _, op := range []*arithOp{opAdd, opSub, opMul, opDiv, opMod} {
			want := new(big.Int)
			switch op {
			case opAdd:
				want.Add(x, y)
			case opSub:
				want.Sub(x, y)
			case opMul:
				want.Mul(x, y)
			default:
				if b == 0 {
					continue
				}
				if want.Quo(x, y); op == opMod {
					want.Rem(x, y)
				}
			}
			if got, ok := op.ints(a, b); ok != want.IsInt64() || ok && got != want.Int64() {
				t.Fatalf("%d %s %d = %d, %v; want %v", a, op.name, b, got, ok, want)
			}
		}
	}
}

func TestRounding(t *testing.T) {
	for _, c := range []struct {
		want string
		name string
		args []any
	}{
		{"1.3", "ROUND", []any{dec("1.25", 3, 2), 1}}, {"-1.3", "ROUND", []any{dec("-1.25", 3, 2), 1}}, {"10.0", "ROUND", []any{dec("9.95", 3, 2), 1}},
		{"0", "ROUND", []any{dec("4", 1, 0), -1}}, {"10", "ROUND", []any{dec("5", 1, 0), -1}}, {"1.25", "ROUND", []any{dec("1.25", 3, 2), 9}},
		{"error: overflow", "ROUND", []any{math.MaxInt32, -1}}, {"2000000000", "ROUND", []any{math.MaxInt32, -9}}, {"2000000000", "TRUNCATE", []any{math.MaxInt32, -9}},
		{"error: overflow", "ROUND", []any{int64(math.MaxInt64), -19}}, {"0", "ROUND", []any{int64(math.MaxInt64), -20}},
		{"1.0", "ROUND", []any{0.5}}, {"-1.0", "ROUND", []any{-0.5}}, {"0.0", "ROUND", []any{0.4}}, {"100.0", "ROUND", []any{99.5, 0}},
		{"1.0E-5", "ROUND", []any{0.0000099, 5}}, {"12300.0", "ROUND", []any{12345.0, -2}}, {"0.0", "ROUND", []any{1.0, -5}},
		{"1.7976931348623157E308", "ROUND", []any{math.MaxFloat64, -308}}, {"NaN", "ROUND", []any{math.NaN(), 1}},
		{"-0.99", "TRUNCATE", []any{-0.999, 2}}, {"1.0E23", "ROUND", []any{1e23, 2}},
		{"-2", "FLOOR", []any{dec("-1.01", 3, 2)}}, {"-1", "CEIL", []any{dec("-1.99", 3, 2)}}, {"1", "CEIL", []any{dec("0.99", 2, 2)}},
		{"1.00", "SIGN", []any{dec("0.50", 2, 2)}},
	} {
		check(t, c.want, c.name, c.args...)
	}
}
