package expr

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

func patternFunctions() []*Function {
	return []*Function{
		{
			Name: "LIKE", Category: Comparison, Signature: "string LIKE pattern [ESCAPE character]",
			Help:     "TRUE if the string matches the pattern: % is any text, _ any one character.",
			Examples: []Example{ex("TRUE", "Hvastun", "%ast_n"), ex("FALSE", "abc", "b%"), ex("TRUE", "a%b", "a!%b", "!"), ex("FALSE", "axb", "a!%b", "!"), ex("TRUE", "😀", "_"), ex("NULL", "a", nil)},
			bind:     bindLike, ints: likeConst, build: buildLike, show: showLike,
		},
		{
			Name: "SIMILAR TO", Category: Comparison, Signature: "string SIMILAR TO pattern [ESCAPE character]",
			Help:     "TRUE if the string matches SQL's regular expression: % and _ as in LIKE, | ( ) * + ? {n,m} [ ].",
			Examples: []Example{ex("TRUE", "abcc", "a_c+"), ex("FALSE", "xabc", "abc"), ex("TRUE", "a.b", "a.b"), ex("FALSE", "axb", "a.b"), ex("TRUE", "foo", "(foo|bar)")},
			bind:     bindLike, build: buildSimilar, show: showLike,
		},
		{
			Name: "REGEXP", Category: Comparison, Signature: "REGEXP(string, regex)",
			Help:     "TRUE if a part of the string matches a regular expression (RE2's syntax: no backreferences, no lookaround).",
			Examples: []Example{ex("TRUE", "abc123", "[0-9]+"), ex("FALSE", "abc", "^b"), ex("error: regular expression", "a", "(?=b)")},
			bind:     sig{params: []param{aString, aString}, ret: returnsBool}.bind,
			build: buildRegexp(1, func(_ *Ctx, re *regexp.Regexp, args []row.Datum) row.Datum {
				return row.Bool(re.Match(args[0].B))
			}),
		},
	}
}

func bindLike(args []Expr) ([]Expr, types.Type, error) {
	args, t, err := sig{params: []param{aString, aString, aString}, min: 2, ret: returnsBool}.bind(args)
	if err != nil || len(args) == 2 {
		return args, t, err
	}
	if d, ok := constant(args[2]); ok && !d.Null && runeCount(d.B) != 1 {
		return nil, t, argErrorf(2, "the escape must be one character, not %s", args[2])
	}
	return args, t, nil
}

func showLike(c *Call) string {
	s := operand(c.Args[0]) + " " + c.Fn.Name + " " + operand(c.Args[1])
	if len(c.Args) == 3 {
		s += " ESCAPE " + c.Args[2].String()
	}
	return s
}

func escapeOf(args []row.Datum) (rune, error) {
	if len(args) < 3 {
		return -1, nil
	}
	r, n := utf8.DecodeRune(args[2].B)
	if n == 0 || n != len(args[2].B) {
		return 0, errors.New("the escape of LIKE and SIMILAR TO must be one character")
	}
	return r, nil
}

// constants are the arguments from index i on when all of them are constants and not NULL; else nil.
func constants(call *Call, i int) []row.Datum {
	out := make([]row.Datum, len(call.Args))
	for ; i < len(call.Args); i++ {
		if !isConst(call.Args[i]) {
			return nil
		}
		out[i] = call.Args[i].(*Const).Value
	}
	return out
}

// likeConst builds LIKE with a constant pattern.
func likeConst(call *Call) (intFn, error) {
	known := constants(call, 1)
	if known == nil {
		return nil, nil
	}
	escape, err := escapeOf(known)
	if err != nil {
		return nil, err
	}
	p, err := compileLike(known[1].B, escape)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, call)
	}
	return intOf(call.Args[0], func(b []byte) int64 { return boolInt(p.match(b)) })
}

func buildLike(_ *Call, args []Fn) (Fn, error) {
	return evalNOf(args, func(c *Ctx, args []row.Datum) row.Datum {
		escape, err := escapeOf(args)
		if err != nil {
			return c.fail(err)
		}
		p, err := c.like(args[1].B, escape)
		if err != nil {
			return c.fail(fmt.Errorf("%w: %q", err, args[1].B))
		}
		return row.Bool(p.match(args[0].B))
	}), nil
}

// like compiles a pattern that is not constant, once for each of its values.
func (c *Ctx) like(pattern []byte, escape rune) (*likePattern, error) {
	var key [256]byte
	k := append(utf8.AppendRune(key[:0], escape), pattern...)
	if p := c.likes[string(k)]; p != nil {
		return p, nil
	}
	p, err := compileLike(pattern, escape)
	if err != nil {
		return nil, err
	}
	if c.likes == nil || len(c.likes) >= maxCached {
		c.likes = map[string]*likePattern{}
	}
	c.likes[string(k)] = p
	return p, nil
}

func buildSimilar(call *Call, args []Fn) (Fn, error) {
	if known := constants(call, 1); known != nil {
		re, err := compileSimilar(known)
		if err != nil {
			return nil, err
		}
		return strict1(args[0], func(_ *Ctx, s row.Datum) row.Datum { return row.Bool(re.Match(s.B)) }), nil
	}
	return evalNOf(args, func(c *Ctx, args []row.Datum) row.Datum {
		source, err := similarSource(args)
		if err != nil {
			return c.fail(err)
		}
		re, err := c.regexp([]byte(source))
		if err != nil {
			return c.fail(err)
		}
		return row.Bool(re.Match(args[0].B))
	}), nil
}

func compileSimilar(args []row.Datum) (*regexp.Regexp, error) {
	source, err := similarSource(args)
	if err != nil {
		return nil, err
	}
	return compileRegexp(source)
}

// similarSource translates a pattern of SIMILAR TO into a regular expression over the whole string. What has
// a meaning in SQL's patterns is kept, everything else is literal, . and ^ and $ outside of brackets too.
func similarSource(args []row.Datum) (string, error) {
	escape, err := escapeOf(args)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(`(?s)\A(?:`)
	inSet := false
	pattern := string(args[1].B)
	runes := []rune(pattern)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case r == escape:
			if i++; i == len(runes) {
				return "", fmt.Errorf("SIMILAR TO: the pattern %q ends with its escape", pattern)
			}
			b.WriteString(regexp.QuoteMeta(string(runes[i])))
		case inSet && strings.HasPrefix(string(runes[i:]), "[:"):
			class, _, ok := strings.Cut(string(runes[i:]), ":]")
			name, known := similarClasses[strings.ToUpper(class)]
			if !ok || !known {
				return "", fmt.Errorf("SIMILAR TO: unknown character class in %q", pattern)
			}
			b.WriteString(name)
			i += len([]rune(class)) + 1
		case inSet:
			if inSet = r != ']'; r == '\\' || r == '[' {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		case r == '[':
			inSet = true
			b.WriteRune(r)
		case r == '%':
			b.WriteString(".*")
		case r == '_':
			b.WriteByte('.')
		case strings.ContainsRune("|()*+?{}", r):
			b.WriteRune(r)
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	b.WriteString(`)\z`)
	return b.String(), nil
}

var similarClasses = map[string]string{
	"[:ALPHA": `\pL`, "[:UPPER": `\p{Lu}`, "[:LOWER": `\p{Ll}`, "[:DIGIT": `\p{Nd}`, "[:ALNUM": `\pL\p{Nd}`,
	"[:SPACE": ` `, "[:WHITESPACE": `\s`,
}
