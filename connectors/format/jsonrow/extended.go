package jsonrow

import (
	"bytes"
	"math"
	"time"

	"github.com/sluicesql/sluice/connectors/format/jsonscan"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

// extended takes an object that stands for a single value in MongoDB's extended JSON, and reports whether it
// does: any other object is a document. Both versions of the notation are read, the second in its canonical
// and its relaxed form. (MongoDB's documentation, "Extended JSON".) What is kept as text there, an ObjectId, a
// UUID, a number, is that text.
func (d *Decoder) extended(n *node, t *jsonscan.Token) (v row.Datum, is bool, err error) {
	word, x := d.wrapper(t)
	switch word {
	case "":
		return v, false, nil
	case "$undefined":
		x.Kind = jsonscan.Null
	case "$date":
		if ms, ok := d.millis(&x); ok {
			v, err = d.moment(n, t, ms)
			return v, true, err
		}
		return v, true, d.mismatch(n, t)
	case "$timestamp":
		if n.typ.Kind != types.Timestamp && n.typ.Kind != types.TimestampLTZ && n.typ.Kind != types.Date {
			return v, false, nil
		}
		if seconds := d.memberOf(&x, "t"); seconds.Kind == jsonscan.Int && seconds.I >= 0 && seconds.I <= math.MaxUint32 {
			v, err = d.moment(n, t, seconds.I*1000)
			return v, true, err
		}
		return v, true, d.mismatch(n, t)
	case "$binary":
		if x.Kind == jsonscan.Object {
			x = d.memberOf(&x, "base64")
		}
	}
	if x.Kind == jsonscan.Object || x.Kind == jsonscan.Array || x.Kind == jsonscan.Absent {
		return v, true, d.mismatch(n, t)
	}
	v, err = d.value(n, &x)
	return v, true, err
}

// wrapper is the name by which an object says that it is a single value, with that name's token; "" when it is
// none.
func (d *Decoder) wrapper(t *jsonscan.Token) (word string, x jsonscan.Token) {
	// Most objects are documents, whose names don't begin so.
	if name := bytes.TrimLeft(d.msg[t.Start+1:t.End], " \t\r\n"); len(name) < 2 || name[1] != '$' {
		return "", x
	}
	others := false
	_ = d.Members(d.msg, t, nil, func(name, value *jsonscan.Token) error {
		switch s := string(name.Bytes(d.msg)); s {
		case "$oid", "$symbol", "$uuid", "$undefined", "$numberInt", "$numberLong", "$numberDouble", "$numberDecimal", "$date", "$timestamp", "$binary":
			others = others || word != ""
			word, x = s, *value
		case "$type": // of a $binary of the first version
		default:
			others = true
		}
		return nil
	})
	if others {
		return "", x
	}
	return word, x
}

// memberOf is the member of the given name of an object.
func (d *Decoder) memberOf(object *jsonscan.Token, name string) (found jsonscan.Token) {
	if object.Kind != jsonscan.Object {
		return found
	}
	_ = d.Members(d.msg, object, nil, func(n, v *jsonscan.Token) error {
		if string(n.Bytes(d.msg)) == name {
			found = *v
		}
		return nil
	})
	return found
}

// millis are the milliseconds since 1970 that a $date has, as a number, as {"$numberLong": …} or as text.
func (d *Decoder) millis(x *jsonscan.Token) (int64, bool) {
	inner := *x
	if word, long := d.wrapper(x); x.Kind == jsonscan.Object && word == "$numberLong" {
		inner = long
		if s, ok := d.scalar(&inner); ok && inner.IsString() {
			v, err := text.Parse(types.Of(types.BigInt), s, nil)
			return v.I, err == nil
		}
	}
	if inner.Kind == jsonscan.Int {
		return inner.I, true
	}
	if s, ok := d.scalar(&inner); ok && inner.IsString() {
		v, err := text.ParseTimestampLTZ(s, 3, text.AnyLayout, time.UTC)
		return text.FloorDiv(v.I, 1000), err == nil
	}
	return 0, false
}

// moment is an instant of so many milliseconds since 1970: a timestamp, the day of one, its milliseconds, or
// its text in ISO 8601.
func (d *Decoder) moment(n *node, t *jsonscan.Token, ms int64) (row.Datum, error) {
	const day = nanosPerDay / 1e6
	days, below := text.FloorDiv(ms, day), text.FloorMod(ms, day)
	switch n.typ.Kind {
	case types.Timestamp, types.TimestampLTZ:
		return d.since1970(n, t, ms, 3)
	case types.BigInt:
		return row.Int(ms), nil
	case types.Date, types.Char, types.Varchar:
		if !text.DayInRange(days) {
			return row.NullDatum, d.outOfRange(n, t)
		}
		if n.typ.Kind == types.Date {
			return row.Int(days), nil
		}
		digits := 3
		if ms%1000 == 0 {
			digits = 0
		}
		return row.Bytes(d.written(append(text.AppendDateTime(d.scratch, days, below*1e6, digits, 'T'), 'Z'))), nil
	default:
		return row.NullDatum, d.mismatch(n, t)
	}
}
