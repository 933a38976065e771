package text

import (
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/sluicesql/sluice/engine/decimal"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// Errors of Parse. The caller names the value and the type.
var (
	// ErrSyntax: the text is not a value of the type.
	ErrSyntax = errors.New("malformed")
	// ErrRange: the text is a value, but beyond the type's range.
	ErrRange = errors.New("out of range")
)

// Parse reads a value of type t as CAST from a string does, after the blanks at both ends are cut off:
// numbers in decimal notation (an integer type drops a fraction, a DECIMAL rounds to its scale), TRUE/FALSE,
// T/F, YES/NO, Y/N, 1/0, dates and times, intervals as Append writes them. A local time of TIMESTAMP_LTZ
// without an offset is in tz (nil is UTC). Strings and binary strings are s itself, uncut and unpadded.
// ARRAY, MAP and ROW have no string form that can be read back: ErrSyntax.
func Parse(t types.Type, s []byte, tz *time.Location) (row.Datum, error) {
	if t.Kind >= types.Char && t.Kind <= types.Varbinary {
		return row.Bytes(s), nil
	}
	s = trimBlanks(s)
	switch t.Kind {
	case types.Boolean:
		return parseBool(s)
	case types.TinyInt, types.SmallInt, types.Int, types.BigInt:
		v, err := ParseInt(s)
		if err != nil {
			return row.Datum{}, err
		}
		if lo, hi := IntRange(t.Kind); v < lo || v > hi {
			return row.Datum{}, ErrRange
		}
		return row.Int(v), nil
	case types.Float:
		return parseFloat(s, 32)
	case types.Double:
		return parseFloat(s, 64)
	case types.Decimal:
		v, err := decimal.Parse(s, t.Precision, t.Scale, true)
		switch {
		case errors.Is(err, decimal.ErrOverflow):
			return row.Datum{}, ErrRange
		case err != nil:
			return row.Datum{}, ErrSyntax
		}
		return v.Datum(t.Precision), nil
	case types.Date:
		days, err := ParseDate(s)
		return row.Int(days), err
	case types.Time:
		nanos, err := ParseTime(s)
		return row.Int(nanos - nanos%unitNanos[t.Precision]), err
	case types.Timestamp:
		return ParseTimestamp(s, t.Precision, AnyLayout)
	case types.TimestampLTZ:
		return ParseTimestampLTZ(s, t.Precision, AnyLayout, tz)
	case types.IntervalYM:
		return parseIntervalYM(s)
	case types.IntervalDT:
		return parseIntervalDT(s)
	default:
		return row.Datum{}, ErrSyntax
	}
}

// IntRange is the range of an integer type.
func IntRange(k types.Kind) (lo, hi int64) {
	switch k {
	case types.TinyInt:
		return math.MinInt8, math.MaxInt8
	case types.SmallInt:
		return math.MinInt16, math.MaxInt16
	case types.Int:
		return math.MinInt32, math.MaxInt32
	default:
		return math.MinInt64, math.MaxInt64
	}
}

func trimBlanks(s []byte) []byte {
	for len(s) > 0 && s[0] <= ' ' {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	return s
}

func parseBool(s []byte) (row.Datum, error) {
	var low [5]byte
	if len(s) > len(low) {
		return row.Datum{}, ErrSyntax
	}
	for i, c := range s {
		low[i] = c
		if c >= 'A' && c <= 'Z' {
			low[i] = c | 0x20
		}
	}
	switch string(low[:len(s)]) {
	case "true", "t", "yes", "y", "1":
		return row.Bool(true), nil
	case "false", "f", "no", "n", "0":
		return row.Bool(false), nil
	}
	return row.Datum{}, ErrSyntax
}

// ParseInt reads a BIGINT in decimal notation with an optional sign; a fraction (12.7) is dropped.
func ParseInt(s []byte) (int64, error) {
	i, negative := 0, false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		negative = s[i] == '-'
		i++
	}
	var v uint64
	start := i
	for ; i < len(s) && isDigit(s[i]); i++ {
		d := uint64(s[i] - '0')
		if v > (math.MaxUint64-d)/10 {
			v = math.MaxUint64 // beyond both limits; the digits that follow are still checked
			continue
		}
		v = v*10 + d
	}
	if i == start {
		return 0, ErrSyntax
	}
	if i < len(s) && s[i] == '.' {
		for i++; i < len(s) && isDigit(s[i]); i++ {
			continue
		}
	}
	switch {
	case i < len(s):
		return 0, ErrSyntax
	case negative && v <= 1<<63:
		return -int64(v), nil
	case !negative && v <= math.MaxInt64:
		return int64(v), nil
	default:
		return 0, ErrRange
	}
}

func parseFloat(s []byte, bits int) (row.Datum, error) {
	for _, c := range s { // strconv would also take hexadecimal and underscores
		if c == 'x' || c == 'X' || c == '_' || c == 'p' || c == 'P' {
			return row.Datum{}, ErrSyntax
		}
	}
	f, err := strconv.ParseFloat(string(s), bits)
	if err != nil {
		if errors.Is(err, strconv.ErrRange) {
			return row.Datum{}, ErrRange
		}
		return row.Datum{}, ErrSyntax
	}
	return row.Float(f), nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
