package kafka

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/fault"
)

// bar is a format of columns separated by '|', in order: integers and strings, \N for NULL. As a changing
// format a message begins with one of + − and ~ (update: before, ';', after).
type bar struct {
	name     string
	changing bool
}

func (f bar) Name() string { return f.name }
func (f bar) Help() string { return "columns separated by bars" }
func (f bar) Options() []spi.Option {
	return []spi.Option{{Name: "ignore-parse-errors", Kind: spi.BoolOption}}
}
func (f bar) Metadata() []spi.Column {
	return []spi.Column{{Name: "size", Metadata: "size", Type: types.Of(types.BigInt)}}
}
func (f bar) Decodes() (spi.Mode, bool) { return f.mode(), false }
func (f bar) Encodes() spi.Mode         { return f.mode() }
func (f bar) mode() spi.Mode {
	if f.changing {
		return spi.Retract
	}
	return spi.AppendOnly
}

func (f bar) NewDecoder(s spi.DecodeSpec, _ spi.Options) (spi.Decoder, error) {
	return &barDecoder{f, s}, nil
}

func (f bar) NewEncoder(s spi.EncodeSpec, _ spi.Options) (spi.Encoder, error) {
	return &barEncoder{f, s}, nil
}

type barDecoder struct {
	bar
	spec spi.DecodeSpec
}

func (d *barDecoder) Decode(m spi.Message, out *spi.Out) error {
	if m.Value == nil {
		return nil
	}
	v, op := m.Value, changelog.Insert
	if d.changing {
		if len(v) == 0 || v[0] != '+' && v[0] != '-' {
			return &spi.DecodeError{Field: "op", Offset: 0, Code: fault.MessageOp, Msg: "unknown operation", Fix: "write + or -"}
		}
		if v[0] == '-' {
			op = changelog.Delete
		}
		v = v[1:]
	}
	parts := bytes.Split(v, []byte("|"))
	n := 0
	for i, c := range d.spec.Columns {
		if d.spec.Skip[i] || c.Metadata != "" {
			continue
		}
		if n >= len(parts) {
			return &spi.DecodeError{Offset: -1, Code: fault.MessageSyntax, Msg: fmt.Sprintf("%d columns are too few", len(parts))}
		}
		if c.Type.IsInteger() && string(parts[n]) != `\N` {
			if _, err := strconv.ParseInt(string(parts[n]), 10, 64); err != nil {
				return &spi.DecodeError{Field: c.Name, Offset: -1, Code: fault.MessageType, Msg: fmt.Sprintf("%q is no integer", parts[n]), Fix: "correct the producer"}
			}
		}
		n++
	}
	b := out.Begin()
	n = 0
	for i, c := range d.spec.Columns {
		switch {
		case d.spec.Skip[i]:
			continue
		case c.Metadata == "size":
			b.Int64(i, int64(len(m.Value)))
			continue
		case string(parts[n]) == `\N`:
		case c.Type.IsInteger():
			x, _ := strconv.ParseInt(string(parts[n]), 10, 64)
			b.Int64(i, x)
		default:
			b.Bytes(i, parts[n])
		}
		n++
	}
	out.Commit(op)
	return nil
}

type barEncoder struct {
	bar
	spec spi.EncodeSpec
}

func (e *barEncoder) Updates() bool { return e.changing }

func (e *barEncoder) Encode(buf []byte, before, after row.Row) ([]byte, error) {
	if e.changing {
		switch {
		case before == nil:
			buf = append(buf, '+')
		case after == nil:
			buf = append(buf, '-')
			after = before
		default:
			buf = e.row(append(buf, '~'), before)
			buf = append(buf, ';')
		}
	}
	return e.row(buf, after), nil
}

func (e *barEncoder) row(buf []byte, r row.Row) []byte {
	for i, c := range e.spec.Columns {
		if i > 0 {
			buf = append(buf, '|')
		}
		switch {
		case r.IsNull(i):
			buf = append(buf, `\N`...)
		case c.Type.IsInteger():
			buf = strconv.AppendInt(buf, r.Int64(i), 10)
		default:
			buf = append(buf, r.Bytes(i)...)
		}
	}
	return buf
}
