package jsonrow

import (
	"bytes"
	"encoding/base64"
	"errors"
	"math/big"
	"strconv"

	"github.com/sluicesql/sluice/connectors/format/jsonscan"
	"github.com/sluicesql/sluice/engine/decimal"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// maxScale bounds the scale of a decimal that is written out. PostgreSQL's numeric has at most 16,383 digits
// after the point, and 131,072 before it.
const maxScale = 1 << 17

// maxUnscaled bounds the base64 that is made a number of: turning it into digits takes more than linear time.
const maxUnscaled = 1 << 18

// decimal takes a number, a string that holds one, and Debezium's encodings of the unscaled value. Digits
// that the type would drop are an error.
func (d *Decoder) decimal(n *node, t *jsonscan.Token) (row.Datum, error) {
	if d.unscaled(n, t) {
		if v, ok := d.unscaledDecimal(n, t); ok {
			return v.Datum(n.typ.Precision), nil
		}
	}
	s, err := d.number(n, t)
	if err != nil {
		return row.NullDatum, err
	}
	if n.enc.Kind == EncodingUnknown && d.Debezium && t.IsString() && d.Decimals == TellDecimals && isBase64(s) && isNumber(s) {
		e := d.mismatch(n, t)
		e.Msg = d.describe(t) + " can be a decimal in digits, or one in base64"
		e.Fix = d.setOption(decimalMode, decimalModes)
		return row.NullDatum, e
	}
	v, err := decimal.Parse(bytes.TrimSpace(s), n.typ.Precision, n.typ.Scale, false)
	switch {
	case err == nil:
		return v.Datum(n.typ.Precision), nil
	case errors.Is(err, decimal.ErrSyntax):
		return row.NullDatum, d.mismatch(n, t)
	default:
		return row.NullDatum, d.outOfRange(n, t)
	}
}

// unscaled reports whether t, of the decimal n, is base64 of an unscaled value.
func (d *Decoder) unscaled(n *node, t *jsonscan.Token) bool {
	switch {
	case t.Kind != jsonscan.String || !d.Debezium:
		return false
	case n.enc.Kind != EncodingUnknown:
		return n.enc.Kind == DecimalEncoding
	case d.Decimals == TellDecimals:
		s := t.Bytes(d.msg)
		// Infinity is not a DECIMAL that Debezium would write in base64, but a number that is none.
		return isBase64(s) && !isNumber(s) && string(s) != "Infinity"
	default:
		return d.Decimals == UnscaledDecimals
	}
}

// unscaledDecimal is the value of an unscaled one whose scale is that of the type.
func (d *Decoder) unscaledDecimal(n *node, t *jsonscan.Token) (v decimal.Int128, ok bool) {
	if n.enc.Kind == DecimalEncoding && n.enc.Digits != n.typ.Scale {
		return v, false
	}
	var memory [24]byte // of 128 bits with a sign byte
	if t.End-t.Start > base64.StdEncoding.EncodedLen(len(memory)) {
		return v, false
	}
	b, err := base64.StdEncoding.AppendDecode(memory[:0], t.Bytes(d.msg))
	if err == nil {
		v, err = decimal.FromBigEndian(b)
	}
	return v, err == nil && v.Fits(n.typ.Precision)
}

// number is the text of a number or of a string, and of the numbers that Debezium encodes in another way,
// which are known for such by their encoding, or by the numeric type that they are declared with.
func (d *Decoder) number(n *node, t *jsonscan.Token) ([]byte, error) {
	switch {
	case t.Kind == jsonscan.Int && t.I < 0 && d.Unsigned && n.typ.Kind == types.Decimal && n.typ.Precision == 20 && n.typ.Scale == 0:
		return d.written(strconv.AppendUint(d.scratch, uint64(t.I), 10)), nil
	case !d.Debezium:
	case t.Kind == jsonscan.Object && (n.enc.Kind == VariableDecimalEncoding || n.enc.Kind == EncodingUnknown && n.typ.IsNumeric()):
		return d.variableDecimal(n, t)
	case t.IsString() && n.enc.Kind == BitsEncoding:
		return d.bits(n, t)
	case t.IsString() && n.enc.Kind == DecimalEncoding, n.typ.Kind == types.Decimal && d.unscaled(n, t):
		scale := n.typ.Scale
		if n.enc.Kind == DecimalEncoding {
			scale = n.enc.Digits
		}
		s, _ := d.scalar(t)
		return d.plain(n, t, s, int64(scale))
	}
	if s, ok := d.scalar(t); ok {
		return s, nil
	}
	return nil, d.mismatch(n, t)
}

// variableDecimal is the text of {scale, value}.
func (d *Decoder) variableDecimal(n *node, t *jsonscan.Token) ([]byte, error) {
	var scale, value jsonscan.Token
	others := false
	err := d.Members(d.msg, t, nil, func(name, v *jsonscan.Token) error {
		switch string(name.Bytes(d.msg)) {
		case "scale":
			scale = *v
		case "value":
			value = *v
		default:
			others = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if others || scale.Kind != jsonscan.Int || !value.IsString() {
		return nil, d.mismatch(n, t)
	}
	s, _ := d.scalar(&value)
	return d.plain(n, t, s, scale.I)
}

// plain is the text of the decimal whose unscaled value is s in base64.
func (d *Decoder) plain(n *node, t *jsonscan.Token, s []byte, scale int64) ([]byte, error) {
	if scale < -maxScale || scale > maxScale || len(s) > maxUnscaled {
		return nil, d.outOfRange(n, t)
	}
	v, ok := bigEndian(s)
	if !ok {
		return nil, d.mismatch(n, t)
	}
	digits := new(big.Int).Abs(v).Append(nil, 10)
	buf := d.scratch
	if v.Sign() < 0 {
		buf = append(buf, '-')
	}
	switch {
	case scale <= 0:
		buf = append(buf, digits...)
		if v.Sign() != 0 {
			buf = append(buf, bytes.Repeat([]byte{'0'}, int(-scale))...)
		}
		return d.written(buf), nil
	case len(digits) <= int(scale):
		digits = append(bytes.Repeat([]byte{'0'}, int(scale)+1-len(digits)), digits...)
	}
	point := len(digits) - int(scale)
	buf = append(buf, digits[:point]...)
	buf = append(buf, '.')
	return d.written(append(buf, digits[point:]...)), nil
}

// bits is the text of a BIT(n): its value for a numeric type, else its digits.
func (d *Decoder) bits(n *node, t *jsonscan.Token) ([]byte, error) {
	s, _ := d.scalar(t)
	if len(s) > maxUnscaled {
		return nil, d.outOfRange(n, t)
	}
	b, err := base64.StdEncoding.DecodeString(string(s))
	if err != nil {
		return nil, d.mismatch(n, t)
	}
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	v := new(big.Int).SetBytes(b)
	if n.typ.IsNumeric() {
		return d.written(v.Append(d.scratch, 10)), nil
	}
	digits := v.Append(nil, 2)
	if v.Sign() == 0 {
		digits = nil
	}
	// A varying length has a maximum that says nothing of the value's.
	buf := d.scratch
	if missing := n.enc.Digits - len(digits); missing > 0 && n.enc.Digits <= maxScale {
		buf = append(buf, bytes.Repeat([]byte{'0'}, missing)...)
	}
	return d.written(append(buf, digits...)), nil
}

// written takes over buf, which is the scratch memory with a value appended, and returns the value.
func (d *Decoder) written(buf []byte) []byte {
	at := len(d.scratch)
	d.scratch = buf
	return buf[at:len(buf):len(buf)]
}

// bigEndian is a two's-complement integer in base64, the most significant byte first.
func bigEndian(s []byte) (*big.Int, bool) {
	b, err := base64.StdEncoding.DecodeString(string(s))
	if err != nil || len(b) == 0 {
		return nil, false
	}
	v := new(big.Int).SetBytes(b)
	if b[0]&0x80 != 0 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return v, true
}

// isBase64 reports whether s has the form of a value in base64.
func isBase64(s []byte) bool {
	if len(s) == 0 || len(s)%4 != 0 {
		return false
	}
	s = bytes.TrimSuffix(bytes.TrimSuffix(s, []byte{'='}), []byte{'='})
	for _, c := range s {
		if letter := c | 0x20; c-'0' > 9 && (letter < 'a' || letter > 'z') && c != '+' && c != '/' {
			return false
		}
	}
	return true
}

// isNumber reports whether s is a number in digits.
func isNumber(s []byte) bool {
	_, err := decimal.Parse(s, decimal.MaxPrecision, 0, true)
	return !errors.Is(err, decimal.ErrSyntax)
}
