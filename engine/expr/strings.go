package expr

import (
	"bytes"
	"fmt"
	"math"
	"unicode"
	"unicode/utf8"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// Positions and lengths count characters (code points), from 1.

func stringFunctions() []*Function {
	str := func(name, signature, help string, s sig, b builder, examples ...Example) *Function {
		return &Function{Name: name, Category: StringFns, Signature: signature, Help: help, Examples: examples, bind: s.bind, build: b}
	}
	s1 := sig{params: []param{aString}, ret: returnsString}
	mapped := func(name, signature, help string, f func(c *Ctx, b []byte) []byte, examples ...Example) *Function {
		fn := str(name, signature, help, s1, nil, examples...)
		fn.bytes = bytesOfBytes(f)
		return fn
	}
	sliced := func(fn *Function, b func(*Call) (bytesFn, error)) *Function { fn.bytes = b; return fn }
	counted := func(fn *Function, ints func(*Call) (intFn, error)) *Function { fn.ints = ints; return fn }
	named := func(f *Function, aliases ...string) *Function { f.Aliases = aliases; return f }
	shown := func(f *Function, show func(c *Call) string) *Function { f.show = show; return f }
	position := sig{params: []param{aString, aString}, ret: returnsInt}
	return []*Function{
		{
			Name: "||", Category: StringFns, Signature: "string1 || string2", Help: "The strings, one after the other; NULL if one is NULL.",
			Examples: []Example{ex("ab", "a", "b"), ex("NULL", "a", nil)}, bind: bindConcat, bytes: buildConcat, show: showInfix,
		},
		{
			Name: "CONCAT", Category: StringFns, Signature: "CONCAT(string1, string2, …)", Help: "The strings, one after the other; NULL if one is NULL.",
			Examples: []Example{ex("AABBCC", "AA", "BB", "CC"), ex("NULL", "a", nil)},
			bind:     sig{params: []param{aString}, rest: true, ret: returnsString}.bind, bytes: buildConcat,
		},
		{
			Name: "CONCAT_WS", Category: StringFns, Signature: "CONCAT_WS(separator, string1, string2, …)",
			Help:     "The strings that are not NULL, with a separator between them; NULL if the separator is NULL.",
			Examples: []Example{ex("AA~BB~~CC", "~", "AA", nil, "BB", "", "CC"), ex("", ",", nil), ex("NULL", nil, "a")},
			bind:     bindConcatWS, build: evalNullN(concatWS),
		},
		mapped("UPPER", "UPPER(string)", "In upper case.", upper, ex("ÄSS1", "äß1"), ex("ЕГОР", "Егор")),
		mapped("LOWER", "LOWER(string)", "In lower case.", lower, ex("äbc", "ÄBC"), ex("ὀδυσσεύς", "ὈΔΥΣΣΕΎΣ")),
		mapped("INITCAP", "INITCAP(string)", "Each word's first letter in upper case, the others in lower case; words are runs of letters and digits.",
			initcap, ex("Hello Wide-World", "hELLO wide-WORLD")),
		named(counted(str("CHAR_LENGTH", "CHAR_LENGTH(string)", "The number of characters.", sig{params: []param{aString}, ret: returnsInt}, nil, ex("5", "Привт"), ex("1", "😀")),
			intOfBytes(func(b []byte) int64 { return int64(runeCount(b)) })), "CHARACTER_LENGTH"),
		mapped("REVERSE", "REVERSE(string)", "The characters in reverse order.", reverse, ex("cba", "abc"), ex("б😀", "😀б")),
		named(sliced(str("SUBSTRING", "SUBSTRING(string FROM start [FOR length])", "The part from a position on (negative: counted from the end), at most so many characters.",
			sig{params: []param{aString, anInt, anInt}, min: 2, ret: returnsString, mayNull: true}, nil,
			ex("bc", "abcd", 2, 2), ex("cd", "abcd", -2), ex("", "abcd", 9), ex("ab", "abcd", 0, 2), ex("NULL", "abcd", 1, -1)), buildSubstring), "SUBSTR"),
		str("LEFT", "LEFT(string, integer)", "The first characters.", sig{params: []param{aString, anInt}, ret: returnsString}, eval2(left), ex("Пр", "Привет", 2), ex("", "a", -1)),
		str("RIGHT", "RIGHT(string, integer)", "The last characters.", sig{params: []param{aString, anInt}, ret: returnsString}, eval2(right), ex("ет", "Привет", 2), ex("a", "a", 5)),
		shown(counted(str("POSITION", "POSITION(string1 IN string2)", "Where string1 first occurs in string2, from 1; 0 if nowhere.", position, nil, ex("3", "и", "Привет"), ex("0", "x", "abc"), ex("1", "", "abc")),
			intOfBytes2(func(a, b []byte) int64 { return indexFrom(b, a, 1) })), func(c *Call) string {
			return "POSITION(" + operand(c.Args[0]) + " IN " + c.Args[1].String() + ")"
		}),
		counted(str("INSTR", "INSTR(string1, string2)", "Where string2 first occurs in string1, from 1; 0 if nowhere.", position, nil, ex("2", "abc", "bc")),
			intOfBytes2(func(a, b []byte) int64 { return indexFrom(a, b, 1) })),
		str("LOCATE", "LOCATE(string1, string2 [, start])", "Where string1 first occurs in string2 from a position on, from 1; 0 if nowhere.",
			sig{params: []param{aString, aString, anInt}, min: 2, ret: returnsInt}, evalN(locate), ex("5", "a", "abcda", 2), ex("0", "a", "abcd", 2)),
		str("REPLACE", "REPLACE(string, old, new)", "Every occurrence of old replaced by new.",
			sig{params: []param{aString, aString, aString}, ret: returnsString}, evalN(replace), ex("hello rust", "hello world", "world", "rust"), ex("abc", "abc", "", "x")),
		shown(str("OVERLAY", "OVERLAY(string PLACING new FROM start [FOR length])", "A part, as long as new if no length is given, replaced by new.",
			sig{params: []param{aString, aString, anInt, anInt}, min: 3, ret: returnsString}, evalN(overlay), ex("xxxxxis", "This is", "xxxxx", 1, 5), ex("abXYe", "abcde", "XY", 3)), showOverlay),
		str("LPAD", "LPAD(string, length, pad)", "Padded on the left to a length, or cut to it; NULL if pad is empty or the length negative.",
			sig{params: []param{aString, anInt, aString}, ret: returnsString, mayNull: true}, evalN(lpad), ex("??hi", "hi", 4, "??"), ex("h", "hi", 1, "??"), ex("NULL", "hi", 4, "")),
		str("RPAD", "RPAD(string, length, pad)", "Padded on the right to a length, or cut to it; NULL if pad is empty or the length negative.",
			sig{params: []param{aString, anInt, aString}, ret: returnsString, mayNull: true}, evalN(rpad), ex("hixyx", "hi", 5, "xy")),
		str("REPEAT", "REPEAT(string, integer)", "The string so many times.", sig{params: []param{aString, anInt}, ret: returnsString}, eval2(repeat), ex("ababab", "ab", 3), ex("", "ab", -1)),
		str("SPLIT_INDEX", "SPLIT_INDEX(string, delimiter, index)", "The part at an index, from 0, of the string split by the delimiter; NULL if there is none.",
			sig{params: []param{aString, {"a character string or a code point", func(t types.Type) bool { return t.IsString() || t.IsInteger() }, types.Type{}}, anInt}, ret: returnsString, mayNull: true},
			buildSplitIndex, ex("b", "a,b,c", ",", 1), ex("", "a,,c", ",", 1), ex("NULL", "a,b", ",", 2), ex("b", "a;b", 59, 1)),
		str("ASCII", "ASCII(string)", "The first byte of the string; 0 if it is empty.", sig{params: []param{aString}, ret: returnsInt}, eval1(ascii), ex("97", "abc"), ex("0", "")),
		str("CHR", "CHR(integer)", "The character of the integer's lowest 8 bits; empty for a negative one.", sig{params: []param{anInt}, ret: returnsString}, eval1(chr), ex("a", 97), ex("a", 353)),
		{
			Name: "TRIM", Category: StringFns, Signature: "TRIM([BOTH | LEADING | TRAILING] [characters FROM] string)",
			Help:     "Without the characters (blanks if none are given) at its ends.",
			Examples: []Example{ex("a b", " a b "), ex("abxx", "LEADING", "x", "xxabxx"), ex("xxab", "TRAILING", "x", "xxabxx"), ex("ab", "BOTH", "xy", "xyabyx")},
			bind:     bindTrim, bytes: buildTrim, show: showTrim,
		},
		sliced(str("LTRIM", "LTRIM(string [, characters])", "Without the characters (blanks) at its beginning.", sig{params: []param{aString, aString}, min: 1, ret: returnsString}, nil, ex("a ", " a "), ex("ab", "xxab", "x")), trimEnds(true, false)),
		sliced(str("RTRIM", "RTRIM(string [, characters])", "Without the characters (blanks) at its end.", sig{params: []param{aString, aString}, min: 1, ret: returnsString}, nil, ex(" a", " a ")), trimEnds(false, true)),
		sliced(str("BTRIM", "BTRIM(string [, characters])", "Without the characters (blanks) at both ends.", sig{params: []param{aString, aString}, min: 1, ret: returnsString}, nil, ex("a", " a "), ex("ab", "éabé", "é")), trimEnds(true, true)),
		counted(str("STARTSWITH", "STARTSWITH(string, start)", "TRUE if the string begins with start; of character or binary strings.", sig{params: []param{aText, aText}, ret: returnsBool}, nil, ex("TRUE", "abc", "ab"), ex("TRUE", "abc", "")),
			intOfBytes2(func(a, b []byte) int64 { return boolInt(bytes.HasPrefix(a, b)) })),
		counted(str("ENDSWITH", "ENDSWITH(string, end)", "TRUE if the string ends with end; of character or binary strings.", sig{params: []param{aText, aText}, ret: returnsBool}, nil, ex("TRUE", "abc", "bc")),
			intOfBytes2(func(a, b []byte) int64 { return boolInt(bytes.HasSuffix(a, b)) })),
		{
			Name: "UUID", Category: StringFns, Signature: "UUID()", Help: "A random UUID.", Volatile: true, random: true,
			bind: noArgs(types.Type{Kind: types.Char, Precision: 36}), build: eval0(uuid),
		},
	}
}

func runeCount(b []byte) int { return utf8.RuneCount(b) }

// bindConcat types ||: CHAR(m) || CHAR(n) is CHAR(m+n), else the varying type of the summed length.
func bindConcat(args []Expr) ([]Expr, types.Type, error) {
	args, t, err := sig{params: []param{aText, aText}, ret: returnsArg(0)}.bind(args)
	if err != nil {
		return nil, t, err
	}
	b := args[1].Type()
	if t.IsString() != b.IsString() {
		return nil, t, argErrorf(1, "cannot join %s and %s; write a CAST", t.Nullable(), b.Nullable())
	}
	if t.Kind != b.Kind || t.Kind == types.Varchar || t.Kind == types.Varbinary {
		if t.Kind = types.Varchar; b.IsBinary() {
			t.Kind = types.Varbinary
		}
	}
	t.Precision = min(t.Precision+b.Precision, types.MaxLength)
	return args, t, nil
}

// buildConcat gathers the parts at the end of the scratch memory. Parts that are computed there themselves
// come first: an argument may use the scratch memory while it runs.
func buildConcat(call *Call) (bytesFn, error) {
	args := make([]bytesFn, len(call.Args))
	for i, a := range call.Args {
		var err error
		if args[i], err = compileBytes(a); err != nil {
			return nil, err
		}
	}
	return func(c *Ctx, r row.Row) ([]byte, bool) {
		base := len(c.parts)
		for _, a := range args {
			b, null := a(c, r)
			if null {
				c.parts = c.parts[:base]
				return nil, true
			}
			c.parts = append(c.parts, b)
		}
		buf, at := c.scratch, len(c.scratch)
		for _, b := range c.parts[base:] {
			buf = append(buf, b...)
		}
		c.parts = c.parts[:base]
		return c.keep(buf, at), false
	}, nil
}

// bindConcatWS: only the separator makes the result NULL.
func bindConcatWS(args []Expr) ([]Expr, types.Type, error) {
	args, t, err := sig{params: []param{aString}, rest: true, min: 2, ret: returnsString}.bind(args)
	if err == nil {
		t.NotNull = args[0].Type().NotNull
	}
	return args, t, err
}

func concatWS(c *Ctx, args []row.Datum) row.Datum {
	if args[0].Null {
		return row.NullDatum
	}
	buf, at := c.scratch, len(c.scratch)
	first := true
	for _, a := range args[1:] {
		if a.Null {
			continue
		}
		if !first {
			buf = append(buf, args[0].B...)
		}
		buf, first = append(buf, a.B...), false
	}
	return c.done(buf, at)
}

func reverse(c *Ctx, b []byte) []byte {
	buf, at := c.scratch, len(c.scratch)
	for len(b) > 0 {
		_, n := utf8.DecodeLastRune(b)
		buf = append(buf, b[len(b)-n:]...)
		b = b[:len(b)-n]
	}
	return c.keep(buf, at)
}

// skip is the byte offset of character n, or len(b).
func skip(b []byte, n int64) int {
	at := 0
	for ; n > 0 && at < len(b); n-- {
		if b[at] < utf8.RuneSelf {
			at++
			continue
		}
		_, w := utf8.DecodeRune(b[at:])
		at += w
	}
	return at
}

func buildSubstring(call *Call) (bytesFn, error) {
	s, err := compileBytes(call.Args[0])
	if err != nil {
		return nil, err
	}
	start, err := compileInt(call.Args[1])
	if err != nil {
		return nil, err
	}
	length := intFn(func(*Ctx, row.Row) (int64, bool) { return math.MaxInt64, false })
	if len(call.Args) == 3 {
		length, err = compileInt(call.Args[2])
	}
	return func(c *Ctx, r row.Row) ([]byte, bool) {
		b, null := s(c, r)
		if null {
			return nil, true
		}
		at, null := start(c, r)
		if null {
			return nil, true
		}
		n, null := length(c, r)
		if null || n < 0 {
			return nil, true
		}
		return substring(b, at, n), false
	}, err
}

func substring(b []byte, at, n int64) []byte {
	if at > 0 {
		b = b[skip(b, at-1):]
	} else if at < 0 {
		from := int64(runeCount(b)) + at
		if from < 0 {
			return b[:0]
		}
		b = b[skip(b, from):]
	}
	return b[:skip(b, n)]
}

func left(_ *Ctx, a, n row.Datum) row.Datum { return row.Datum{B: a.B[:skip(a.B, n.I)]} }

func right(_ *Ctx, a, n row.Datum) row.Datum {
	if n.I <= 0 {
		return row.Datum{B: a.B[:0]}
	}
	return row.Datum{B: a.B[skip(a.B, int64(runeCount(a.B))-n.I):]}
}

// indexFrom is the position of sub in b, searched from a position on; 0 if there is none.
func indexFrom(b, sub []byte, from int64) int64 {
	if from < 1 {
		return 0
	}
	at := skip(b, from-1)
	i := bytes.Index(b[at:], sub)
	if i < 0 {
		return 0
	}
	return int64(runeCount(b[:at+i])) + 1
}

func locate(_ *Ctx, args []row.Datum) row.Datum {
	from := int64(1)
	if len(args) == 3 {
		from = args[2].I
	}
	return row.Int(indexFrom(args[1].B, args[0].B, from))
}

func replace(c *Ctx, args []row.Datum) row.Datum {
	b, from, to := args[0].B, args[1].B, args[2].B
	if len(from) == 0 {
		return args[0]
	}
	buf, at := c.scratch, len(c.scratch)
	for {
		i := bytes.Index(b, from)
		if i < 0 {
			return c.done(append(buf, b...), at)
		}
		buf = append(append(buf, b[:i]...), to...)
		b = b[i+len(from):]
	}
}

func overlay(c *Ctx, args []row.Datum) row.Datum {
	b, with, from := args[0].B, args[1].B, args[2].I
	n := int64(runeCount(with))
	if len(args) == 4 {
		n = args[3].I
	}
	if from < 1 || from > int64(runeCount(b)) {
		return args[0]
	}
	start := skip(b, from-1)
	rest := b[start:]
	if n >= 0 {
		rest = rest[skip(rest, n):]
	} else {
		rest = nil // as in Flink, a negative length reaches to the end
	}
	at := len(c.scratch)
	buf := append(append(c.scratch, b[:start]...), with...)
	return c.done(append(buf, rest...), at)
}

func showOverlay(c *Call) string {
	s := "OVERLAY(" + c.Args[0].String() + " PLACING " + c.Args[1].String() + " FROM " + c.Args[2].String()
	if len(c.Args) == 4 {
		s += " FOR " + c.Args[3].String()
	}
	return s + ")"
}

// maxString bounds what REPEAT and the padding functions make of a row.
const maxString = 64 << 20

func tooLong(c *Ctx, name string, n int64) row.Datum {
	return c.fail(fmt.Errorf("%s: a string of %d characters is too long", name, n))
}

// padding appends n characters of pad, over and over.
func padding(buf, pad []byte, n int64) []byte {
	chars := int64(runeCount(pad))
	for ; n >= chars; n -= chars {
		buf = append(buf, pad...)
	}
	return append(buf, pad[:skip(pad, n)]...)
}

func lpad(c *Ctx, args []row.Datum) row.Datum {
	b, n, pad := args[0].B, args[1].I, args[2].B
	missing := n - int64(runeCount(b))
	switch {
	case n < 0 || len(pad) == 0:
		return row.NullDatum
	case missing <= 0:
		return row.Datum{B: b[:skip(b, n)]}
	case n > maxString:
		return tooLong(c, "LPAD", n)
	}
	at := len(c.scratch)
	return c.done(append(padding(c.scratch, pad, missing), b...), at)
}

func rpad(c *Ctx, args []row.Datum) row.Datum {
	b, n, pad := args[0].B, args[1].I, args[2].B
	missing := n - int64(runeCount(b))
	switch {
	case n < 0 || len(pad) == 0:
		return row.NullDatum
	case missing <= 0:
		return row.Datum{B: b[:skip(b, n)]}
	case n > maxString:
		return tooLong(c, "RPAD", n)
	}
	at := len(c.scratch)
	return c.done(padding(append(c.scratch, b...), pad, missing), at)
}

func repeat(c *Ctx, a, n row.Datum) row.Datum {
	if n.I <= 0 || len(a.B) == 0 {
		return row.Datum{B: a.B[:0]}
	}
	if n.I > maxString/int64(len(a.B)) {
		return c.fail(fmt.Errorf("REPEAT: %d times a string of %d bytes is too long", n.I, len(a.B)))
	}
	buf, at := c.scratch, len(c.scratch)
	for range n.I {
		buf = append(buf, a.B...)
	}
	return c.done(buf, at)
}

func buildSplitIndex(call *Call, args []Fn) (Fn, error) {
	code := call.Args[1].Type().IsInteger()
	return evalNOf(args, func(_ *Ctx, args []row.Datum) row.Datum {
		b, n := args[0].B, args[2].I
		var one [utf8.UTFMax]byte
		delimiter := args[1].B
		if code {
			if args[1].I < 0 || args[1].I > unicode.MaxRune {
				return row.NullDatum
			}
			delimiter = one[:utf8.EncodeRune(one[:], rune(args[1].I))]
		}
		if n < 0 || len(b) == 0 || len(delimiter) == 0 {
			return row.NullDatum
		}
		for {
			i := bytes.Index(b, delimiter)
			switch {
			case n == 0 && i < 0:
				return row.Datum{B: b}
			case n == 0:
				return row.Datum{B: b[:i]}
			case i < 0:
				return row.NullDatum
			}
			b = b[i+len(delimiter):]
			n--
		}
	}), nil
}

// evalNOf is evalN inside of a builder.
func evalNOf(args []Fn, f func(c *Ctx, args []row.Datum) row.Datum) Fn {
	fn, _ := evalN(f)(nil, args) // never fails
	return fn
}

func ascii(_ *Ctx, a row.Datum) row.Datum {
	if len(a.B) == 0 {
		return row.Int(0)
	}
	return row.Int(int64(a.B[0]))
}

func chr(c *Ctx, a row.Datum) row.Datum {
	at := len(c.scratch)
	if a.I < 0 {
		return c.done(c.scratch, at)
	}
	return c.done(utf8.AppendRune(c.scratch, rune(a.I&0xFF)), at)
}

func showTrim(c *Call) string {
	mode, ok := constString(c.Args[0])
	if !ok {
		mode = "BOTH"
	}
	return "TRIM(" + mode + " " + c.Args[1].String() + " FROM " + c.Args[2].String() + ")"
}

// bindTrim takes TRIM(string) or TRIM(mode, characters, string).
func bindTrim(args []Expr) ([]Expr, types.Type, error) {
	if len(args) == 1 {
		args = []Expr{StringConst("BOTH"), StringConst(" "), args[0]}
	}
	args, t, err := sig{params: []param{aString, aString, aString}, ret: returnsString}.bind(args)
	if err != nil {
		return nil, t, err
	}
	if mode, _ := constString(args[0]); mode != "BOTH" && mode != "LEADING" && mode != "TRAILING" {
		return nil, t, argErrorf(0, "the mode must be BOTH, LEADING or TRAILING, not %s", args[0])
	}
	return args, t, nil
}

func buildTrim(call *Call) (bytesFn, error) {
	mode, _ := constString(call.Args[0])
	return trimmed(call.Args[2], call.Args[1], mode != "TRAILING", mode != "LEADING")
}

// trimEnds builds LTRIM, RTRIM and BTRIM.
func trimEnds(start, end bool) func(*Call) (bytesFn, error) {
	return func(call *Call) (bytesFn, error) {
		chars := Expr(StringConst(" "))
		if len(call.Args) == 2 {
			chars = call.Args[1]
		}
		return trimmed(call.Args[0], chars, start, end)
	}
}

func trimmed(s, chars Expr, start, end bool) (bytesFn, error) {
	x, err := compileBytes(s)
	if err != nil {
		return nil, err
	}
	y, err := compileBytes(chars)
	return func(c *Ctx, r row.Row) ([]byte, bool) {
		b, null := x(c, r)
		if null {
			return nil, true
		}
		set, null := y(c, r)
		if null {
			return nil, true
		}
		return trim(b, set, start, end), false
	}, err
}

func trim(b, chars []byte, start, end bool) []byte {
	if len(chars) == 1 {
		for start && len(b) > 0 && b[0] == chars[0] {
			b = b[1:]
		}
		for end && len(b) > 0 && b[len(b)-1] == chars[0] {
			b = b[:len(b)-1]
		}
		return b
	}
	for start && len(b) > 0 {
		_, n := utf8.DecodeRune(b)
		if !bytes.Contains(chars, b[:n]) {
			break
		}
		b = b[n:]
	}
	for end && len(b) > 0 {
		_, n := utf8.DecodeLastRune(b)
		if !bytes.Contains(chars, b[len(b)-n:]) {
			break
		}
		b = b[:len(b)-n]
	}
	return b
}
