package expr

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

func TestCast(t *testing.T) {
	of := types.Of
	char := func(n int) types.Type { return types.Type{Kind: types.Char, Precision: n} }
	varchar := func(n int) types.Type { return types.Type{Kind: types.Varchar, Precision: n} }
	float := func(v float64) Expr { return &Const{Value: row.Float(v), T: of(types.Float)} }
	binary := func(s string) Expr { return &Const{Value: row.String(s), T: types.Bytes()} }
	for _, c := range []struct {
		in   any
		to   types.Type
		want string
	}{
		{"42", of(types.Int), "42"}, {" 42 ", of(types.Int), "42"}, {"42.9", of(types.Int), "42"}, {"-42.9", of(types.Int), "-42"},
		{"x", of(types.Int), "error: cannot cast 'x' of type CHAR(1) to INT: malformed; TRY_CAST gives NULL instead"},
		{"", of(types.Int), "error: malformed"}, {"2147483648", of(types.Int), "error: out of range"},
		{"true", of(types.Boolean), "TRUE"}, {"No", of(types.Boolean), "FALSE"}, {"2", of(types.Boolean), "error: malformed"},
		{"1.005", types.DecimalOf(5, 2), "1.01"}, {"1e3", types.DecimalOf(5, 0), "1000"}, {"1000", types.DecimalOf(5, 2), "error: out of range"},
		{"1e400", of(types.Double), "error: out of range"}, {"1.5", of(types.Double), "1.5"}, {"0.1", of(types.Float), "0.1"},
		{int64(1) << 31, of(types.Int), "error: cannot cast 2147483648 of type BIGINT to INT: out of range"},
		{128, of(types.TinyInt), "error: out of range"}, {-128, of(types.TinyInt), "-128"}, {40000, of(types.SmallInt), "error: out of range"},
		{5, of(types.Boolean), "TRUE"}, {0, of(types.Boolean), "FALSE"}, {true, of(types.Int), "1"}, {false, types.DecimalOf(3, 1), "0.0"}, {0.0, of(types.Boolean), "FALSE"},
		{12345, types.DecimalOf(4, 0), "error: out of range"}, {12, types.DecimalOf(4, 2), "12.00"}, {int64(math.MaxInt64), of(types.Double), "9.223372036854776E18"},
		{dec("2.5", 2, 1), of(types.Int), "2"}, {dec("-2.5", 2, 1), of(types.Int), "-2"}, {dec("2.55", 3, 2), types.DecimalOf(2, 1), "2.6"},
		{dec("9.99", 3, 2), types.DecimalOf(2, 1), "error: out of range"}, {dec("99999999999999999999", 20, 0), of(types.BigInt), "error: out of range"},
		{dec("0.1", 2, 1), of(types.Double), "0.1"}, {dec("1234567890123456789.5", 20, 1), types.DecimalOf(19, 0), "1234567890123456790"},
		{1.9, of(types.Int), "1"}, {-1.9, of(types.Int), "-1"}, {1e19, of(types.BigInt), "error: out of range"}, {math.NaN(), of(types.Int), "error: out of range"},
		{-9.223372036854775808e18, of(types.BigInt), "-9223372036854775808"}, {9.223372036854775807e18, of(types.BigInt), "error: out of range"},
		{1.005, types.DecimalOf(5, 2), "1.01"}, {math.Inf(1), types.DecimalOf(5, 2), "error: out of range"}, {1e39, of(types.Float), "error: out of range"},
		{float(0.10000000149011612), of(types.Double), "0.10000000149011612"}, {0.1, of(types.Float), "0.1"},
		{123, types.String(), "123"}, {123, varchar(2), "error: its string form has 3 characters"}, {1.0, types.String(), "1.0"}, {true, types.String(), "TRUE"},
		{"abcdef", varchar(3), "abc"}, {"éèà", varchar(2), "éè"}, {"ab", char(4), "ab  "}, {"abcdef", char(4), "abcd"}, {7, char(3), "7  "},
		{"hi", types.Bytes(), "x'6869'"}, {"hi", types.Type{Kind: types.Binary, Precision: 4}, "x'68690000'"}, {binary("hey"), types.Type{Kind: types.Varbinary, Precision: 2}, "x'6865'"},
		{binary("hi"), types.String(), "hi"}, {binary("\xff"), types.String(), "error: no UTF-8"},
		{"2024-02-29", of(types.Date), "2024-02-29"}, {"2023-02-29", of(types.Date), "error: out of range"}, {"2024-02-29 12:34:56.789", types.TimestampOf(3), "2024-02-29 12:34:56.789"},
		{"12:34:56", types.Type{Kind: types.Time}, "12:34:56"}, {date("1969-12-31"), types.TimestampOf(0), "1969-12-31 00:00:00"},
		{timestamp("1969-12-31 23:59:59.999"), of(types.Date), "1969-12-31"}, {timestamp("1969-12-31 23:59:59.999"), types.Type{Kind: types.Time}, "23:59:59"},
		{timestamp("1969-12-31 23:59:59.999"), types.TimestampOf(0), "1969-12-31 23:59:59"}, {timestamp("2024-02-29 12:00:00"), types.TimestampOf(9), "2024-02-29 12:00:00.000000000"},
		{lit(types.Type{Kind: types.Time}, "10:00:00"), types.TimestampOf(0), "1970-01-01 10:00:00"}, {timestamp("2024-02-29 12:34:56.789"), types.String(), "2024-02-29 12:34:56.789"},
		{days("1 02:03:04"), types.String(), "+1 02:03:04.000"}, {"+1-02", of(types.IntervalYM), "+1-02"},
		{nil, of(types.Int), "NULL"}, {NullConst(types.String()), of(types.Int), "NULL"},
		{1, types.TimestampOf(3), "error: TO_TIMESTAMP_LTZ"}, {date("2024-01-01"), of(types.Int), "error: cannot cast DATE to INT"}, {"[1]", types.ArrayOf(of(types.Int)), "error: cannot cast"},
		{date("2024-01-01"), types.Type{Kind: types.Time}, "error: cannot cast"}, {true, of(types.Date), "error: cannot cast BOOLEAN to DATE"},
	} {
		e, err := Cast(toExpr(c.in), c.to, false)
		checkExpr(t, c.want, c.to.String(), e, err)
		if err != nil || !strings.HasPrefix(c.want, "error: ") {
			continue
		}
		e, err = Cast(toExpr(c.in), c.to, true)
		checkExpr(t, "NULL", c.to.String(), e, err)
		if e.Type().NotNull {
			t.Errorf("%s is NOT NULL", e)
		}
	}
}

func TestCastNested(t *testing.T) {
	arr := resolved(t, "ARRAY", 1, nil, 3)
	for _, c := range []struct {
		e    Expr
		to   types.Type
		want string
	}{
		{arr, types.ArrayOf(types.String()), "[1, NULL, 3]"}, {arr, types.ArrayOf(types.DecimalOf(3, 1)), "[1.0, NULL, 3.0]"}, {arr, types.String(), "[1, NULL, 3]"},
		{arr, types.ArrayOf(types.Of(types.Int).Required()), "error: NULL inside"}, {arr, types.ArrayOf(types.Of(types.Date)), "error: cannot cast"},
		{resolved(t, "MAP", "1", 2), types.MapOf(types.Of(types.Int), types.String()), "{1=2}"},
		{resolved(t, "ROW", 1, "2"), types.RowOf(types.Field{Name: "a", Type: types.String()}, types.Field{Name: "b", Type: types.Of(types.Int)}), "(1, 2)"},
		{resolved(t, "ROW", 1, "2"), types.RowOf(types.Field{Name: "a", Type: types.String()}), "error: cannot cast"},
		{resolved(t, "ROW", 1, "x"), types.RowOf(types.Field{Name: "a", Type: types.String()}, types.Field{Name: "b", Type: types.Of(types.Int)}), "error: malformed"},
	} {
		e, err := Cast(c.e, c.to, false)
		checkExpr(t, c.want, c.to.String(), e, err)
	}
}

func TestCastInTimeZone(t *testing.T) {
	tz, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Skip(err)
	}
	c := &Ctx{Zone: tz, Now: 1_709_210_096_789_012}
	cast := func(e any, to types.Type) string {
		x, err := Cast(toExpr(e), to, false)
		return show(x, err, c)
	}
	ltz := types.TimestampLTZOf(3)
	for _, pair := range [][2]string{
		{cast(timestamp("2024-07-01 12:00:00"), ltz), "2024-07-01 12:00:00.000"},
		{cast(instant("2024-07-01 02:00:00Z"), types.TimestampOf(0)), "2024-06-30 22:00:00"},
		{cast(instant("2024-07-01 02:00:00Z"), types.Of(types.Date)), "2024-06-30"},
		{cast(instant("1970-01-01 02:00:00Z"), types.String()), "1969-12-31 21:00:00.000"},
		{cast("2024-07-01 12:00:00", ltz), "2024-07-01 12:00:00.000"},
		{cast(date("2024-03-10"), ltz), "2024-03-10 00:00:00.000"},
		{cast(instant("2024-01-01 00:00:00.001Z"), types.TimestampLTZOf(9)), "2023-12-31 19:00:00.001000000"},
		{show(resolved(t, "EXTRACT", "HOUR", instant("2024-07-01 02:00:00Z")), nil, c), "22"},
		{show(resolved(t, "EXTRACT", "EPOCH", instant("1970-01-01 00:00:07Z")), nil, c), "7"},
		{show(resolved(t, "FLOOR", instant("2024-07-01 02:00:00Z"), "DAY"), nil, c), "2024-06-30 00:00:00.000"},
		{show(resolved(t, "FROM_UNIXTIME", 0), nil, c), "1969-12-31 19:00:00"},
		{show(resolved(t, "UNIX_TIMESTAMP", "1969-12-31 19:00:01"), nil, c), "1"},
		{show(resolved(t, "CURRENT_TIMESTAMP"), nil, c), "2024-02-29 07:34:56.789"},
		{show(resolved(t, "LOCALTIMESTAMP"), nil, c), "2024-02-29 07:34:56.789"},
		{show(resolved(t, "CURRENT_DATE"), nil, c), "2024-02-29"},
		{show(resolved(t, "LOCALTIME"), nil, c), "07:34:56"},
		{show(resolved(t, "NOW"), nil, c), "2024-02-29 07:34:56.789"},
		{show(resolved(t, "UNIX_TIMESTAMP"), nil, c), "1709210096"},
		{show(resolved(t, "=", instant("2024-07-01 16:00:00Z"), "2024-07-01 12:00:00"), nil, c), "TRUE"},
		{show(resolved(t, "TIMESTAMPDIFF", "HOUR", instant("2024-03-10 05:00:00Z"), instant("2024-03-11 04:00:00Z")), nil, c), "23"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s, want %s", pair[0], pair[1])
		}
	}
}

func instant(s string) *Const { return lit(types.TimestampLTZOf(3), s) }
