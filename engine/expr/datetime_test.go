package expr

import (
	"testing"
	"time"

	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

func TestExtract(t *testing.T) {
	nano := lit(types.TimestampOf(9), "1969-12-31 23:59:59.123456789")
	for _, c := range []struct {
		want, unit string
		of         Expr
	}{
		{"1969", "YEAR", nano}, {"12", "MONTH", nano}, {"31", "DAY", nano}, {"365", "DOY", nano}, {"4", "QUARTER", nano}, {"4", "DOW", nano}, {"3", "ISODOW", nano},
		{"1", "WEEK", nano}, {"1970", "ISOYEAR", nano}, {"23", "HOUR", nano}, {"59", "MINUTE", nano}, {"59", "SECOND", nano}, {"123", "MILLISECOND", nano},
		{"123456", "MICROSECOND", nano}, {"123456789", "NANOSECOND", nano}, {"-1", "EPOCH", nano}, {"196", "DECADE", nano}, {"20", "CENTURY", nano}, {"2", "MILLENNIUM", nano},
		{"20", "CENTURY", date("2000-01-01")}, {"21", "CENTURY", date("2001-01-01")}, {"-1", "CENTURY", date("0000-01-01")}, {"366", "DOY", date("2024-12-31")}, {"1", "DOW", date("2024-03-03")}, {"7", "ISODOW", date("2024-03-03")},
		{"52", "WEEK", date("2023-01-01")}, {"53", "WEEK", date("2020-12-31")}, {"-44", "YEAR", date("-0044-03-15")}, {"12", "HOUR", lit(types.Type{Kind: types.Time, Precision: 3}, "12:34:56.789")},
		{"1", "YEAR", months("1-02")}, {"-2", "MONTH", months("-1-02")}, {"1", "DAY", days("1 02:03:04.567")}, {"-3", "MINUTE", days("-1 02:03:04.567")}, {"567", "MILLISECOND", days("1 02:03:04.567")},
	} {
		check(t, c.want, "EXTRACT", c.unit, c.of)
	}
	check(t, "error: has no YEAR", "EXTRACT", "YEAR", lit(types.Type{Kind: types.Time}, "12:00:00"))
	check(t, "error: has no MONTH", "EXTRACT", "MONTH", days("1 00:00:00"))
}

// Every day's parts agree with package time.
func TestPartsAgainstTime(t *testing.T) {
	for d := int64(-200_000); d < 200_000; d += 3 {
		at := time.Unix(d*86400, 0).UTC()
		y, w := at.ISOWeek()
		for u, want := range map[unit]int{unitISOYear: y, unitWeek: w, unitDOW: int(at.Weekday()) + 1, unitDOY: at.YearDay()} {
			if got := u.part(d, 0); got != int64(want) {
				t.Fatalf("%s of %v = %d, want %d", u, at, got, want)
			}
		}
	}
}

func TestRoundTime(t *testing.T) {
	at := timestamp("2024-02-29 12:34:56.789")
	for _, c := range []struct{ unit, floor, ceil string }{
		{"YEAR", "2024-01-01 00:00:00.000", "2025-01-01 00:00:00.000"}, {"QUARTER", "2024-01-01 00:00:00.000", "2024-04-01 00:00:00.000"},
		{"MONTH", "2024-02-01 00:00:00.000", "2024-03-01 00:00:00.000"}, {"WEEK", "2024-02-25 00:00:00.000", "2024-03-03 00:00:00.000"},
		{"DAY", "2024-02-29 00:00:00.000", "2024-03-01 00:00:00.000"}, {"HOUR", "2024-02-29 12:00:00.000", "2024-02-29 13:00:00.000"},
		{"SECOND", "2024-02-29 12:34:56.000", "2024-02-29 12:34:57.000"}, {"DECADE", "2020-01-01 00:00:00.000", "2030-01-01 00:00:00.000"},
		{"CENTURY", "2001-01-01 00:00:00.000", "2101-01-01 00:00:00.000"}, {"MILLENNIUM", "2001-01-01 00:00:00.000", "3001-01-01 00:00:00.000"},
	} {
		check(t, c.floor, "FLOOR", at, c.unit)
		check(t, c.ceil, "CEIL", at, c.unit)
	}
	check(t, "2024-02-29 00:00:00.000", "CEIL", timestamp("2024-02-29"), "DAY")
	check(t, "1969-12-31", "FLOOR", date("1969-12-31"), "DAY")
	check(t, "1970-01-01 00:00:00.000", "CEIL", timestamp("1969-12-31 23:59:59.001"), "SECOND")
	check(t, "error: has no MONTH", "FLOOR", lit(types.Type{Kind: types.Time}, "12:00:00"), "MONTH")
	check(t, "12:00:00", "FLOOR", lit(types.Type{Kind: types.Time}, "12:34:56"), "HOUR")
}

func TestTimestampAddDiff(t *testing.T) {
	for _, c := range []struct {
		want string
		name string
		args []any
	}{
		{"2025-02-28", "TIMESTAMPADD", []any{"YEAR", 1, date("2024-02-29")}}, {"2024-05-29", "TIMESTAMPADD", []any{"QUARTER", 1, date("2024-02-29")}},
		{"2024-03-07", "TIMESTAMPADD", []any{"WEEK", 1, date("2024-02-29")}}, {"2024-02-29 00:00:00.001", "TIMESTAMPADD", []any{"MILLISECOND", 1, date("2024-02-29")}},
		{"1969-12-31 23:59:59.000", "TIMESTAMPADD", []any{"SECOND", -1, timestamp("1970-01-01")}}, {"error: out of range", "TIMESTAMPADD", []any{"YEAR", int64(1) << 62, date("2024-02-29")}},
		{"2124-02-29", "TIMESTAMPADD", []any{"CENTURY", 1, date("2024-02-29")}}, {"00:30:00", "TIMESTAMPADD", []any{"MINUTE", 60, lit(types.Type{Kind: types.Time}, "23:30:00")}},
		{"11", "TIMESTAMPDIFF", []any{"MONTH", date("2023-03-31"), date("2024-02-29")}}, {"-11", "TIMESTAMPDIFF", []any{"MONTH", date("2024-02-29"), date("2023-03-29")}},
		{"0", "TIMESTAMPDIFF", []any{"MONTH", timestamp("2024-01-15 12:00:00"), timestamp("2024-02-15 11:59:59")}}, {"1", "TIMESTAMPDIFF", []any{"DAY", date("1969-12-31"), date("1970-01-01")}},
		{"-1", "TIMESTAMPDIFF", []any{"SECOND", timestamp("1970-01-01 00:00:00.500"), timestamp("1969-12-31 23:59:59")}}, {"error: INT overflow", "TIMESTAMPDIFF", []any{"MILLISECOND", date("1970-01-01"), date("2024-01-01")}},
		{"24", "TIMESTAMPDIFF", []any{"HOUR", date("2024-02-28"), timestamp("2024-02-29 00:30:00")}}, {"error: write a CAST", "TIMESTAMPDIFF", []any{"DAY", timestamp("2024-01-01"), instant("2024-01-01 00:00:00")}},
		{"0", "TIMESTAMPDIFF", []any{"DAY", date("2024-01-01"), date("2024-01-01")}},
	} {
		check(t, c.want, c.name, c.args...)
	}
}

func TestDatePatterns(t *testing.T) {
	at := timestamp("0042-03-05 00:07:08.009")
	for _, c := range []struct {
		want    string
		of      Expr
		pattern string
	}{
		{"0042|42|42", at, "yyyy|yy|y"}, {"3|03|Mar|March", at, "M|MM|MMM|MMMM"}, {"5|05|064", at, "d|dd|DDD"}, {"24|12|00|0", at, "k|h|HH|K"},
		{"AM 7:8.0", at, "a m:s.S"}, {"009|009000000", at, "SSS|SSSSSSSSS"}, {"o'clock", at, "'o''clock'"}, {"'", at, "''"}, {"Sunday Sun", date("2024-03-03"), "EEEE E"},
		{"12345-06-07", date("12345-06-07"), "yyyy-MM-dd"}, {"0045 -0044", date("-0044-03-15"), "yyyy uuuu"}, {"Привет", at, "Привет"},
		{"error: not supported", at, "VV"}, {"error: not supported", at, "yyyyyyy"}, {"error: without an end", at, "'x"},
	} {
		check(t, c.want, "DATE_FORMAT", c.of, c.pattern)
	}
	for _, c := range []struct{ want, in, pattern string }{
		{"2024-02-29 15:04:05.000", "29 Feb 2024 03:04:05 PM", "dd MMM yyyy hh:mm:ss a"}, {"2024-02-29 00:00:00.000", "2024060", "yyyyDDD"}, {"2024-02-29 12:34:56.789", "20240229123456789", "yyyyMMddHHmmssSSS"},
		{"1970-01-01 10:00:00.000", "10", "HH"}, {"2024-01-01 00:00:00.000", "24", "yy"}, {"NULL", "2024-02-30", "yyyy-MM-dd"}, {"NULL", "2024-02-29x", "yyyy-MM-dd"}, {"NULL", "2024-2-29", "yyyy-MM-dd"},
		{"2024-02-09 00:00:00.000", "2024-2-9", "yyyy-M-d"}, {"12345-01-01 00:00:00.000", "12345-01", "yyyy-MM"}, {"NULL", "24:00", "HH:mm"}, {"1970-01-01 00:30:00.000", "24:30", "kk:mm"}, {"NULL", "13 PM", "hh a"},
		{"1970-01-01 00:00:00.000", "12 am", "hh a"}, {"2024-02-29 00:00:00.000", "Thursday, 29 february 2024", "EEEE, dd MMMM yyyy"}, {"-0044-03-15 00:00:00.000", "-0044-03-15", "uuuu-MM-dd"}, {"NULL", "25", "kk"},
	} {
		check(t, c.want, "TO_TIMESTAMP", c.in, c.pattern)
	}
}

func TestInstants(t *testing.T) {
	check(t, "2024-02-29 12:34:56.789", "TO_TIMESTAMP_LTZ", int64(1709210096789), 3)
	check(t, "1970-01-01 00:00:01.500", "TO_TIMESTAMP_LTZ", dec("1.5", 2, 1), 0)
	check(t, "1970-01-01 00:00:00.001", "TO_TIMESTAMP_LTZ", 1999, 6)
	check(t, "1969-12-31 23:59:59.999", "TO_TIMESTAMP_LTZ", -1, 9)
	check(t, "error: out of range", "TO_TIMESTAMP_LTZ", int64(1)<<62, 0)
	check(t, "error: precision must be", "TO_TIMESTAMP_LTZ", 1, 2)
	check(t, "error: unknown time zone", "TO_TIMESTAMP_LTZ", "2024-01-01", "yyyy-MM-dd", "Mars/Base")
	check(t, "2024-01-01 00:00:00.000", "TO_TIMESTAMP_LTZ", "2024-01-01T00:00:00Z")
	check(t, "error: out of range", "FROM_UNIXTIME", int64(1)<<60)
	for name, seconds := range map[string]int{"UTC": 0, "GMT+08:00": 28800, "-05:30": -19800, "UTC+1": 3600} {
		tz, err := LoadZone(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := text.Offset(tz, 0); got != int64(seconds) {
			t.Errorf("%s: %d s", name, got)
		}
	}
	for _, name := range []string{"Local", "Nowhere", "+99", "+"} {
		if _, err := LoadZone(name); err == nil {
			t.Errorf("%s is a time zone", name)
		}
	}
}
