package expr

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

func hashFunctions() []*Function {
	digest := func(name, want string, sum func(buf, b []byte) []byte) *Function {
		return &Function{
			Name: name, Category: Hash, Signature: name + "(string)", Help: "The " + name + " digest, of a character or binary string, in hexadecimal.",
			Examples: []Example{ex(want, "abc"), ex("NULL", nil)}, bind: sig{params: []param{aText}, ret: returnsString}.bind,
			build: eval1(func(c *Ctx, a row.Datum) row.Datum {
				at := len(c.scratch)
				return c.done(sum(c.scratch, a.B), at)
			}),
		}
	}
	return []*Function{
		digest("MD5", "900150983cd24fb0d6963f7d28e17f72", func(buf, b []byte) []byte { s := md5.Sum(b); return text.AppendHex(buf, s[:]) }),
		digest("SHA1", "a9993e364706816aba3e25717850c26c9cd0d89d", func(buf, b []byte) []byte { s := sha1.Sum(b); return text.AppendHex(buf, s[:]) }),
		digest("SHA224", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7", sha2(224)),
		digest("SHA256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", sha2(256)),
		digest("SHA384", "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7", sha2(384)),
		digest("SHA512", "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f", sha2(512)),
		{
			Name: "SHA2", Category: Hash, Signature: "SHA2(string, bits)", Help: "The SHA-2 digest of 224, 256, 384 or 512 bits in hexadecimal.",
			Examples: []Example{ex("23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7", "abc", 224), ex("error: 224, 256, 384 or 512", "abc", 1)},
			bind:     sig{params: []param{aText, anInt}, ret: returnsString}.bind,
			build: eval2(func(c *Ctx, a, bits row.Datum) row.Datum {
				f := sha2(bits.I)
				if f == nil {
					return c.fail(fmt.Errorf("SHA2: %d bits; must be 224, 256, 384 or 512", bits.I))
				}
				at := len(c.scratch)
				return c.done(f(c.scratch, a.B), at)
			}),
		},
		{
			Name: "TO_BASE64", Category: StringFns, Signature: "TO_BASE64(string)", Help: "The string, character or binary, in base64.",
			Examples: []Example{ex("aGVsbG8=", "hello")}, bind: sig{params: []param{aText}, ret: returnsString}.bind,
			build: eval1(func(c *Ctx, a row.Datum) row.Datum {
				at := len(c.scratch)
				return c.done(base64.StdEncoding.AppendEncode(c.scratch, a.B), at)
			}),
		},
		{
			Name: "FROM_BASE64", Category: StringFns, Signature: "FROM_BASE64(string)", Help: "The string that is written in base64; what is no base64, or no UTF-8, is an error.",
			Examples: []Example{ex("hello", "aGVsbG8="), ex("error: base64", "?")}, bind: sig{params: []param{aString}, ret: returnsString}.bind,
			build: eval1(fromBase64),
		},
		{
			Name: "HEX", Category: StringFns, Signature: "HEX(integer), HEX(string)", Help: "An integer (two's complement), or the bytes of a string, in hexadecimal.",
			Examples: []Example{ex("14", 20), ex("68656C6C6F", "hello"), ex("FFFFFFFFFFFFFFFF", -1)},
			bind:     sig{params: []param{{"an integer or a string", func(t types.Type) bool { return t.IsInteger() || t.IsString() || t.IsBinary() }, types.Type{}}}, ret: returnsString}.bind,
			build:    buildHex,
		},
		{
			Name: "UNHEX", Category: StringFns, Signature: "UNHEX(string)", Help: "The bytes written in hexadecimal; NULL if it is none.",
			Examples: []Example{ex("x'466c696e6b'", "466C696E6B"), ex("x'04'", "4"), ex("NULL", "zz")},
			bind:     sig{params: []param{aString}, ret: returns(types.Bytes()), mayNull: true}.bind, build: eval1(unhex),
		},
	}
}

// sha2 is the digest of so many bits; nil for another number.
func sha2(bits int64) func(buf, b []byte) []byte {
	switch bits {
	case 224:
		return func(buf, b []byte) []byte { s := sha256.Sum224(b); return text.AppendHex(buf, s[:]) }
	case 256:
		return func(buf, b []byte) []byte { s := sha256.Sum256(b); return text.AppendHex(buf, s[:]) }
	case 384:
		return func(buf, b []byte) []byte { s := sha512.Sum384(b); return text.AppendHex(buf, s[:]) }
	case 512:
		return func(buf, b []byte) []byte { s := sha512.Sum512(b); return text.AppendHex(buf, s[:]) }
	}
	return nil
}

func fromBase64(c *Ctx, a row.Datum) row.Datum {
	at := len(c.scratch)
	buf, err := base64.StdEncoding.AppendDecode(c.scratch, a.B)
	if err != nil {
		return c.fail(fmt.Errorf("FROM_BASE64: %q is no base64", a.B))
	}
	if !utf8.Valid(buf[at:]) {
		return c.fail(fmt.Errorf("FROM_BASE64: %q holds bytes that are no UTF-8", a.B))
	}
	return c.done(buf, at)
}

func buildHex(call *Call, args []Fn) (Fn, error) {
	if call.Args[0].Type().IsInteger() {
		return strict1(args[0], func(c *Ctx, a row.Datum) row.Datum {
			at := len(c.scratch)
			return c.done(upperASCII(strconv.AppendUint(c.scratch, uint64(a.I), 16), at), at)
		}), nil
	}
	return strict1(args[0], func(c *Ctx, a row.Datum) row.Datum {
		at := len(c.scratch)
		return c.done(upperASCII(text.AppendHex(c.scratch, a.B), at), at)
	}), nil
}

// upperASCII makes small letters from offset at on capital ones.
func upperASCII(buf []byte, at int) []byte {
	for i := at; i < len(buf); i++ {
		if buf[i] >= 'a' && buf[i] <= 'z' {
			buf[i] -= 'a' - 'A'
		}
	}
	return buf
}

// unhex takes a missing first digit as 0, as Flink does.
func unhex(c *Ctx, a row.Datum) row.Datum {
	buf, at := c.scratch, len(c.scratch)
	high := 0
	for i, x := range a.B {
		digit := hexDigit(x)
		if digit < 0 {
			return row.NullDatum
		}
		if (len(a.B)-i)%2 == 0 {
			high = digit
			continue
		}
		buf, high = append(buf, byte(high<<4|digit)), 0
	}
	return c.done(buf, at)
}

// hexDigit is the value of a hexadecimal digit; -1 of another character.
func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
