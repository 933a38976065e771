package expr

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// charset is a way to write text as bytes. Both functions append, and are false for what cannot be converted.
type charset struct {
	encode func(buf, text []byte) ([]byte, bool)
	decode func(buf, bytes []byte) ([]byte, bool)
}

// charsets are those of Flink, in the order in which they are listed.
var charsets = []struct {
	name string
	charset
}{
	{"US-ASCII", singleByte(0x7F)},
	{"ISO-8859-1", singleByte(0xFF)},
	{"UTF-8", charset{sameUTF8, sameUTF8}},
	{"UTF-16BE", wide(binary.BigEndian, false)},
	{"UTF-16LE", wide(binary.LittleEndian, false)},
	{"UTF-16", wide(binary.BigEndian, true)},
}

func charsetOf(name []byte) (charset, bool) {
	for _, cs := range charsets {
		if len(name) == len(cs.name) && strings.EqualFold(string(name), cs.name) {
			return cs.charset, true
		}
	}
	return charset{}, false
}

func sameUTF8(buf, b []byte) ([]byte, bool) { return append(buf, b...), utf8.Valid(b) }

// singleByte is the characters up to limit, one byte each.
func singleByte(limit rune) charset {
	return charset{
		encode: func(buf, text []byte) ([]byte, bool) {
			for _, r := range string(text) {
				if r > limit {
					return buf, false
				}
				buf = append(buf, byte(r))
			}
			return buf, true
		},
		decode: func(buf, bytes []byte) ([]byte, bool) {
			for _, b := range bytes {
				if rune(b) > limit {
					return buf, false
				}
				buf = utf8.AppendRune(buf, rune(b))
			}
			return buf, true
		},
	}
}

// wide is UTF-16 in an order; with marks, a mark of the order is written first, and one read decides it.
func wide(order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}, marks bool) charset {
	return charset{
		encode: func(buf, text []byte) ([]byte, bool) {
			if marks {
				buf = order.AppendUint16(buf, 0xFEFF)
			}
			for _, r := range string(text) {
				if hi, lo := utf16.EncodeRune(r); hi != utf8.RuneError {
					buf = order.AppendUint16(order.AppendUint16(buf, uint16(hi)), uint16(lo))
				} else {
					buf = order.AppendUint16(buf, uint16(r))
				}
			}
			return buf, true
		},
		decode: func(buf, bytes []byte) ([]byte, bool) {
			var in binary.ByteOrder = order
			if marks && len(bytes) >= 2 {
				switch binary.BigEndian.Uint16(bytes) {
				case 0xFEFF:
					bytes = bytes[2:]
				case 0xFFFE:
					in, bytes = binary.LittleEndian, bytes[2:]
				}
			}
			for ; len(bytes) >= 2; bytes = bytes[2:] {
				r := rune(in.Uint16(bytes))
				if utf16.IsSurrogate(r) {
					if len(bytes) < 4 {
						return buf, false
					}
					if r = utf16.DecodeRune(r, rune(in.Uint16(bytes[2:]))); r == utf8.RuneError {
						return buf, false
					}
					bytes = bytes[2:]
				}
				buf = utf8.AppendRune(buf, r)
			}
			return buf, len(bytes) == 0
		},
	}
}

func charsetFunctions() []*Function {
	const known = "US-ASCII, ISO-8859-1, UTF-8, UTF-16BE, UTF-16LE, UTF-16"
	binaryString := param{"a binary string", types.Type.IsBinary, types.Type{}}
	fn := func(name, what string, s sig, f func(cs charset, buf, b []byte) ([]byte, bool), examples ...Example) *Function {
		return &Function{
			Name: name, Category: StringFns, Signature: name + "(" + what + ", charset)", Examples: examples, bind: s.bind,
			build: eval2(func(c *Ctx, a, name2 row.Datum) row.Datum {
				cs, ok := charsetOf(name2.B)
				if !ok {
					return c.fail(fmt.Errorf("%s: unknown character set %s; known are %s", name, quote(name2.B), known))
				}
				at := len(c.scratch)
				buf, ok := f(cs, c.scratch, a.B)
				if !ok {
					return c.fail(fmt.Errorf("%s: %s cannot be converted: it is not all within %s", name, shorten(a.B), name2.B))
				}
				return c.done(buf, at)
			}),
		}
	}
	encode := fn("ENCODE", "string", sig{params: []param{aString, aString}, ret: returns(types.Bytes())},
		func(cs charset, buf, b []byte) ([]byte, bool) { return cs.encode(buf, b) },
		ex("x'c3a9'", "é", "UTF-8"), ex("x'e9'", "é", "iso-8859-1"), ex("x'feffd83dde00'", "😀", "UTF-16"), ex("x'3dd800de'", "😀", "UTF-16LE"), ex("error: cannot be converted", "é", "US-ASCII"), ex("error: unknown character set 'x'", "a", "x"))
	encode.Help = "The string written in a character set, of " + known + "; an error if the set does not hold it."
	bytesOf := func(s string) Expr { return &Const{Value: row.String(s), T: types.Bytes().Required()} }
	decode := fn("DECODE", "binary", sig{params: []param{binaryString, aString}, ret: returnsString},
		func(cs charset, buf, b []byte) ([]byte, bool) { return cs.decode(buf, b) },
		ex("é", bytesOf("\xc3\xa9"), "UTF-8"), ex("é", bytesOf("\xe9"), "ISO-8859-1"), ex("😀", bytesOf("\xff\xfe\x3d\xd8\x00\xde"), "UTF-16"), ex("error: cannot be converted", bytesOf("\xd8\x3d"), "UTF-16BE"), ex("error: cannot be converted", bytesOf("\xff"), "UTF-8"))
	decode.Help = "The text that the bytes are in a character set, of " + known + "; an error if they are none."
	one := []param{binaryString}
	return []*Function{
		encode, decode,
		{
			Name: "IS_VALID_UTF8", Category: StringFns, Signature: "IS_VALID_UTF8(binary)", Help: "TRUE if the bytes are UTF-8.",
			Examples: []Example{ex("TRUE", bytesOf("\xc3\xa9")), ex("FALSE", bytesOf("\x80")), ex("FALSE", bytesOf("\xed\xa0\x80"))},
			bind:     sig{params: one, ret: returnsBool}.bind, ints: intOfBytes(func(b []byte) int64 { return boolInt(utf8.Valid(b)) }),
		},
		{
			Name: "MAKE_VALID_UTF8", Category: StringFns, Signature: "MAKE_VALID_UTF8(binary)", Help: "The bytes as text, with U+FFFD for each of those that are no UTF-8.",
			Examples: []Example{ex("Hi", bytesOf("Hi")), ex("a\ufffdb", bytesOf("a\x80b"))},
			bind:     sig{params: one, ret: returnsString}.bind, bytes: bytesOfBytes(makeValidUTF8),
		},
	}
}

func makeValidUTF8(c *Ctx, b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	buf, at := c.scratch, len(c.scratch)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		buf, b = utf8.AppendRune(buf, r), b[n:]
	}
	return c.keep(buf, at)
}
