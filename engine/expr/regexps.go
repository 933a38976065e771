package expr

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// regexpFunctions are those that take expressions of RE2's syntax, beside REGEXP.
func regexpFunctions() []*Function {
	two := func(ret func([]Expr) types.Type, mayNull bool) func([]Expr) ([]Expr, types.Type, error) {
		return sig{params: []param{aString, aString}, ret: ret, mayNull: mayNull}.bind
	}
	return []*Function{
		{
			Name: "REGEXP_REPLACE", Category: StringFns, Signature: "REGEXP_REPLACE(string, regex, replacement)",
			Help:     "Every part that matches replaced; $1 in the replacement is the first group.",
			Examples: []Example{ex("fb", "foobar", "oo|ar", ""), ex("b-a", "a-b", "(a)-(b)", "$2-$1"), ex("$", "a", "a", "\\$")},
			bind:     sig{params: []param{aString, aString, aString}, ret: returnsString}.bind, build: buildRegexp(1, regexpReplace),
		},
		{
			Name: "REGEXP_EXTRACT", Category: StringFns, Signature: "REGEXP_EXTRACT(string, regex [, group])",
			Help:     "The first part that matches, or a group of it; NULL without a match or such a group.",
			Examples: []Example{ex("bar", "foothebar", "foo(.*?)(bar)", 2), ex("foothebar", "foothebar", "foo(.*?)(bar)"), ex("NULL", "a", "b"), ex("NULL", "a", "a", 1)},
			bind:     sig{params: []param{aString, aString, anInt}, min: 2, ret: returnsString, mayNull: true}.bind, build: buildRegexp(1, regexpExtract),
		},
		{
			Name: "REGEXP_EXTRACT_ALL", Category: StringFns, Signature: "REGEXP_EXTRACT_ALL(string, regex [, group])",
			Help:     "The group, the first if none is given, of every part that matches, or with 0 the parts themselves; NULL without such a group.",
			Examples: []Example{ex("[100, 300]", "100-200, 300-400", `(\d+)-(\d+)`), ex("[100-200, 300-400]", "100-200, 300-400", `(\d+)-(\d+)`, 0), ex("[]", "a", "(b)"), ex("NULL", "a", "a")},
			bind:     sig{params: []param{aString, aString, anInt}, min: 2, ret: returns(types.ArrayOf(types.String())), mayNull: true}.bind, build: buildRegexp(1, regexpExtractAll),
		},
		{
			Name: "REGEXP_COUNT", Category: StringFns, Signature: "REGEXP_COUNT(string, regex)", Help: "The number of parts that match.",
			Examples: []Example{ex("2", "foobar", "[oa]+"), ex("0", "a", "b")}, bind: two(returnsInt, false),
			build: buildRegexp(1, func(_ *Ctx, re *regexp.Regexp, args []row.Datum) row.Datum {
				return row.Int(int64(len(re.FindAllIndex(args[0].B, -1))))
			}),
		},
		{
			Name: "REGEXP_INSTR", Category: StringFns, Signature: "REGEXP_INSTR(string, regex)", Help: "Where the first part that matches begins, from 1; 0 without a match.",
			Examples: []Example{ex("4", "abc123", "[0-9]+"), ex("3", "😀éb", "b"), ex("0", "a", "b")}, bind: two(returnsInt, false),
			build: buildRegexp(1, func(_ *Ctx, re *regexp.Regexp, args []row.Datum) row.Datum {
				m := re.FindIndex(args[0].B)
				if m == nil {
					return row.Int(0)
				}
				return row.Int(int64(runeCount(args[0].B[:m[0]])) + 1)
			}),
		},
		{
			Name: "REGEXP_SUBSTR", Category: StringFns, Signature: "REGEXP_SUBSTR(string, regex)", Help: "The first part that matches; NULL without a match.",
			Examples: []Example{ex("123", "abc123def456", "[0-9]+"), ex("NULL", "a", "b")}, bind: two(returnsString, true),
			build: buildRegexp(1, regexpExtract),
		},
	}
}

func regexpExtractAll(c *Ctx, re *regexp.Regexp, args []row.Datum) row.Datum {
	g := int64(1)
	if len(args) == 3 {
		g = args[2].I
	}
	if g < 0 || g > int64(re.NumSubexp()) {
		return row.NullDatum
	}
	base := len(c.args)
	defer func() { c.args = c.args[:base] }()
	for _, m := range re.FindAllSubmatchIndex(args[0].B, -1) {
		d := row.NullDatum
		if m[2*g] >= 0 {
			d = row.Datum{B: args[0].B[m[2*g]:m[2*g+1]]}
		}
		c.args = append(c.args, d)
	}
	return c.array(types.PhysBytes, base)
}

// regexp compiles an expression that is not constant, once for each of its values.
func (c *Ctx) regexp(source []byte) (*regexp.Regexp, error) {
	if re := c.regexps[string(source)]; re != nil {
		return re, nil
	}
	re, err := compileRegexp(string(source))
	if err != nil {
		return nil, err
	}
	if c.regexps == nil || len(c.regexps) >= maxCached {
		c.regexps = map[string]*regexp.Regexp{}
	}
	c.regexps[string(source)] = re
	return re, nil
}

func compileRegexp(source string) (*regexp.Regexp, error) {
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, fmt.Errorf("regular expression %q: %w", source, err)
	}
	return re, nil
}

// buildRegexp hands f the compiled expression of argument at.
func buildRegexp(at int, f func(c *Ctx, re *regexp.Regexp, args []row.Datum) row.Datum) builder {
	return func(call *Call, args []Fn) (Fn, error) {
		if isConst(call.Args[at]) {
			re, err := compileRegexp(string(call.Args[at].(*Const).Value.B))
			if err != nil {
				return nil, err
			}
			return evalNOf(args, func(c *Ctx, args []row.Datum) row.Datum { return f(c, re, args) }), nil
		}
		return evalNOf(args, func(c *Ctx, args []row.Datum) row.Datum {
			re, err := c.regexp(args[at].B)
			if err != nil {
				return c.fail(err)
			}
			return f(c, re, args)
		}), nil
	}
}

// regexpReplace reads Java's replacement text: $1 is a group, \ takes the next character as it is.
func regexpReplace(c *Ctx, re *regexp.Regexp, args []row.Datum) row.Datum {
	s, with := args[0].B, args[2].B
	buf, at := c.scratch, len(c.scratch)
	copied := 0
	for _, m := range re.FindAllSubmatchIndex(s, -1) {
		buf = append(buf, s[copied:m[0]]...)
		copied = m[1]
		var err error
		if buf, err = expand(buf, with, s, m); err != nil {
			return c.fail(fmt.Errorf("REGEXP_REPLACE: %w in the replacement %q", err, with))
		}
	}
	return c.done(append(buf, s[copied:]...), at)
}

func expand(buf, with, s []byte, m []int) ([]byte, error) {
	for i := 0; i < len(with); i++ {
		switch with[i] {
		case '\\':
			if i++; i == len(with) {
				return buf, errors.New("nothing follows the \\")
			}
			buf = append(buf, with[i])
		case '$':
			if i++; i == len(with) || with[i] < '0' || with[i] > '9' {
				return buf, errors.New("no group number follows the $")
			}
			g := int(with[i] - '0')
			if 2*g >= len(m) {
				return buf, fmt.Errorf("no group %d", g)
			}
			// Further digits belong to the number as long as there is such a group.
			for i+1 < len(with) && with[i+1] >= '0' && with[i+1] <= '9' && 2*(g*10+int(with[i+1]-'0')) < len(m) {
				i++
				g = g*10 + int(with[i]-'0')
			}
			if m[2*g] >= 0 {
				buf = append(buf, s[m[2*g]:m[2*g+1]]...)
			}
		default:
			buf = append(buf, with[i])
		}
	}
	return buf, nil
}

func regexpExtract(_ *Ctx, re *regexp.Regexp, args []row.Datum) row.Datum {
	g := int64(0)
	if len(args) == 3 {
		g = args[2].I
	}
	m := re.FindSubmatchIndex(args[0].B)
	if m == nil || g < 0 || 2*g >= int64(len(m)) || m[2*g] < 0 {
		return row.NullDatum
	}
	return row.Datum{B: args[0].B[m[2*g]:m[2*g+1]]}
}
