package expr

import (
	"bytes"
	"fmt"
	"regexp"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// The entries of a map keep the order in which its keys were first set.

func mapFunctions() []*Function {
	ints := func(v ...any) Expr { return must(arrayFunction().call(ex("", v...).Args)) }
	m := func(v ...any) Expr { return must(mapFunction().call(ex("", v...).Args)) }
	one := sig{params: []param{aMap}}
	returning := func(ret func(m types.Type) types.Type) func(args []Expr) ([]Expr, types.Type, error) {
		s := one
		s.ret = func(args []Expr) types.Type { return ret(args[0].Type()) }
		return s.bind
	}
	return []*Function{
		{
			Name: "MAP_KEYS", Category: Collection, Signature: "MAP_KEYS(map)", Help: "The keys.",
			Examples: []Example{ex("[b, a]", m("b", 1, "a", 2))},
			bind:     returning(func(m types.Type) types.Type { return types.ArrayOf(*m.Key) }), build: eval1(mapPart(true)),
		},
		{
			Name: "MAP_VALUES", Category: Collection, Signature: "MAP_VALUES(map)", Help: "The values, in the order of MAP_KEYS.",
			Examples: []Example{ex("[1, NULL]", m("b", 1, "a", nil))},
			bind:     returning(func(m types.Type) types.Type { return types.ArrayOf(*m.Elem) }), build: eval1(mapPart(false)),
		},
		{
			Name: "MAP_ENTRIES", Category: Collection, Signature: "MAP_ENTRIES(map)", Help: "The entries as rows of a key and a value.",
			Examples: []Example{ex("[(b, 1), (a, 2)]", m("b", 1, "a", 2))},
			bind:     returning(entriesOf), build: buildEntries,
		},
		{
			Name: "MAP_FROM_ARRAYS", Category: Collection, Signature: "MAP_FROM_ARRAYS(keys, values)",
			Help:     "A map of the keys to the values that stand at the same positions; of equal keys the last value counts.",
			Examples: []Example{ex("{a=1, b=2}", ints("a", "b"), ints(1, 2)), ex("{a=2}", ints("a", "a"), ints(1, 2)), ex("error: 1 keys and 2 values", ints("a"), ints(1, 2))},
			bind: sig{params: []param{anArray, anArray}, ret: func(args []Expr) types.Type {
				return types.MapOf(*args[0].Type().Elem, *args[1].Type().Elem)
			}}.bind,
			build: buildMapFromArrays,
		},
		{
			Name: "MAP_UNION", Category: Collection, Signature: "MAP_UNION(map1, …)", Help: "The entries of all maps; of equal keys the value of the last map counts.",
			Examples: []Example{ex("{a=1, b=3, c=4}", m("a", 1, "b", 2), m("b", 3, "c", 4)), ex("NULL", m("a", 1), NullConst(types.MapOf(types.String(), types.Of(types.Int))))},
			bind:     bindMapUnion, build: buildMapUnion,
		},
		{
			Name: "STR_TO_MAP", Category: Collection, Signature: "STR_TO_MAP(string [, pairs, values])",
			Help:     "A map of the keys to the values that the string writes: pairs are divided by one regular expression (, if missing), keys from values by another (=).",
			Examples: []Example{ex("{k1=v1, k2=v2}", "k1=v1,k2=v2"), ex("{a=1, b=NULL}", "a:1; b", "; ?", ":"), ex("{}", ""), ex("{a=b=c}", "a=b=c")},
			bind:     bindStrToMap, build: buildStrToMap,
		},
	}
}

var aMap = param{"a MAP", func(t types.Type) bool { return t.Kind == types.Map }, types.Type{}}

func mapPart(keys bool) func(c *Ctx, m row.Datum) row.Datum {
	return func(_ *Ctx, m row.Datum) row.Datum {
		k, v := row.MapArrays(m.B)
		if keys {
			return row.Datum{B: k}
		}
		return row.Datum{B: v}
	}
}

func entriesOf(m types.Type) types.Type {
	return types.ArrayOf(types.RowOf(types.Field{Name: "key", Type: *m.Key}, types.Field{Name: "value", Type: *m.Elem}).Required())
}

func buildEntries(call *Call, args []Fn) (Fn, error) {
	t := call.Args[0].Type()
	items := []castItem{{to: t.Key.Phys()}, {to: t.Elem.Phys()}}
	return strict1(args[0], func(c *Ctx, m row.Datum) row.Datum {
		base := len(c.args)
		defer func() { c.args = c.args[:base] }()
		keys, values := row.MapArrays(m.B)
		for i := range row.ArrayLen(keys) {
			entry := [2]row.Datum{row.ArrayRow(keys).Get(i, items[0].to), row.ArrayRow(values).Get(i, items[1].to)}
			c.args = append(c.args, packRow(c, items, entry[:]))
		}
		return c.array(types.PhysBytes, base)
	}), nil
}

// mapBuilder makes a map of pairs that lie on the argument stack.
type mapBuilder struct {
	key, elem types.Phys
	same      comparer
}

func newMapBuilder(t types.Type) mapBuilder {
	return mapBuilder{t.Key.Phys(), t.Elem.Phys(), compareAs(*t.Key, *t.Key)}
}

// build makes a map of the pairs, key and value in turn, that lie on the stack from base on, and takes them off.
func (b mapBuilder) build(c *Ctx, base int) row.Datum {
	end := len(c.args)
	// What is left of the keys, and then their values, lies above the pairs.
	for i := base; i < end; i += 2 {
		if b.index(c.args[end:], c.args[i]) < 0 {
			c.args = append(c.args, c.args[i])
		}
	}
	n := len(c.args) - end
	c.args = append(c.args, c.args[end:]...)
	keys, values := c.args[end:end+n], c.args[end+n:]
	for i := base; i < end; i += 2 {
		values[b.index(keys, c.args[i])] = c.args[i+1]
	}
	at := len(c.scratch)
	out := c.done(row.AppendMap(c.scratch, b.key, b.elem, keys, values), at)
	c.args = c.args[:base]
	return out
}

func (b mapBuilder) index(keys []row.Datum, key row.Datum) int {
	for i, k := range keys {
		if compareNullable(b.same, k, key) == 0 {
			return i
		}
	}
	return -1
}

func buildMapFromArrays(call *Call, args []Fn) (Fn, error) {
	b := newMapBuilder(call.T)
	return strict2(args[0], args[1], func(c *Ctx, keys, values row.Datum) row.Datum {
		n, m := row.ArrayLen(keys.B), row.ArrayLen(values.B)
		if n != m {
			return c.fail(fmt.Errorf("MAP_FROM_ARRAYS: there are %d keys and %d values", n, m))
		}
		base := len(c.args)
		for i := range n {
			c.args = append(c.args, row.ArrayRow(keys.B).Get(i, b.key), row.ArrayRow(values.B).Get(i, b.elem))
		}
		return b.build(c, base)
	}), nil
}

func bindMapUnion(args []Expr) ([]Expr, types.Type, error) {
	args, err := sig{params: []param{aMap}, rest: true, ret: returnsArg(0)}.checkOpen(args)
	if err != nil {
		return nil, types.Type{}, err
	}
	t, err := commonOf(args, 0)
	if err != nil {
		return nil, t, err
	}
	return coerceAll(args, 0, t), nullable(t, args), nil
}

func buildMapUnion(call *Call, args []Fn) (Fn, error) {
	b := newMapBuilder(call.T)
	return evalNOf(args, func(c *Ctx, maps []row.Datum) row.Datum {
		base := len(c.args)
		for _, m := range maps {
			keys, values := row.MapArrays(m.B)
			for i := range row.ArrayLen(keys) {
				c.args = append(c.args, row.ArrayRow(keys).Get(i, b.key), row.ArrayRow(values).Get(i, b.elem))
			}
		}
		return b.build(c, base)
	}), nil
}

func bindStrToMap(args []Expr) ([]Expr, types.Type, error) {
	if len(args) == 1 {
		args = append(args[:1:1], StringConst(","), StringConst("="))
	}
	if len(args) == 2 {
		return nil, types.Type{}, argErrorf(-1, "takes 1 or 3 arguments, not 2")
	}
	t := types.MapOf(types.String().Required(), types.String())
	return sig{params: []param{aString, aString, aString}, ret: returns(t)}.bind(args)
}

func buildStrToMap(call *Call, args []Fn) (Fn, error) {
	pairs, values := dividerOf(call.Args[1]), dividerOf(call.Args[2])
	b := newMapBuilder(call.T)
	return evalNOf(args, func(c *Ctx, args []row.Datum) row.Datum {
		byPair, err := pairs(c, args[1].B)
		if err != nil {
			return c.fail(err)
		}
		byValue, err := values(c, args[2].B)
		if err != nil {
			return c.fail(err)
		}
		base := len(c.args)
		for s := args[0].B; len(s) > 0; {
			pair, rest := byPair.cut(s)
			key, value := byValue.cut(pair)
			d := row.NullDatum
			if value != nil {
				d = row.Datum{B: value}
			}
			c.args, s = append(c.args, row.Datum{B: key}, d), rest
		}
		return b.build(c, base)
	}), nil
}

// divider cuts a text at the first match of a regular expression, which is often a literal.
type divider struct {
	re      *regexp.Regexp
	literal []byte // nil for other expressions
}

// dividerOf gives the divider of an argument: compiled once if it is constant, else for each of its values.
func dividerOf(e Expr) func(c *Ctx, source []byte) (divider, error) {
	compiled := func(re *regexp.Regexp, err error) (divider, error) {
		if err != nil {
			return divider{}, err
		}
		d := divider{re: re}
		if literal, whole := re.LiteralPrefix(); whole && literal != "" {
			d.literal = []byte(literal)
		}
		return d, nil
	}
	if isConst(e) {
		d, err := compiled(compileRegexp(string(e.(*Const).Value.B)))
		return func(*Ctx, []byte) (divider, error) { return d, err }
	}
	return func(c *Ctx, source []byte) (divider, error) { return compiled(c.regexp(source)) }
}

// cut cuts s; after is nil without a match. An empty match is none.
func (d divider) cut(s []byte) (before, after []byte) {
	if d.literal != nil {
		before, after, _ = bytes.Cut(s, d.literal)
		return before, after
	}
	m := d.re.FindIndex(s)
	if m == nil || m[0] == m[1] {
		return s, nil
	}
	return s[:m[0]], s[m[1]:]
}
