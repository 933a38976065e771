package text

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	tz, err := time.LoadLocation(name)
	if err != nil {
		t.Skipf("no time zone database: %v", err)
	}
	return tz
}

func TestCivilAgainstTime(t *testing.T) {
	for days := int64(-800_000); days < 800_000; days += 7 {
		want := time.Unix(days*86400, 0).UTC()
		y, m, d := Civil(days)
		if y != want.Year() || m != int(want.Month()) || d != want.Day() {
			t.Fatalf("day %d: %d-%d-%d, want %v", days, y, m, d, want)
		}
		if back := Days(y, m, d); back != days {
			t.Fatalf("%d-%d-%d: day %d, want %d", y, m, d, back, days)
		}
	}
	for _, days := range []int64{minDays, maxDays, Days(0, 2, 29), Days(-400, 2, 29), -719469, -719468} {
		if y, m, d := Civil(days); Days(y, m, d) != days {
			t.Errorf("day %d became %d-%d-%d", days, y, m, d)
		}
	}
	if Days(2023, 14, 0) != Days(2024, 1, 31) || Days(2024, -1, 1) != Days(2023, 11, 1) {
		t.Error("months and days out of range")
	}
}

func TestAddMonths(t *testing.T) {
	for _, c := range []struct {
		from string
		n    int64
		want string
	}{
		{"2024-01-31", 1, "2024-02-29"}, {"2023-01-31", 1, "2023-02-28"}, {"2024-02-29", 12, "2025-02-28"},
		{"2024-02-29", -48, "2020-02-29"}, {"1970-01-01", -1, "1969-12-01"}, {"0001-01-15", -1, "0000-12-15"},
	} {
		d, err := ParseDate([]byte(c.from))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(AppendDate(nil, AddMonths(d, c.n))); got != c.want {
			t.Errorf("%s + %d months = %s, want %s", c.from, c.n, got, c.want)
		}
	}
}

func TestSplitJoin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	day := big.NewInt(NanosPerDay)
	for range 50_000 {
		us := int64(r.Uint64()) >> r.IntN(60)
		d, n := SplitMicros(us)
		if back, ok := JoinMicros(d, n); !ok || back != us || n < 0 || n >= NanosPerDay {
			t.Fatalf("%d µs = %d days %d ns = %d, %v", us, d, n, back, ok)
		}
		days, nanos := r.Int64N(2e8)-1e8, r.Int64N(NanosPerDay)
		hi, lo := JoinNanos(days, nanos)
		want := new(big.Int).Mul(big.NewInt(days), day)
		want.Add(want, big.NewInt(nanos))
		got := new(big.Int).Lsh(big.NewInt(hi), 64)
		if got.Add(got, new(big.Int).SetUint64(lo)); got.Cmp(want) != 0 {
			t.Fatalf("%d days %d ns = %v, want %v", days, nanos, got, want)
		}
		if d, n := SplitNanos(hi, lo); d != days || n != nanos {
			t.Fatalf("%d days %d ns came back as %d, %d", days, nanos, d, n)
		}
	}
	for _, us := range []int64{math.MaxInt64, math.MinInt64, -1, 0} {
		if back, ok := JoinMicros(SplitMicros(us)); !ok || back != us {
			t.Errorf("%d came back as %d, %v", us, back, ok)
		}
	}
	if _, ok := JoinMicros(SplitMicros(math.MaxInt64)); !ok {
		t.Error("the last microsecond")
	}
	d, n := SplitMicros(math.MaxInt64)
	if us, ok := JoinMicros(d, n+1000); ok {
		t.Errorf("one beyond the last microsecond gave %d", us)
	}
}

func TestZones(t *testing.T) {
	tz := zone(t, "Europe/Berlin")
	for _, c := range []struct{ local, utc string }{
		{"2024-01-01 12:00:00", "2024-01-01 11:00:00"},
		{"2024-07-01 12:00:00", "2024-07-01 10:00:00"},
		{"2024-03-31 01:59:59", "2024-03-31 00:59:59"},
		{"2024-03-31 02:30:00", "2024-03-31 01:30:00"}, // never happens: later by the gap
		{"2024-03-31 03:00:00", "2024-03-31 01:00:00"},
		{"2024-10-27 02:30:00", "2024-10-27 00:30:00"}, // happens twice: the earlier
		{"2024-10-27 03:00:00", "2024-10-27 02:00:00"},
	} {
		d, err := ParseTimestampLTZ([]byte(c.local), 6, AnyLayout, tz)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(Append(nil, types.TimestampLTZOf(0), d, time.UTC)); got != c.utc {
			t.Errorf("%s in Berlin = %s UTC, want %s", c.local, got, c.utc)
		}
	}
}

func TestAppendAndParse(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	for _, c := range []struct {
		t    types.Type
		in   string
		want string
		err  error
	}{
		{types.Of(types.Boolean), "true", "TRUE", nil},
		{types.Of(types.Boolean), " No ", "FALSE", nil},
		{types.Of(types.Boolean), "maybe", "", ErrSyntax},
		{types.Of(types.TinyInt), "-128", "-128", nil},
		{types.Of(types.TinyInt), "128", "", ErrRange},
		{types.Of(types.SmallInt), "32767", "32767", nil},
		{types.Of(types.SmallInt), "32768", "", ErrRange},
		{types.Of(types.Int), "+7.9", "7", nil},
		{types.Of(types.Int), "2147483648", "", ErrRange},
		{types.Of(types.BigInt), "-9223372036854775808", "-9223372036854775808", nil},
		{types.Of(types.BigInt), "9223372036854775807", "9223372036854775807", nil},
		{types.Of(types.BigInt), "9223372036854775808", "", ErrRange},
		{types.Of(types.BigInt), "99999999999999999999999999", "", ErrRange},
		{types.Of(types.BigInt), "1e3", "", ErrSyntax},
		{types.Of(types.BigInt), "", "", ErrSyntax},
		{types.Of(types.BigInt), "-", "", ErrSyntax},
		{types.Of(types.Float), "3.4028235e38", "3.4028235E38", nil},
		{types.Of(types.Float), "0.1", "0.1", nil},
		{types.Of(types.Float), "1e39", "", ErrRange},
		{types.Of(types.Double), "1e7", "1.0E7", nil},
		{types.Of(types.Double), "9999999", "9999999.0", nil},
		{types.Of(types.Double), "0.001", "0.001", nil},
		{types.Of(types.Double), "0.00099", "9.9E-4", nil},
		{types.Of(types.Double), "-0", "-0.0", nil},
		{types.Of(types.Double), "4.9e-324", "4.9E-324", nil},
		{types.Of(types.Double), "1.7976931348623157E308", "1.7976931348623157E308", nil},
		{types.Of(types.Double), "NaN", "NaN", nil},
		{types.Of(types.Double), "-Infinity", "-Infinity", nil},
		{types.Of(types.Double), "0x1p3", "", ErrSyntax},
		{types.Of(types.Double), "1_0", "", ErrSyntax},
		{types.DecimalOf(5, 2), "1.005", "1.01", nil},
		{types.DecimalOf(5, 2), "1000", "", ErrRange},
		{types.DecimalOf(20, 1), "-1234567890123456789.05", "-1234567890123456789.1", nil},
		{types.DecimalOf(5, 2), "x", "", ErrSyntax},
		{types.String(), " a b ", " a b ", nil},
		{types.Bytes(), "\x00\xff", "x'00ff'", nil},
		{types.Of(types.Date), "2024-02-29", "2024-02-29", nil},
		{types.Of(types.Date), "2024-2-9", "2024-02-09", nil},
		{types.Of(types.Date), "2023-02-29", "", ErrRange},
		{types.Of(types.Date), "1969-12-31", "1969-12-31", nil},
		{types.Of(types.Date), "0001-01-01", "0001-01-01", nil},
		{types.Of(types.Date), "-0044-03-15", "-0044-03-15", nil},
		{types.Of(types.Date), "12345-06-07", "12345-06-07", nil},
		{types.Of(types.Date), "2024-02-29 23:59:59.9", "2024-02-29", nil},
		{types.Of(types.Date), "2024-02-29 25:00", "", ErrRange},
		{types.Of(types.Date), "2024/02/29", "", ErrSyntax},
		{types.Of(types.Date), "400000-01-01", "", ErrRange},
		{types.Type{Kind: types.Time}, "12:34:56.789", "12:34:56", nil},
		{types.Type{Kind: types.Time, Precision: 3}, "1:2:3.4567", "01:02:03.456", nil},
		{types.Type{Kind: types.Time, Precision: 9}, "23:59:59.999999999", "23:59:59.999999999", nil},
		{types.Type{Kind: types.Time}, "24:00:00", "", ErrRange},
		{types.Type{Kind: types.Time}, "12", "", ErrSyntax},
		{types.TimestampOf(6), "2024-02-29 12:34:56.789012", "2024-02-29 12:34:56.789012", nil},
		{types.TimestampOf(3), "2024-02-29T12:34:56.789999", "2024-02-29 12:34:56.789", nil},
		{types.TimestampOf(9), "1969-12-31 23:59:59.999999999", "1969-12-31 23:59:59.999999999", nil},
		{types.TimestampOf(0), "1969-12-31 23:59:59.9", "1969-12-31 23:59:59", nil},
		{types.TimestampOf(9), "9999-12-31 23:59:59.123456789", "9999-12-31 23:59:59.123456789", nil},
		{types.TimestampOf(9), "-0001-01-01 00:00:00", "-0001-01-01 00:00:00.000000000", nil},
		{types.TimestampOf(3), "2024-02-29", "2024-02-29 00:00:00.000", nil},
		{types.TimestampOf(3), "2024-02-29 12:34", "2024-02-29 12:34:00.000", nil},
		{types.TimestampOf(3), "2024-02-29 12:34:60", "", ErrRange},
		{types.TimestampOf(3), "2024-02-29 12:34:56Z", "", ErrSyntax},
		{types.TimestampOf(3), "2024-02-29 12:34:56.", "", ErrSyntax},
		{types.TimestampLTZOf(3), "2024-02-29 12:34:56", "2024-02-29 12:34:56.000", nil},
		{types.TimestampLTZOf(3), "2024-02-29T12:34:56.5Z", "2024-02-29 13:34:56.500", nil},
		{types.TimestampLTZOf(3), "2024-02-29 12:34:56+05:30", "2024-02-29 08:04:56.000", nil},
		{types.TimestampLTZOf(9), "1969-12-31T23:00:00.000000001Z", "1970-01-01 00:00:00.000000001", nil},
		{types.TimestampLTZOf(3), "2024-02-29 12:34:56 Mars", "", ErrSyntax},
		{types.Of(types.IntervalYM), "+1-02", "+1-02", nil},
		{types.Of(types.IntervalYM), "-0-11", "-0-11", nil},
		{types.Of(types.IntervalYM), "1-12", "", ErrRange},
		{types.Of(types.IntervalDT), "+1 02:03:04.567", "+1 02:03:04.567", nil},
		{types.Of(types.IntervalDT), "-0 00:00:00.000001", "-0 00:00:00.000001", nil},
		{types.ArrayOf(types.Of(types.Int)), "[1]", "", ErrSyntax},
	} {
		d, err := Parse(c.t, []byte(c.in), berlin)
		if !errors.Is(err, c.err) {
			t.Errorf("Parse(%s, %q): error %v, want %v", c.t, c.in, err, c.err)
			continue
		}
		if err != nil {
			continue
		}
		if got := string(Append(nil, c.t, d, berlin)); got != c.want {
			t.Errorf("Parse(%s, %q) = %s, want %s", c.t, c.in, got, c.want)
		}
	}
}

func TestLayouts(t *testing.T) {
	for _, c := range []struct {
		in string
		l  Layout
		ok bool
	}{
		{"2024-02-29 12:34:56", SQLLayout, true}, {"2024-02-29T12:34:56", SQLLayout, false},
		{"2024-02-29T12:34:56", ISOLayout, true}, {"2024-02-29 12:34:56", ISOLayout, false},
		{"2024-02-29", SQLLayout, false}, {"2024-02-29", AnyLayout, true}, {"2024-02-29 12", SQLLayout, false},
	} {
		if _, err := ParseTimestamp([]byte(c.in), 3, c.l); (err == nil) != c.ok {
			t.Errorf("%q in layout %d: %v", c.in, c.l, err)
		}
	}
	if got := string(AppendDateTime(nil, 0, 1_500_000, -1, 'T')); got != "1970-01-01T00:00:00.0015" {
		t.Error(got)
	}
}

func TestNested(t *testing.T) {
	i, s := types.Of(types.Int), types.String()
	arr := row.AppendArray(nil, i.Phys(), []row.Datum{row.Int(1), row.NullDatum, row.Int(3)})
	m := row.AppendMap(nil, s.Phys(), i.Phys(), []row.Datum{row.String("a"), row.String("b")}, []row.Datum{row.Int(1), row.NullDatum})
	var b row.Builder
	b.Begin(nil, 3)
	b.Int64(0, 7)
	b.String(1, "x")
	r := b.Finish(nil)
	rt := types.RowOf(types.Field{Name: "a", Type: i}, types.Field{Name: "b", Type: s}, types.Field{Name: "c", Type: types.Of(types.Double)})
	for _, c := range []struct {
		t    types.Type
		v    []byte
		want string
	}{
		{types.ArrayOf(i), arr, "[1, NULL, 3]"},
		{types.MapOf(s, i), m, "{a=1, b=NULL}"},
		{rt, r, "(7, x, NULL)"},
		{types.ArrayOf(i), row.AppendArray(nil, i.Phys(), nil), "[]"},
	} {
		if got := string(Append(nil, c.t, row.Bytes(c.v), nil)); got != c.want {
			t.Errorf("%s: %s, want %s", c.t, got, c.want)
		}
	}
	if got := string(Append(nil, i, row.NullDatum, nil)); got != "NULL" {
		t.Error(got)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1", "-1.5", "2024-02-29 12:34:56.789", "true", "+1-02", "12:00:00", "1 02:03:04"} {
		f.Add([]byte(s))
	}
	all := []types.Type{
		types.Of(types.Boolean), types.Of(types.BigInt), types.Of(types.Float), types.Of(types.Double), types.DecimalOf(38, 10),
		types.Of(types.Date), {Kind: types.Time, Precision: 9}, types.TimestampOf(6), types.TimestampOf(9),
		types.TimestampLTZOf(3), types.Of(types.IntervalYM), types.Of(types.IntervalDT),
	}
	f.Fuzz(func(t *testing.T, s []byte) {
		for _, ty := range all {
			d, err := Parse(ty, s, nil)
			if err != nil {
				continue
			}
			out := Append(nil, ty, d, nil)
			back, err := Parse(ty, out, nil)
			if again := Append(nil, ty, back, nil); err != nil || string(again) != string(out) {
				t.Fatalf("%s: %q → %s → %s, %v", ty, s, out, again, err)
			}
		}
	})
}

func BenchmarkAppendTimestamp(b *testing.B) {
	d, err := ParseTimestamp([]byte("2024-02-29 12:34:56.789012"), 6, AnyLayout)
	if err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 0, 64)
	for b.Loop() {
		buf = Append(buf[:0], types.TimestampOf(6), d, nil)
	}
}

func BenchmarkParseTimestamp(b *testing.B) {
	s := []byte("2024-02-29 12:34:56.789012")
	for b.Loop() {
		if _, err := ParseTimestamp(s, 6, AnyLayout); err != nil {
			b.Fatal(err)
		}
	}
}
