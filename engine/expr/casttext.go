package expr

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

var errUTF8 = errors.New("the bytes are no UTF-8")

// toString writes a value in its string form. As the standard says, a string that is too long is cut and a
// CHAR padded; another value that does not fit is an error, for a cut number would be a different one.
func toString(from, to types.Type) kernel {
	switch {
	case from.IsString():
		return func(c *Ctx, d row.Datum) (row.Datum, error) { return cut(c, d, to), nil }
	case from.IsBinary():
		return func(c *Ctx, d row.Datum) (row.Datum, error) {
			if !utf8.Valid(d.B) {
				return d, errUTF8
			}
			return cut(c, d, to), nil
		}
	}
	return func(c *Ctx, d row.Datum) (row.Datum, error) {
		at := len(c.scratch)
		s := c.done(text.Append(c.scratch, from, d, c.Zone), at)
		if n := runeCount(s.B); n > to.Precision {
			return s, fmt.Errorf("its string form has %d characters", n)
		}
		return cut(c, s, to), nil
	}
}

// cut brings a string to the length of CHAR or VARCHAR.
func cut(c *Ctx, d row.Datum, to types.Type) row.Datum {
	if len(d.B) > to.Precision {
		if n := skip(d.B, int64(to.Precision)); n < len(d.B) {
			return row.Datum{B: d.B[:n]}
		}
	}
	if to.Kind != types.Char {
		return d
	}
	n := runeCount(d.B)
	if n == to.Precision {
		return d
	}
	at := len(c.scratch)
	buf := append(c.scratch, d.B...)
	for ; n < to.Precision; n++ {
		buf = append(buf, ' ')
	}
	return c.done(buf, at)
}

// binaryLength cuts to the length of BINARY and VARBINARY, and pads BINARY with zeros.
func binaryLength(to types.Type) kernel {
	return func(c *Ctx, d row.Datum) (row.Datum, error) {
		switch n := len(d.B); {
		case n > to.Precision:
			return row.Datum{B: d.B[:to.Precision]}, nil
		case n == to.Precision || to.Kind == types.Varbinary:
			return d, nil
		}
		at := len(c.scratch)
		buf := append(c.scratch, d.B...)
		for len(buf)-at < to.Precision {
			buf = append(buf, 0)
		}
		return c.done(buf, at), nil
	}
}
