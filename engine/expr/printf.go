package expr

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sluicesql/sluice/engine/decimal"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

func printfFunctions() []*Function {
	return []*Function{{
		Name: "PRINTF", Category: StringFns, Signature: "PRINTF(format, value, …)",
		Help:     "The values written by a format of Java's Formatter with the conversions d x o f e s c b n and %; a NULL is written as null, and NULL is the result of a format that is none or does not fit the values.",
		Examples: []Example{ex("007: a  |", "%03d: %-3s|", 7, "a"), ex("1,234.50 (2)", "%,.2f (%d)", 1234.5, 2), ex("b a", "%2$s %1$s", "a", "b"), ex("null 100%", "%s %d%%", nil, 100), ex("NULL", "%d", "a"), ex("NULL", "%d"), ex("ffffffff", "%x", -1), ex("error: %t is not supported", "%tY", 1)},
		bind:     bindPrintf, build: buildPrintf,
	}}
}

func bindPrintf(args []Expr) ([]Expr, types.Type, error) {
	args, err := sig{params: []param{aString, anything}, min: 1, rest: true, ret: returnsString}.checkOpen(args)
	if err != nil {
		return nil, types.Type{}, err
	}
	return args, types.String(), nil
}

// directive is a %[index$][flags][width][.precision]conversion, or text where conversion is 0.
type directive struct {
	text       []byte
	index      int // of the value, from 0
	flags      string
	width      int
	precision  int // -1 where none is written
	conversion byte
}

// errFormat is a format that is none, or does not fit its values.
var errFormat = errors.New("not a format")

// parseFormat divides a format. Errors are errFormat, and conversions that Java has and this function not.
func parseFormat(s []byte) ([]directive, error) {
	var out []directive
	next := 0
	for len(s) > 0 {
		i := bytes.IndexByte(s, '%')
		if i != 0 {
			if i < 0 {
				i = len(s)
			}
			out = append(out, directive{text: s[:i]})
			s = s[i:]
			continue
		}
		d := directive{precision: -1}
		s = s[1:]
		n, rest := leadingInt(s)
		explicit := n > 0 && len(rest) > 0 && rest[0] == '$'
		if explicit {
			d.index, s = n-1, rest[1:]
		}
		for len(s) > 0 && strings.IndexByte("-+ 0,(#", s[0]) >= 0 {
			d.flags += string(s[0])
			s = s[1:]
		}
		d.width, s = leadingInt(s)
		if len(s) > 0 && s[0] == '.' {
			if d.precision, rest = leadingInt(s[1:]); len(rest) == len(s)-1 {
				return nil, errFormat
			}
			s = rest
		}
		if len(s) == 0 || d.width > maxString || d.precision > maxString {
			return nil, errFormat
		}
		d.conversion, s = s[0], s[1:]
		switch d.conversion {
		case 'd', 'x', 'X', 'o', 'f', 'e', 'E', 's', 'S', 'c', 'C', 'b', 'B':
			if !explicit {
				d.index = next
				next++
			}
		case 'n', '%':
		case 'g', 'G', 'a', 'A', 'h', 'H', 't', 'T':
			return nil, fmt.Errorf("PRINTF: %%%c is not supported; CAST the value, or take DATE_FORMAT or HEX, and write it with %%s", d.conversion)
		default:
			return nil, errFormat
		}
		out = append(out, d)
	}
	return out, nil
}

func leadingInt(s []byte) (int, []byte) {
	n := 0
	for len(s) > 0 && s[0] >= '0' && s[0] <= '9' && (n > 0 || s[0] != '0') && n < 1e9 {
		n = n*10 + int(s[0]-'0')
		s = s[1:]
	}
	return n, s
}

func buildPrintf(call *Call, args []Fn) (Fn, error) {
	ts := make([]types.Type, len(args))
	for i, a := range call.Args {
		ts[i] = a.Type()
	}
	var known []directive
	var knownErr error
	if isConst(call.Args[0]) {
		if known, knownErr = parseFormat(call.Args[0].(*Const).Value.B); knownErr != nil && knownErr != errFormat {
			return nil, knownErr
		}
	}
	return evalNullN(func(c *Ctx, args []row.Datum) row.Datum {
		if args[0].Null {
			return row.NullDatum
		}
		ds, err := known, knownErr
		if ds == nil && err == nil {
			ds, err = parseFormat(args[0].B)
		}
		buf, at := c.scratch, len(c.scratch)
		for i := range ds {
			if err == nil {
				buf, err = ds[i].append(c, buf, ts[1:], args[1:])
			}
		}
		switch err {
		case nil:
			return c.done(buf, at)
		case errFormat:
			return row.NullDatum
		default:
			return c.fail(err)
		}
	})(call, args)
}

func (d *directive) append(c *Ctx, buf []byte, ts []types.Type, args []row.Datum) ([]byte, error) {
	switch d.conversion {
	case 0:
		return append(buf, d.text...), nil
	case 'n':
		return append(buf, '\n'), nil
	case '%':
		return d.pad(buf, []byte{'%'}), nil
	}
	if d.index >= len(args) {
		return buf, errFormat
	}
	var room [64]byte
	s, err := d.value(c, room[:0], ts[d.index], args[d.index])
	if err != nil {
		return buf, err
	}
	if unicode.IsUpper(rune(d.conversion)) {
		s = bytes.ToUpper(s)
	}
	return d.pad(buf, s), nil
}

func (d *directive) has(flag byte) bool { return strings.IndexByte(d.flags, flag) >= 0 }

func (d *directive) pad(buf, s []byte) []byte {
	missing := int64(d.width - utf8.RuneCount(s))
	if missing <= 0 {
		return append(buf, s...)
	}
	if d.has('-') {
		return padding(append(buf, s...), []byte{' '}, missing)
	}
	return append(padding(buf, []byte{' '}, missing), s...)
}

// value writes the value without its padding, but for that by zeros.
func (d *directive) value(c *Ctx, buf []byte, t types.Type, v row.Datum) ([]byte, error) {
	conversion := d.conversion | 0x20
	if conversion == 'b' {
		return strconv.AppendBool(buf, !v.Null && (t.Kind != types.Boolean || v.I != 0)), nil
	}
	if v.Null {
		return append(buf, "null"...), nil
	}
	switch {
	case conversion == 's':
		if t.Kind == types.Boolean {
			buf = strconv.AppendBool(buf, v.I != 0)
		} else {
			buf = text.Append(buf, t, v, c.Zone)
		}
		if d.precision >= 0 {
			buf = buf[:skip(buf, int64(d.precision))]
		}
		return buf, nil
	case conversion == 'c' && t.IsInteger() && v.I >= 0 && v.I <= unicode.MaxRune:
		return utf8.AppendRune(buf, rune(v.I)), nil
	case conversion == 'd' && t.IsInteger():
		return d.signed(strconv.AppendInt(buf, v.I, 10)), nil
	case (conversion == 'x' || conversion == 'o') && t.IsInteger():
		return d.unsigned(buf, t, v.I), nil
	case conversion == 'f' && t.Kind == types.Decimal:
		n := d.precisionOr(6)
		u, ok := decimal.Rescale(decimal.Load(t.Precision, v), t.Scale, min(n, decimal.MaxPrecision), decimal.MaxPrecision)
		if !ok || n > decimal.MaxPrecision {
			return buf, fmt.Errorf("PRINTF: %%.%df of %s has more than %d digits", n, text.Append(nil, t, v, nil), decimal.MaxPrecision)
		}
		return d.signed(decimal.Append(buf, u, n)), nil
	case (conversion == 'f' || conversion == 'e') && t.IsApprox():
		f, bits := v.Float(), 64
		if t.Kind == types.Float {
			bits = 32
		}
		n := d.precisionOr(6)
		if conversion == 'f' {
			// Java rounds the shortest decimal text of the number, HALF_UP.
			f = roundFloat(f, int64(n), true, bits)
		}
		return d.signed(strconv.AppendFloat(buf, f, conversion, n, 64)), nil
	}
	return buf, errFormat
}

func (d *directive) precisionOr(n int) int {
	if d.precision >= 0 {
		return d.precision
	}
	return n
}

// unsigned writes an integer in two's complement of its type.
func (d *directive) unsigned(buf []byte, t types.Type, v int64) []byte {
	base, mark := 16, "0x"
	if d.conversion == 'o' {
		base, mark = 8, "0"
	}
	bits := map[types.Kind]int{types.TinyInt: 8, types.SmallInt: 16, types.Int: 32, types.BigInt: 64}[t.Kind]
	if d.has('#') {
		buf = append(buf, mark...)
	}
	return d.zeros(strconv.AppendUint(buf, uint64(v)<<(64-bits)>>(64-bits), base), len(buf))
}

// signed adds what the flags ask for to a number: a sign, parentheses, separators of thousands, zeros.
func (d *directive) signed(number []byte) []byte {
	negative := number[0] == '-'
	digits := bytes.TrimLeft(number, "-+")
	var out []byte
	switch {
	case negative && d.has('('):
		out = append(out, '(')
	case negative:
		out = append(out, '-')
	case d.has('+'):
		out = append(out, '+')
	case d.has(' '):
		out = append(out, ' ')
	}
	start := len(out)
	whole := bytes.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
	if whole < 0 {
		whole = len(digits)
	}
	for i, b := range digits {
		if d.has(',') && i > 0 && i < whole && (whole-i)%3 == 0 {
			out = append(out, ',')
		}
		out = append(out, b)
	}
	if negative && d.has('(') {
		out = append(out, ')')
	}
	return d.zeros(out, start)
}

// zeros fills up to the width after the sign, which ends at start.
func (d *directive) zeros(number []byte, start int) []byte {
	missing := d.width - len(number)
	if !d.has('0') || missing <= 0 {
		return number
	}
	return append(number[:start:start], append(bytes.Repeat([]byte{'0'}, missing), number[start:]...)...)
}
