package expr

import (
	"bytes"
	"slices"

	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/fault"
)

// Elements are equal as in comparisons, and a NULL equals a NULL.

func arrayFunctions() []*Function {
	ints := func(v ...any) Expr { return must(arrayFunction().call(ex("", v...).Args)) }
	none := NullConst(types.ArrayOf(types.Of(types.Int)))
	fn := func(name, signature, help string, bind func([]Expr) ([]Expr, types.Type, error), b builder, examples ...Example) *Function {
		return &Function{Name: name, Category: Collection, Signature: signature, Help: help, Examples: examples, bind: bind, build: b}
	}
	return []*Function{
		fn("ELEMENT", "ELEMENT(array)", "The only element of the array, NULL if it is empty; an error if there are more.",
			sig{params: []param{anArray}, ret: returnsElem, mayNull: true}.bind, buildElement, ex("7", ints(7)), ex("error: 2 elements", ints(1, 2))),
		fn("ARRAY_APPEND", "ARRAY_APPEND(array, element)", "The array with an element, be it NULL, added at its end.",
			bindWithElement(returnsArg(0)), appendElement(false), ex("[1, 2, 3]", ints(1, 2), 3), ex("[1, NULL]", ints(1), nil), ex("NULL", none, 1)),
		fn("ARRAY_PREPEND", "ARRAY_PREPEND(array, element)", "The array with an element, be it NULL, added at its beginning.",
			bindWithElement(returnsArg(0)), appendElement(true), ex("[3, 1, 2]", ints(1, 2), 3), ex("[NULL, 1]", ints(1), nil)),
		fn("ARRAY_CONTAINS", "ARRAY_CONTAINS(array, element)", "TRUE if the array has the element, which may be NULL.",
			bindWithElement(returnsBool), buildContains, ex("TRUE", ints(1, 2), 2), ex("FALSE", ints(1, 2), nil), ex("TRUE", ints(1, nil), nil), ex("NULL", none, 1)),
		fn("ARRAY_POSITION", "ARRAY_POSITION(array, element)", "Where the element first stands in the array, from 1; 0 if nowhere, NULL for NULL.",
			bindPosition, buildPosition, ex("2", ints(3, 1, 1), 1), ex("0", ints(3), 1), ex("NULL", ints(nil), nil)),
		fn("ARRAY_REMOVE", "ARRAY_REMOVE(array, element)", "The array without those elements that equal one, which may be NULL.",
			bindWithElement(returnsArg(0)), buildRemove, ex("[1, 3]", ints(1, 2, 3, 2), 2), ex("[1]", ints(nil, 1), nil)),
		fn("ARRAY_DISTINCT", "ARRAY_DISTINCT(array)", "The array without repeated elements, in the order of their first occurrence.",
			sig{params: []param{anArray}, ret: returnsArg(0)}.bind, buildSets(nil), ex("[1, 2, NULL]", ints(1, 2, 1, nil, nil))),
		fn("ARRAY_UNION", "ARRAY_UNION(array1, array2)", "The elements of both arrays, without repetitions.",
			bindArrays(2, 2), buildSets(nil), ex("[1, 2, 3]", ints(1, 2, 1), ints(3, 2)), ex("[1, NULL]", ints(1), ints(nil))),
		fn("ARRAY_EXCEPT", "ARRAY_EXCEPT(array1, array2)", "The elements of array1 that array2 does not have, without repetitions.",
			bindArrays(2, 2), buildSets(func(in bool) bool { return !in }), ex("[1]", ints(1, 2, 1), ints(2, 3)), ex("[]", ints(nil), ints(nil))),
		fn("ARRAY_INTERSECT", "ARRAY_INTERSECT(array1, array2)", "The elements of array1 that array2 has too, without repetitions.",
			bindArrays(2, 2), buildSets(func(in bool) bool { return in }), ex("[2]", ints(1, 2, 2), ints(2, 3)), ex("[NULL]", ints(nil, 1), ints(nil))),
		fn("ARRAY_CONCAT", "ARRAY_CONCAT(array1, …)", "The arrays, one after the other.",
			bindArrays(1, 0), buildArrayConcat, ex("[1, 2, 1]", ints(1, 2), ints(1)), ex("NULL", ints(1), none)),
		fn("ARRAY_REVERSE", "ARRAY_REVERSE(array)", "The elements in reverse order.",
			sig{params: []param{anArray}, ret: returnsArg(0)}.bind, buildReverse, ex("[NULL, 2, 1]", ints(1, 2, nil))),
		fn("ARRAY_SLICE", "ARRAY_SLICE(array, start [, end])", "The elements from one position to another, both included; from 1, a negative one is counted from the end.",
			sig{params: []param{anArray, anInt, anInt}, min: 2, ret: returnsArg(0)}.bind, buildSlice,
			ex("[2, 3]", ints(1, 2, 3, 4), 2, 3), ex("[3, 4]", ints(1, 2, 3, 4), -2), ex("[1]", ints(1, 2), 0, 1), ex("[]", ints(1, 2), 2, 1)),
		fn("ARRAY_SORT", "ARRAY_SORT(array [, ascending [, nulls_first]])", "The elements sorted, ascending if nothing else is said, with NULLs first when ascending.",
			bindArraySort, buildArraySort, ex("[NULL, 1, 2]", ints(2, nil, 1)), ex("[2, 1, NULL]", ints(2, nil, 1), false), ex("[1, 2, NULL]", ints(2, nil, 1), true, false)),
		arrayExtreme("ARRAY_MAX", "greatest", 1, ex("3", ints(1, 3, nil)), ex("NULL", ints(nil))),
		arrayExtreme("ARRAY_MIN", "least", -1, ex("1", ints(3, nil, 1)), ex("NULL", none)),
		fn("ARRAY_JOIN", "ARRAY_JOIN(array, delimiter [, null])", "The strings of the array with a delimiter between them; NULLs are left out, or written as given.",
			sig{params: []param{{"an ARRAY of strings", isStrings, types.ArrayOf(types.String())}, aString, aString}, min: 2, ret: returnsString}.bind, evalN(arrayJoin),
			ex("a,b", ints("a", nil, "b"), ","), ex("a,?,b", ints("a", nil, "b"), ",", "?")),
		fn("SPLIT", "SPLIT(string, delimiter)", "The parts of the string between the delimiters, or its characters if the delimiter is empty.",
			sig{params: []param{aString, aString}, ret: returns(types.ArrayOf(types.String().Required()))}.bind, eval2(split),
			ex("[a, b, ]", "a,b,", ","), ex("[a, é]", "aé", ""), ex("[]", "", ","), ex("NULL", "a", nil)),
	}
}

var anArray = param{"an ARRAY", func(t types.Type) bool { return t.Kind == types.Array }, types.Type{}}

func isStrings(t types.Type) bool { return t.Kind == types.Array && t.Elem.IsString() }

func returnsElem(args []Expr) types.Type { return *args[0].Type().Elem }

// bindWithElement types a function of an array and an element: both get the common type. The result is NULL only
// for an array that is.
func bindWithElement(ret func(args []Expr) types.Type) func(args []Expr) ([]Expr, types.Type, error) {
	return func(args []Expr) ([]Expr, types.Type, error) {
		args, err := sig{params: []param{anArray, anything}, ret: returnsBool}.checkOpen(args)
		if err != nil {
			return nil, types.Type{}, err
		}
		elem, ok := CommonType(*args[0].Type().Elem, args[1].Type())
		if !ok {
			return nil, types.Type{}, argErrorf(1, "the array's elements are %s, not %s; write a CAST", args[0].Type().Elem.Nullable(), args[1].Type().Nullable())
		}
		out := []Expr{coerce(args[0], arrayLike(args[0], elem)), coerce(args[1], elem.Nullable())}
		t := ret(out)
		t.NotNull = args[0].Type().NotNull
		return out, t, nil
	}
}

// bindPosition: the position of NULL is NULL.
func bindPosition(args []Expr) ([]Expr, types.Type, error) {
	args, t, err := bindWithElement(returnsInt)(args)
	if err == nil {
		t = nullable(t, args)
	}
	return args, t, err
}

// arrayLike is an ARRAY of elem, NOT NULL where e is.
func arrayLike(e Expr, elem types.Type) types.Type {
	t := types.ArrayOf(elem)
	t.NotNull = e.Type().NotNull
	return t
}

// bindArrays types a function of arrays, which get a common type; most is 0 for any number.
func bindArrays(least, most int) func(args []Expr) ([]Expr, types.Type, error) {
	return func(args []Expr) ([]Expr, types.Type, error) {
		params := make([]param, max(least, most))
		for i := range params {
			params[i] = anArray
		}
		args, err := sig{params: params, min: least, rest: most == 0, ret: returnsArg(0)}.checkOpen(args)
		if err != nil {
			return nil, types.Type{}, err
		}
		t, err := commonOf(args, 0)
		if err != nil {
			return nil, t, err
		}
		return coerceAll(args, 0, t), nullable(t, args), nil
	}
}

// elements pushes the elements of an array onto the argument stack.
func (c *Ctx) elements(b []byte, p types.Phys) {
	elems := row.ArrayRow(b)
	for i := range row.ArrayLen(b) {
		c.args = append(c.args, elems.Get(i, p))
	}
}

// array makes an array of what lies on the argument stack from base on.
func (c *Ctx) array(p types.Phys, base int) row.Datum {
	at := len(c.scratch)
	return c.done(row.AppendArray(c.scratch, p, c.args[base:]), at)
}

func buildElement(call *Call, args []Fn) (Fn, error) {
	p := call.T.Phys()
	return strict1(args[0], func(c *Ctx, a row.Datum) row.Datum {
		switch n := row.ArrayLen(a.B); n {
		case 0:
			return row.NullDatum
		case 1:
			return row.ArrayRow(a.B).Get(0, p)
		default:
			return c.fail(fault.Errorf(fault.RowValue, "ELEMENT: the array has %d elements, not one", n).
				Fix("write array[1]"))
		}
	}), nil
}

func appendElement(first bool) builder {
	return func(call *Call, args []Fn) (Fn, error) {
		p := call.T.Elem.Phys()
		return arrayAndElement(args, func(c *Ctx, a, e row.Datum) row.Datum {
			base := len(c.args)
			defer func() { c.args = c.args[:base] }()
			if first {
				c.args = append(c.args, e)
			}
			c.elements(a.B, p)
			if !first {
				c.args = append(c.args, e)
			}
			return c.array(p, base)
		}), nil
	}
}

// arrayAndElement is strict2 for an element that may be NULL.
func arrayAndElement(args []Fn, f func(c *Ctx, a, e row.Datum) row.Datum) Fn {
	x, y := args[0], args[1]
	return func(c *Ctx, r row.Row) row.Datum {
		a := x(c, r)
		if a.Null {
			return a
		}
		return f(c, a, y(c, r))
	}
}

// find is the index of an element from i on, or -1.
func find(b []byte, i int, p types.Phys, same comparer, e row.Datum) int {
	for elems := row.ArrayRow(b); i < row.ArrayLen(b); i++ {
		if compareNullable(same, elems.Get(i, p), e) == 0 {
			return i
		}
	}
	return -1
}

func buildContains(call *Call, args []Fn) (Fn, error) {
	elem := *call.Args[0].Type().Elem
	p, same := elem.Phys(), compareAs(elem, elem)
	return arrayAndElement(args, func(_ *Ctx, a, e row.Datum) row.Datum { return row.Bool(find(a.B, 0, p, same, e) >= 0) }), nil
}

func buildPosition(call *Call, args []Fn) (Fn, error) {
	elem := *call.Args[0].Type().Elem
	p, same := elem.Phys(), compareAs(elem, elem)
	return strict2(args[0], args[1], func(_ *Ctx, a, e row.Datum) row.Datum { return row.Int(int64(find(a.B, 0, p, same, e)) + 1) }), nil
}

func buildRemove(call *Call, args []Fn) (Fn, error) {
	elem := *call.T.Elem
	p, same := elem.Phys(), compareAs(elem, elem)
	return arrayAndElement(args, func(c *Ctx, a, e row.Datum) row.Datum {
		base := len(c.args)
		defer func() { c.args = c.args[:base] }()
		elems := row.ArrayRow(a.B)
		for i := range row.ArrayLen(a.B) {
			if d := elems.Get(i, p); compareNullable(same, d, e) != 0 {
				c.args = append(c.args, d)
			}
		}
		return c.array(p, base)
	}), nil
}

// buildSets builds the distinct elements of the arrays, or those of the first for which keep holds, given
// whether the second has them.
func buildSets(keep func(in bool) bool) builder {
	return func(call *Call, args []Fn) (Fn, error) {
		elem := *call.T.Elem
		empty := newElemSet(elem)
		p := empty.phys
		return evalNOf(args, func(c *Ctx, arrays []row.Datum) row.Datum {
			base := len(c.args)
			defer func() { c.args = c.args[:base] }()
			out, other := c.elemSet(empty), c.elemSet(empty)
			defer func() { c.sets = append(c.sets, out, other) }()
			if keep != nil {
				for i := range row.ArrayLen(arrays[1].B) {
					other.add(row.ArrayRow(arrays[1].B).Get(i, p))
				}
				arrays = arrays[:1]
			}
			for _, a := range arrays {
				elems := row.ArrayRow(a.B)
				for i := range row.ArrayLen(a.B) {
					d := elems.Get(i, p)
					if (keep == nil || keep(other.has(d))) && out.add(d) {
						c.args = append(c.args, d)
					}
				}
			}
			return c.array(p, base)
		}), nil
	}
}

// elemSet is a set of elements of one type. Few are compared one by one; many are found by their keys, where the
// type's equality is that of its keys.
type elemSet struct {
	phys  types.Phys
	same  comparer
	keyed bool
	list  []row.Datum
	many  bool // keys is in use
	keys  map[string]struct{}
	key   []byte
}

// manyElems is the size from which on a set is searched by keys.
const manyElems = 16

func newElemSet(t types.Type) elemSet {
	nested := t.Kind == types.Array || t.Kind == types.Map || t.Kind == types.Row
	return elemSet{phys: t.Phys(), same: compareAs(t, t), keyed: !nested}
}

// elemSet lends a set for elements as they are in empty, whose memory is used again.
func (c *Ctx) elemSet(empty elemSet) *elemSet {
	var s *elemSet
	if n := len(c.sets); n > 0 {
		s, c.sets = c.sets[n-1], c.sets[:n-1]
	} else {
		s = &elemSet{}
	}
	clear(s.keys)
	s.phys, s.same, s.keyed, s.list, s.many = empty.phys, empty.same, empty.keyed, s.list[:0], false
	return s
}

func (s *elemSet) has(d row.Datum) bool {
	if s.many {
		s.key = keyenc.AppendDatum(s.key[:0], s.phys, d)
		_, ok := s.keys[string(s.key)]
		return ok
	}
	for i := range s.list {
		if compareNullable(s.same, s.list[i], d) == 0 {
			return true
		}
	}
	return false
}

// add reports whether d is new.
func (s *elemSet) add(d row.Datum) bool {
	if s.has(d) {
		return false
	}
	s.list = append(s.list, d)
	switch {
	case s.many:
		s.keys[string(s.key)] = struct{}{} // has made the key
	case s.keyed && len(s.list) == manyElems:
		s.many = true
		if s.keys == nil {
			s.keys = map[string]struct{}{}
		}
		for _, e := range s.list {
			s.keys[string(keyenc.AppendDatum(nil, s.phys, e))] = struct{}{}
		}
	}
	return true
}

func buildArrayConcat(call *Call, args []Fn) (Fn, error) {
	p := call.T.Elem.Phys()
	return evalNOf(args, func(c *Ctx, arrays []row.Datum) row.Datum {
		base := len(c.args)
		defer func() { c.args = c.args[:base] }()
		for _, a := range arrays {
			c.elements(a.B, p)
		}
		return c.array(p, base)
	}), nil
}

func buildReverse(call *Call, args []Fn) (Fn, error) {
	p := call.T.Elem.Phys()
	return strict1(args[0], func(c *Ctx, a row.Datum) row.Datum {
		base := len(c.args)
		defer func() { c.args = c.args[:base] }()
		c.elements(a.B, p)
		slices.Reverse(c.args[base:])
		return c.array(p, base)
	}), nil
}

func buildSlice(call *Call, args []Fn) (Fn, error) {
	p := call.T.Elem.Phys()
	return evalNOf(args, func(c *Ctx, args []row.Datum) row.Datum {
		n := int64(row.ArrayLen(args[0].B))
		at := func(i int64) int64 { // from 0
			if i < 0 {
				return n + i
			}
			return max(i-1, 0)
		}
		from, to := at(args[1].I), n-1
		if len(args) == 3 {
			to = min(at(args[2].I), n-1)
		}
		base := len(c.args)
		defer func() { c.args = c.args[:base] }()
		for i := max(from, 0); i <= to; i++ {
			c.args = append(c.args, row.ArrayRow(args[0].B).Get(int(i), p))
		}
		return c.array(p, base)
	}), nil
}

// bindArraySort adds the two choices.
func bindArraySort(args []Expr) ([]Expr, types.Type, error) {
	args, t, err := sig{params: []param{anArray, aBool, aBool}, min: 1, ret: returnsArg(0)}.bind(args)
	if err != nil {
		return nil, t, err
	}
	if err := ordered(*t.Elem, 0); err != nil {
		return nil, t, err
	}
	if len(args) == 1 {
		args = append(args, BoolConst(true))
	}
	if len(args) == 2 {
		args = append(args, args[1])
	}
	return args, t, nil
}

// ordered refuses elements that have no order, of argument i.
func ordered(elem types.Type, i int) error {
	if elem.Kind == types.Array || elem.Kind == types.Map || elem.Kind == types.Row {
		return argErrorf(i, "values of %s have no order", elem.Nullable())
	}
	return nil
}

func buildArraySort(call *Call, args []Fn) (Fn, error) {
	elem := *call.T.Elem
	p, compare := elem.Phys(), compareAs(elem, elem)
	return evalNOf(args, func(c *Ctx, args []row.Datum) row.Datum {
		ascending, nullsFirst := args[1].I != 0, args[2].I != 0
		base := len(c.args)
		defer func() { c.args = c.args[:base] }()
		c.elements(args[0].B, p)
		slices.SortStableFunc(c.args[base:], func(a, b row.Datum) int {
			if a.Null || b.Null {
				if nullsFirst {
					return compareNullable(compare, a, b)
				}
				return -compareNullable(compare, a, b)
			}
			if ascending {
				return compare(a, b)
			}
			return compare(b, a)
		})
		return c.array(p, base)
	}), nil
}

func arrayExtreme(name, word string, sign int, examples ...Example) *Function {
	return &Function{
		Name: name, Category: Collection, Signature: name + "(array)", Help: "The " + word + " element; NULLs do not count, and NULL is the result without an element.",
		Examples: examples,
		bind: func(args []Expr) ([]Expr, types.Type, error) {
			args, t, err := sig{params: []param{anArray}, ret: returnsElem, mayNull: true}.bind(args)
			if err == nil {
				err = ordered(t, 0)
			}
			return args, t, err
		},
		build: func(call *Call, args []Fn) (Fn, error) {
			p, compare := call.T.Phys(), compareAs(call.T, call.T)
			return strict1(args[0], func(_ *Ctx, a row.Datum) row.Datum {
				best, elems := row.NullDatum, row.ArrayRow(a.B)
				for i := range row.ArrayLen(a.B) {
					if d := elems.Get(i, p); !d.Null && (best.Null || sign*compare(d, best) > 0) {
						best = d
					}
				}
				return best
			}), nil
		},
	}
}

func arrayJoin(c *Ctx, args []row.Datum) row.Datum {
	buf, at := c.scratch, len(c.scratch)
	first, elems := true, row.ArrayRow(args[0].B)
	for i := range row.ArrayLen(args[0].B) {
		d := elems.Get(i, types.PhysBytes)
		if d.Null {
			if len(args) < 3 {
				continue
			}
			d = args[2]
		}
		if !first {
			buf = append(buf, args[1].B...)
		}
		buf, first = append(buf, d.B...), false
	}
	return c.done(buf, at)
}

func split(c *Ctx, a, delimiter row.Datum) row.Datum {
	base := len(c.args)
	defer func() { c.args = c.args[:base] }()
	b := a.B
	for len(b) > 0 || len(delimiter.B) > 0 {
		i, n := bytes.Index(b, delimiter.B), len(delimiter.B)
		if n == 0 {
			i = skip(b, 1)
		}
		if i < 0 {
			c.args = append(c.args, row.Datum{B: b})
			break
		}
		c.args = append(c.args, row.Datum{B: b[:i]})
		b = b[i+n:]
	}
	return c.array(types.PhysBytes, base)
}
