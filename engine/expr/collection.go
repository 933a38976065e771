package expr

import (
	"fmt"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

func arrayFunction() *Function {
	return &Function{
		Name: "ARRAY", Category: Collection, Signature: "ARRAY[value1, value2, …]", Help: "An array of the values.",
		Examples: []Example{ex("[1, 2]", 1, 2), ex("[1.5, NULL]", dec("1.5", 2, 1), nil)}, bind: bindArray, build: buildArray,
		show: func(c *Call) string { return "ARRAY[" + list(c.Args) + "]" },
	}
}

func mapFunction() *Function {
	return &Function{
		Name: "MAP", Category: Collection, Signature: "MAP[key1, value1, …]", Help: "A map of the keys to the values; of equal keys the last value counts.",
		Examples: []Example{ex("{a=1, b=2}", "a", 1, "b", 2), ex("{a=2}", "a", 1, "a", 2)}, bind: bindMap, build: buildMap,
		show: func(c *Call) string { return "MAP[" + list(c.Args) + "]" },
	}
}

func collectionFunctions() []*Function {
	array := arrayFunction()
	ints := func(v ...any) Expr { return must(array.call(ex("", v...).Args)) }
	return []*Function{
		array,
		mapFunction(),
		{
			Name: "ROW", Category: Collection, Signature: "ROW(value1, value2, …)", Help: "A row of the values; its fields are named EXPR$0, EXPR$1 and so on.",
			Examples: []Example{ex("(1, x)", 1, "x")}, bind: bindRow, build: buildRow,
		},
		{
			Name: "ITEM", Category: Collection, Signature: "array[index], map[key]",
			Help:     "The element at an index, from 1, or the value of a key; NULL if there is none.",
			Examples: []Example{ex("2", ints(1, 2), 2), ex("NULL", ints(1, 2), 3), ex("NULL", ints(1, 2), 0)}, bind: bindItem, build: buildItem,
			show: func(c *Call) string { return operand(c.Args[0]) + "[" + c.Args[1].String() + "]" },
		},
		{
			Name: "FIELD", Category: Collection, Signature: "row.field", Help: "A field of a row, by its name; NULL if the row is NULL.",
			bind: bindField, build: buildField,
			show: func(c *Call) string {
				name, _ := constString(c.Args[1])
				return operand(c.Args[0]) + "." + name
			},
		},
		{
			Name: "CARDINALITY", Category: Collection, Signature: "CARDINALITY(array), CARDINALITY(map)", Help: "The number of elements or entries.",
			Examples: []Example{ex("3", ints(1, nil, 3))},
			bind:     sig{params: []param{{"an ARRAY or MAP", func(t types.Type) bool { return t.Kind == types.Array || t.Kind == types.Map }, types.Type{}}}, ret: returnsInt}.bind,
			build:    buildCardinality,
		},
	}
}

func bindArray(args []Expr) ([]Expr, types.Type, error) {
	if len(args) == 0 {
		return nil, types.Type{}, argErrorf(-1, "an empty array has no type; write CAST(NULL AS ARRAY<…>)")
	}
	t, err := commonOf(args, 0)
	if err != nil {
		return nil, t, err
	}
	return coerceAll(args, 0, t), types.ArrayOf(nullable(t, args)).Required(), nil
}

func buildArray(call *Call, args []Fn) (Fn, error) {
	p := call.T.Elem.Phys()
	return evalNullN(func(c *Ctx, args []row.Datum) row.Datum {
		at := len(c.scratch)
		return c.done(row.AppendArray(c.scratch, p, args), at)
	})(call, args)
}

func bindMap(args []Expr) ([]Expr, types.Type, error) {
	if len(args) == 0 || len(args)%2 != 0 {
		return nil, types.Type{}, argErrorf(-1, "takes pairs of a key and a value")
	}
	var keys, values []Expr
	for i := 0; i < len(args); i += 2 {
		keys, values = append(keys, args[i]), append(values, args[i+1])
	}
	at := func(offset int) []int {
		var out []int
		for i := offset; i < len(args); i += 2 {
			out = append(out, i)
		}
		return out
	}
	kt, err := commonOf(keys, 0)
	if err != nil {
		return nil, kt, blame(err, at(0)...)
	}
	vt, err := commonOf(values, 0)
	if err != nil {
		return nil, vt, blame(err, at(1)...)
	}
	out := append([]Expr(nil), args...)
	for i := range out {
		if i%2 == 0 {
			out[i] = coerce(out[i], kt)
		} else {
			out[i] = coerce(out[i], vt)
		}
	}
	return out, types.MapOf(nullable(kt, keys), nullable(vt, values)).Required(), nil
}

func buildMap(call *Call, args []Fn) (Fn, error) {
	b := newMapBuilder(call.T)
	return evalNullN(func(c *Ctx, args []row.Datum) row.Datum {
		base := len(c.args)
		c.args = append(c.args, args...)
		return b.build(c, base)
	})(call, args)
}

func bindRow(args []Expr) ([]Expr, types.Type, error) {
	if len(args) == 0 {
		return nil, types.Type{}, argErrorf(-1, "takes at least 1 argument, not 0")
	}
	fields := make([]types.Field, len(args))
	out := append([]Expr(nil), args...)
	for i, a := range args {
		t := a.Type()
		if t.Kind == types.Null {
			return nil, types.Type{}, argErrorf(i, "a bare NULL has no type; write CAST(NULL AS …)")
		}
		fields[i] = types.Field{Name: fmt.Sprintf("EXPR$%d", i), Type: t}
	}
	return out, types.RowOf(fields...).Required(), nil
}

func buildRow(call *Call, args []Fn) (Fn, error) {
	items := make([]castItem, len(args))
	for i, f := range call.T.Fields {
		items[i].to = f.Type.Phys()
	}
	return evalNullN(func(c *Ctx, args []row.Datum) row.Datum { return packRow(c, items, args) })(call, args)
}

func bindItem(args []Expr) ([]Expr, types.Type, error) {
	of := param{"an ARRAY or MAP", func(t types.Type) bool { return t.Kind == types.Array || t.Kind == types.Map }, types.Type{}}
	if len(args) == 2 && args[0].Type().Kind == types.Map {
		key := *args[0].Type().Key
		common, ok := CommonType(key, args[1].Type())
		if !ok || !sameForm(common.Nullable(), key.Nullable()) && !common.IsString() {
			return nil, types.Type{}, argErrorf(1, "the map's keys are %s, not %s; write a CAST", key.Nullable(), args[1].Type().Nullable())
		}
		return []Expr{args[0], coerce(args[1], key.Nullable())}, args[0].Type().Elem.Nullable(), nil
	}
	return sig{params: []param{of, anInt}, ret: func(args []Expr) types.Type { return *args[0].Type().Elem }, mayNull: true}.bind(args)
}

func buildItem(call *Call, args []Fn) (Fn, error) {
	t := call.Args[0].Type()
	p := t.Elem.Phys()
	if t.Kind == types.Array {
		return strict2(args[0], args[1], func(_ *Ctx, a, i row.Datum) row.Datum {
			if i.I < 1 || i.I > int64(row.ArrayLen(a.B)) {
				return row.NullDatum
			}
			return row.ArrayRow(a.B).Get(int(i.I-1), p)
		}), nil
	}
	same, kp := compareAs(*t.Key, call.Args[1].Type()), t.Key.Phys()
	return strict2(args[0], args[1], func(_ *Ctx, m, key row.Datum) row.Datum {
		keys, values := row.MapArrays(m.B)
		for i := range row.ArrayLen(keys) {
			if k := row.ArrayRow(keys).Get(i, kp); !k.Null && same(k, key) == 0 {
				return row.ArrayRow(values).Get(i, p)
			}
		}
		return row.NullDatum
	}), nil
}

// bindField takes the row and the field's name as a constant string, exact in case.
func bindField(args []Expr) ([]Expr, types.Type, error) {
	none := types.Type{}
	if len(args) != 2 {
		return nil, none, argErrorf(-1, "takes 2 arguments, not %d", len(args))
	}
	t := args[0].Type()
	if t.Kind != types.Row {
		return nil, none, argErrorf(0, "%s has no fields", t.Nullable())
	}
	name, ok := constString(args[1])
	if !ok {
		return nil, none, argErrorf(1, "the field's name must be a constant")
	}
	names := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		if f.Name == name {
			ft := f.Type
			ft.NotNull = ft.NotNull && t.NotNull
			return args, ft, nil
		}
		names[i] = f.Name
	}
	hint := ""
	if len(names) > 0 {
		hint = fmt.Sprintf("; it has %q", names)
	}
	return nil, none, argErrorf(1, "the row has no field %q%s", name, hint)
}

func buildField(call *Call, args []Fn) (Fn, error) {
	name, _ := constString(call.Args[1])
	for i, f := range call.Args[0].Type().Fields {
		if f.Name == name {
			p := f.Type.Phys()
			return strict1(args[0], func(_ *Ctx, r row.Datum) row.Datum { return row.Row(r.B).Get(i, p) }), nil
		}
	}
	return nil, fmt.Errorf("no field %q in %s", name, call.Args[0].Type())
}

func buildCardinality(call *Call, args []Fn) (Fn, error) {
	isMap := call.Args[0].Type().Kind == types.Map
	return strict1(args[0], func(_ *Ctx, a row.Datum) row.Datum {
		b := a.B
		if isMap {
			b, _ = row.MapArrays(b)
		}
		return row.Int(int64(row.ArrayLen(b)))
	}), nil
}

// ListParts are the columns that UNNEST makes of an element of a list of type t: the element, the fields of a ROW, or
// key and value; ok is false when t is neither ARRAY nor MAP.
func ListParts(t types.Type) (parts []types.Type, ok bool) {
	switch {
	case t.Kind == types.Map:
		return []types.Type{*t.Key, *t.Elem}, true
	case t.Kind != types.Array:
		return nil, false
	case t.Elem.Kind != types.Row:
		return []types.Type{*t.Elem}, true
	}
	for _, f := range t.Elem.Fields {
		ft := f.Type
		ft.NotNull = ft.NotNull && t.Elem.NotNull
		parts = append(parts, ft)
	}
	return parts, true
}
