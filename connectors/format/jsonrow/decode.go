package jsonrow

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/goccy/go-json"

	"github.com/sluicesql/sluice/connectors/format/jsonscan"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/decimal"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/fault"
)

// Decoder reads values of messages. One goroutine uses it.
type Decoder struct {
	Rules
	jsonscan.Scanner
	msg     []byte
	scratch []byte // bytes of values that are not bytes of the message
	stack   []row.Datum
	compact bytes.Buffer
	inner   *Decoder // of JSON within strings; nil until there is some
}

// Begin scans a message into t, and into shape when it is an object.
func (d *Decoder) Begin(msg []byte, shape *jsonscan.Shape, t *jsonscan.Token) error {
	d.msg = msg
	d.scratch = d.scratch[:0]
	if d.inner != nil {
		d.inner.scratch = d.inner.scratch[:0]
	}
	if err := d.Scan(msg, shape, t); err != nil {
		var e *jsonscan.SyntaxError
		if !errors.As(err, &e) {
			return err
		}
		return d.notJSON(msg, e)
	}
	return nil
}

// Row sets b's columns from the object that was scanned last with f's shape. A column whose member is null
// or missing is left NULL. Errors name the field relative to the object.
func (d *Decoder) Row(f *Fields, b *row.Builder) error {
	toks := f.shape.Tokens()
	for i := range f.nodes {
		n, t := &f.nodes[i], &toks[i]
		switch {
		case n.quick == quickInt && t.Kind == jsonscan.Int && t.I >= n.lo && t.I <= n.hi:
			b.Int64(n.out, t.I)
		case n.quick == quickString && t.Kind == jsonscan.String && !resemblesPlaceholder(d.msg[t.Start:t.End]):
			b.Bytes(n.out, d.msg[t.Start:t.End])
		default:
			v, err := d.Value(f, i)
			if err != nil {
				return err
			}
			b.Datum(n.out, n.phys, v)
		}
	}
	return nil
}

// Value is field i of the object that was scanned last with f's shape. Its bytes point into the message or
// the decoder's memory, and are valid until the next message.
func (d *Decoder) Value(f *Fields, i int) (row.Datum, error) {
	v, err := d.value(&f.nodes[i], f.shape.Token(i))
	if err != nil {
		return v, within(err, f.nodes[i].name)
	}
	return v, nil
}

// Set sets b's column out to the value of a token of the message scanned last.
func (d *Decoder) Set(v *Value, t *jsonscan.Token, b *row.Builder, out int) error {
	x, err := d.value(&v.node, t)
	if err != nil {
		return err
	}
	b.Datum(out, v.phys, x)
	return nil
}

func (d *Decoder) value(n *node, t *jsonscan.Token) (row.Datum, error) {
	if t.IsNull() {
		switch {
		case t.Kind == jsonscan.Absent && d.FailOnMissing:
			return row.NullDatum, &spi.DecodeError{Offset: -1, Code: fault.MessageMissing, Msg: "the field is missing",
				Fix: fmt.Sprintf("set '%s.fail-on-missing-field' = 'false' to read it as NULL", d.Format)}
		case n.typ.NotNull:
			return row.NullDatum, d.notNull(n, t)
		}
		return row.NullDatum, nil
	}
	if d.Debezium && d.isPlaceholder(t) {
		if n.part {
			return row.UnavailableDatum, nil
		}
		return row.NullDatum, &spi.DecodeError{Offset: t.Offset(), Code: fault.MessageUnavailable,
			Msg: "the value did not change and was not sent (" + Placeholder + ")", Fix: d.Unavailable}
	}
	if t.Kind == jsonscan.Object && d.Extended {
		if v, is, err := d.extended(n, t); is {
			return v, err
		}
	}
	switch n.typ.Kind {
	case types.TinyInt, types.SmallInt, types.Int, types.BigInt:
		return d.integer(n, t)
	case types.Char, types.Varchar:
		return d.text(n, t)
	case types.Boolean:
		return d.boolean(n, t)
	case types.Float, types.Double:
		return d.float(n, t)
	case types.Decimal:
		return d.decimal(n, t)
	case types.Binary, types.Varbinary:
		return d.binary(n, t)
	case types.Array:
		return d.array(n, t)
	case types.Map:
		return d.mapping(n, t)
	case types.Row:
		return d.nested(n, t)
	case types.IntervalYM, types.IntervalDT:
		return d.interval(n, t)
	default:
		return d.temporal(n, t)
	}
}

// scalar is the text of a number or string.
func (d *Decoder) scalar(t *jsonscan.Token) ([]byte, bool) {
	switch t.Kind {
	case jsonscan.String, jsonscan.Int, jsonscan.Number:
		return t.Bytes(d.msg), true
	case jsonscan.Escaped:
		at := len(d.scratch)
		d.scratch = jsonscan.AppendUnescaped(d.scratch, t.Bytes(d.msg))
		return d.scratch[at:len(d.scratch):len(d.scratch)], true
	default:
		return nil, false
	}
}

// integer takes a number or a string whose value is an integer, however it is written: 12, 12.0, 1.2e1.
func (d *Decoder) integer(n *node, t *jsonscan.Token) (row.Datum, error) {
	v := t.I
	if t.Kind != jsonscan.Int {
		s, err := d.number(n, t)
		if err != nil {
			return row.NullDatum, err
		}
		wide, err := decimal.Parse(bytes.TrimSpace(s), 38, 0, false)
		if errors.Is(err, decimal.ErrSyntax) || errors.Is(err, decimal.ErrInexact) {
			return row.NullDatum, d.mismatch(n, t)
		}
		var ok bool
		if v, ok = wide.Int64(); !ok || err != nil {
			return row.NullDatum, d.outOfRange(n, t)
		}
	}
	if v < n.lo || v > n.hi {
		return row.NullDatum, d.outOfRange(n, t)
	}
	return row.Int(v), nil
}

// text takes a string's value, and the text of everything else, that of objects and arrays without blanks;
// of a value whose encoding is known for a number's the number.
func (d *Decoder) text(n *node, t *jsonscan.Token) (row.Datum, error) {
	switch n.enc.Kind {
	case BitsEncoding, DecimalEncoding, VariableDecimalEncoding:
		s, err := d.number(n, t)
		return row.Bytes(s), err
	}
	if s, ok := d.scalar(t); ok {
		return row.Bytes(s), nil
	}
	if d.Debezium && t.Kind == jsonscan.Object && n.enc.Kind == EncodingUnknown {
		// {scale, value} is so for a decimal alone: of all that Debezium writes as an object nothing else has
		// a number and a string in base64 of these names.
		if s, err := d.variableDecimal(n, t); err == nil {
			return row.Bytes(s), nil
		}
	}
	raw := t.Bytes(d.msg)
	if t.Kind != jsonscan.Object && t.Kind != jsonscan.Array {
		return row.Bytes(raw), nil
	}
	d.compact.Reset()
	if err := json.Compact(&d.compact, raw); err != nil {
		return row.NullDatum, fmt.Errorf("compacting valid JSON: %w", err)
	}
	at := len(d.scratch)
	d.scratch = append(d.scratch, d.compact.Bytes()...)
	return row.Bytes(d.scratch[at:len(d.scratch):len(d.scratch)]), nil
}

func (d *Decoder) boolean(n *node, t *jsonscan.Token) (row.Datum, error) {
	switch {
	case t.Kind == jsonscan.True, t.Kind == jsonscan.Int && t.I == 1:
		return row.Bool(true), nil
	case t.Kind == jsonscan.False, t.Kind == jsonscan.Int && t.I == 0:
		return row.Bool(false), nil
	case t.IsString():
		s, _ := d.scalar(t)
		s = bytes.TrimSpace(s)
		switch {
		case bytes.EqualFold(s, []byte("true")):
			return row.Bool(true), nil
		case bytes.EqualFold(s, []byte("false")):
			return row.Bool(false), nil
		}
	}
	return row.NullDatum, d.mismatch(n, t)
}

// float takes a number, or a string that holds one or NaN, Infinity, -Infinity; of Debezium's also the names
// that it gives to a numeric's.
func (d *Decoder) float(n *node, t *jsonscan.Token) (row.Datum, error) {
	s, err := d.number(n, t)
	if err != nil {
		return row.NullDatum, err
	}
	switch {
	case !d.Debezium:
	case string(s) == "POSITIVE_INFINITY":
		s = []byte("Infinity")
	case string(s) == "NEGATIVE_INFINITY":
		s = []byte("-Infinity")
	}
	v, err := text.Parse(n.typ, s, nil)
	return v, d.explain(err, n, t)
}

// binary takes a string in base64, or in the form that the rules say.
func (d *Decoder) binary(n *node, t *jsonscan.Token) (row.Datum, error) {
	if !t.IsString() {
		return row.NullDatum, d.mismatch(n, t)
	}
	mode, form := d.Binary, "base64"
	switch n.enc.Kind {
	case BytesEncoding, BitsEncoding:
		mode = Base64
	case TextEncoding:
		if mode == AnyBinary {
			e := d.mismatch(n, t)
			e.Msg += ", which may be base64 or hexadecimal digits: the message's schema says only that it is a string"
			e.Fix = d.setOption(binaryMode, binaryModes)
			return row.NullDatum, e
		}
	case EncodingUnknown:
	default:
		return row.NullDatum, d.mismatch(n, t)
	}
	s, _ := d.scalar(t)
	var buf []byte
	var err error
	switch mode {
	case Base64URL:
		form = "base64 that is safe in URLs"
		buf, err = base64.URLEncoding.AppendDecode(d.scratch, s)
	case Hex:
		form = "hexadecimal digits"
		buf, err = hex.AppendDecode(d.scratch, s)
	default:
		buf, err = base64.StdEncoding.AppendDecode(d.scratch, s)
	}
	if err != nil {
		e := d.mismatch(n, t)
		e.Msg += ", which is not " + form
		if d.Debezium && n.enc.Kind == EncodingUnknown {
			e.Fix = d.setOption(binaryMode, binaryModes)
		}
		return row.NullDatum, e
	}
	return row.Bytes(d.written(buf)), nil
}

// Reset begins a message of which Text reads parts.
func (d *Decoder) Reset() { d.scratch = d.scratch[:0] }

// Text is the value that a text is read as, like a string in JSON; null says that it stands for NULL. It is
// valid until Reset.
func (d *Decoder) Text(v *Value, s []byte, null bool) (row.Datum, error) {
	t := jsonscan.Token{Kind: jsonscan.Null}
	if !null {
		at := len(d.scratch)
		d.scratch = append(append(append(d.scratch, '"'), s...), '"') // as messages about it show it
		d.msg = d.scratch
		t = jsonscan.Token{Kind: jsonscan.String, Start: at + 1, End: at + 1 + len(s)}
	}
	return d.value(&v.node, &t)
}

// explain turns an error of package text into one with the value's place.
func (d *Decoder) explain(err error, n *node, t *jsonscan.Token) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, text.ErrRange):
		return d.outOfRange(n, t)
	default:
		return d.mismatch(n, t)
	}
}

// Resume goes back to a message whose tokens are still there, after Begin or Cold read another. Values that
// were read from the message meanwhile are kept.
func (d *Decoder) Resume(msg []byte) { d.msg = msg }

// Bytes are a token's bytes in the message scanned last.
func (d *Decoder) Bytes(t *jsonscan.Token) []byte { return t.Bytes(d.msg) }

// Raw are a token's bytes as JSON in the message scanned last.
func (d *Decoder) Raw(t *jsonscan.Token) []byte { return t.Raw(d.msg) }
