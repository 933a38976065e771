package expr

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// characterFunctions look at the characters of strings one by one, or choose among strings.
func characterFunctions() []*Function {
	test := func(name, what string, f func(b []byte) bool, examples ...Example) *Function {
		return &Function{
			Name: name, Category: StringFns, Signature: name + "(string)", Help: what + " FALSE for NULL.", Examples: examples,
			bind:  required(sig{params: []param{aString}, ret: returnsBool}),
			build: evalTest(func(d row.Datum) bool { return !d.Null && f(d.B) }),
		}
	}
	return []*Function{
		{
			Name: "TRANSLATE", Category: StringFns, Signature: "TRANSLATE(string, from, to)",
			Help:     "Each character that stands in from replaced by the one at that position in to, or taken out if to is shorter.",
			Examples: []Example{ex("bXY", "abcd", "cda", "XY"), ex("1é3", "a😀c", "a😀c", "1é3"), ex("a", "a", "", "x")},
			bind:     sig{params: []param{aString, aString, aString}, ret: returnsString}.bind, build: evalN(translate),
		},
		{
			Name: "ELT", Category: StringFns, Signature: "ELT(index, value1, value2, …)",
			Help:     "The character or binary string at the index, from 1; NULL if there is none.",
			Examples: []Example{ex("b", 2, "a", "b"), ex("NULL", 3, "a", "b"), ex("NULL", 0, "a"), ex("a", 1, "a", nil)},
			bind:     bindElt, build: buildElt,
		},
		test("IS_ALPHA", "TRUE if the string has characters, all of them letters;", func(b []byte) bool { return all(b, unicode.IsLetter) },
			ex("TRUE", "aÉж"), ex("FALSE", "a1"), ex("FALSE", ""), ex("FALSE", nil)),
		test("IS_DIGIT", "TRUE if the string has characters, all of them digits;", func(b []byte) bool { return all(b, unicode.IsDigit) },
			ex("TRUE", "0129"), ex("FALSE", "-1"), ex("FALSE", ""), ex("FALSE", nil)),
		test("IS_DECIMAL", "TRUE if the string writes a number;", isDecimal,
			ex("TRUE", "-1.50"), ex("TRUE", "1e10"), ex("FALSE", "1.2.3"), ex("FALSE", "x"), ex("FALSE", ""), ex("FALSE", nil)),
	}
}

func all(b []byte, f func(r rune) bool) bool {
	return len(b) > 0 && bytes.IndexFunc(b, func(r rune) bool { return !f(r) }) < 0
}

// isDecimal reports whether b is [+-] digits [. digits] [e [+-] digits], with digits on one side of the point.
func isDecimal(b []byte) bool {
	sign := func() {
		if len(b) > 0 && (b[0] == '+' || b[0] == '-') {
			b = b[1:]
		}
	}
	digits := func() int {
		n := 0
		for n < len(b) && b[n] >= '0' && b[n] <= '9' {
			n++
		}
		b = b[n:]
		return n
	}
	sign()
	n := digits()
	if len(b) > 0 && b[0] == '.' {
		b = b[1:]
		n += digits()
	}
	if n > 0 && len(b) > 0 && b[0]|0x20 == 'e' {
		b = b[1:]
		sign()
		n = digits()
	}
	return n > 0 && len(b) == 0
}

func translate(c *Ctx, args []row.Datum) row.Datum {
	from, to := args[1].B, args[2].B
	buf, at := c.scratch, len(c.scratch)
	for s := args[0].B; len(s) > 0; {
		n := skip(s, 1)
		i := bytes.Index(from, s[:n])
		if i < 0 {
			buf = append(buf, s[:n]...)
		} else {
			rest := to[skip(to, int64(utf8.RuneCount(from[:i]))):]
			buf = append(buf, rest[:skip(rest, 1)]...)
		}
		s = s[n:]
	}
	return c.done(buf, at)
}

func bindElt(args []Expr) ([]Expr, types.Type, error) {
	args, err := sig{params: []param{anInt, aText}, min: 2, rest: true, ret: returnsArg(1)}.checkOpen(args)
	if err != nil {
		return nil, types.Type{}, err
	}
	t, err := commonOf(args, 1)
	if err != nil {
		return nil, t, err
	}
	return coerceAll(args, 1, t), t.Nullable(), nil
}

func buildElt(_ *Call, args []Fn) (Fn, error) {
	return func(c *Ctx, r row.Row) row.Datum {
		i := args[0](c, r)
		if i.Null || i.I < 1 || i.I >= int64(len(args)) {
			return row.NullDatum
		}
		return args[i.I](c, r)
	}, nil
}
