package text

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"github.com/sluicesql/sluice/engine/decimal"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// Append appends the string form of a value of type t; TIMESTAMP_LTZ is shown in tz (nil is UTC). It is what
// CAST(… AS STRING) gives, but for binary strings, which appear as x'0aff'. Strings are written bare also
// inside of ARRAY [a, b], MAP {k=v} and ROW (a, b), and NULL is NULL.
func Append(buf []byte, t types.Type, d row.Datum, tz *time.Location) []byte {
	if d.Null {
		return append(buf, "NULL"...)
	}
	switch t.Kind {
	case types.Boolean:
		if d.I != 0 {
			return append(buf, "TRUE"...)
		}
		return append(buf, "FALSE"...)
	case types.TinyInt, types.SmallInt, types.Int, types.BigInt:
		return strconv.AppendInt(buf, d.I, 10)
	case types.Float:
		return AppendFloat(buf, d.Float(), 32)
	case types.Double:
		return AppendFloat(buf, d.Float(), 64)
	case types.Decimal:
		return decimal.Append(buf, decimal.Load(t.Precision, d), t.Scale)
	case types.Char, types.Varchar:
		return append(buf, d.B...)
	case types.Binary, types.Varbinary:
		return append(AppendHex(append(buf, "x'"...), d.B), '\'')
	case types.Date:
		return AppendDate(buf, d.I)
	case types.Time:
		return AppendTime(buf, d.I, t.Precision)
	case types.Timestamp, types.TimestampLTZ:
		return appendTimestamp(buf, t, d, tz)
	case types.IntervalYM:
		return AppendIntervalYM(buf, d.I)
	case types.IntervalDT:
		return AppendIntervalDT(buf, d.I)
	case types.Array:
		return appendArray(buf, *t.Elem, d.B, tz)
	case types.Map:
		return appendMap(buf, t, d.B, tz)
	case types.Row:
		return appendRow(buf, t.Fields, row.Row(d.B), tz)
	default:
		panic("value of type " + t.String())
	}
}

func appendArray(buf []byte, elem types.Type, b []byte, tz *time.Location) []byte {
	buf = append(buf, '[')
	elems, p := row.ArrayRow(b), elem.Phys()
	for i := range row.ArrayLen(b) {
		if i > 0 {
			buf = append(buf, ", "...)
		}
		buf = Append(buf, elem, elems.Get(i, p), tz)
	}
	return append(buf, ']')
}

func appendMap(buf []byte, t types.Type, b []byte, tz *time.Location) []byte {
	buf = append(buf, '{')
	ka, va := row.MapArrays(b)
	keys, values := row.ArrayRow(ka), row.ArrayRow(va)
	kp, vp := t.Key.Phys(), t.Elem.Phys()
	for i := range row.ArrayLen(ka) {
		if i > 0 {
			buf = append(buf, ", "...)
		}
		buf = append(Append(buf, *t.Key, keys.Get(i, kp), tz), '=')
		buf = Append(buf, *t.Elem, values.Get(i, vp), tz)
	}
	return append(buf, '}')
}

func appendRow(buf []byte, fields []types.Field, r row.Row, tz *time.Location) []byte {
	buf = append(buf, '(')
	for i, f := range fields {
		if i > 0 {
			buf = append(buf, ", "...)
		}
		buf = Append(buf, f.Type, r.Get(i, f.Type.Phys()), tz)
	}
	return append(buf, ')')
}

// AppendHex appends b in lower-case hexadecimal.
func AppendHex(buf, b []byte) []byte {
	const digits = "0123456789abcdef"
	for _, c := range b {
		buf = append(buf, digits[c>>4], digits[c&15])
	}
	return buf
}

// AppendFloat appends f as Java's Double.toString (64 bits) or Float.toString (32 bits): the shortest digits
// that read back as f, plain with at least one fractional digit from 10^-3 to below 10^7, else as 1.5E10.
func AppendFloat(buf []byte, f float64, bits int) []byte {
	switch {
	case f != f:
		return append(buf, "NaN"...)
	case math.IsInf(f, 1):
		return append(buf, "Infinity"...)
	case math.IsInf(f, -1):
		return append(buf, "-Infinity"...)
	}
	a := math.Abs(f)
	if a == 0 || a >= 1e-3 && a < 1e7 {
		at := len(buf)
		buf = strconv.AppendFloat(buf, f, 'f', -1, bits)
		for _, c := range buf[at:] {
			if c == '.' {
				return buf
			}
		}
		return append(buf, ".0"...)
	}
	var t [32]byte
	s := strconv.AppendFloat(t[:0], f, 'e', -1, bits) // -d.ddde±xx or -de±xx
	if bytes.IndexByte(s, '.') < 0 {
		// Java writes at least two digits, those nearest to f: 4.9E-324, not 5.0E-324.
		s = strconv.AppendFloat(t[:0], f, 'e', 1, bits)
	}
	e := bytes.IndexByte(s, 'e')
	buf = append(append(buf, s[:e]...), 'E')
	if s[e+1] == '-' {
		buf = append(buf, '-')
	}
	exp := s[e+2:]
	if exp[0] == '0' { // the exponent has two digits at least
		exp = exp[1:]
	}
	return append(buf, exp...)
}
