package expr

import (
	"fmt"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

func jsonFunctions() []*Function {
	doc := `{"a": {"b": [1, 2.50]}, "c": null, "d": "x\u00e9"}`
	null := NullConst(types.String())
	fs := []*Function{
		{
			Name: "JSON_VALUE", Category: JSON, Signature: "JSON_VALUE(json, path [RETURNING type] [{NULL | ERROR | DEFAULT value} ON EMPTY] [{NULL | ERROR | DEFAULT value} ON ERROR])",
			Help:     "The scalar at a path, as STRING or as the type named; numbers keep all their digits.",
			Examples: []Example{ex("2.50", doc, "$.a.b[1]"), ex("xé", doc, "lax $.d"), ex("NULL", doc, "$.a"), ex("NULL", doc, "lax $.c"), ex("12345678901234567890", `{"n":12345678901234567890}`, "$.n"), ex("1", doc, "$.a.b[0]", NullConst(types.Of(types.BigInt)), "NULL", nil, "NULL", nil), ex("-1", doc, "lax $.z", NullConst(types.Of(types.Int)), "DEFAULT", -1, "ERROR", nil), ex("error: leads nowhere", doc, "strict $.z", NullConst(types.String()), "NULL", nil, "ERROR", nil)},
			bind:     bindJSONValue, build: buildJSONValue, show: showJSONValue,
		},
		{
			Name: "JSON_QUERY", Category: JSON, Signature: "JSON_QUERY(json, path [RETURNING {STRING | ARRAY<STRING>}] [{WITHOUT | WITH [CONDITIONAL | UNCONDITIONAL]} [ARRAY] WRAPPER] [{NULL | EMPTY ARRAY | EMPTY OBJECT | ERROR} ON EMPTY] [… ON ERROR])",
			Help:     "The object or array at a path, as compact JSON text.",
			Examples: []Example{ex(`{"b":[1,2.50]}`, doc, "$.a"), ex("NULL", doc, "lax $.d"), ex("[1,2.50]", doc, "lax $.a.b[*]", null, "CONDITIONAL", "NULL", "NULL"), ex("[]", doc, "lax $.z", null, "WITHOUT", "EMPTY ARRAY", "NULL"), ex("[1, 2.50]", doc, "$.a.b", NullConst(types.ArrayOf(types.String())), "WITHOUT", "NULL", "NULL")},
			bind:     bindJSONQuery, build: buildJSONQuery, show: showJSONQuery,
		},
		{
			Name: "JSON_EXISTS", Category: JSON, Signature: "JSON_EXISTS(json, path [{TRUE | FALSE | UNKNOWN | ERROR} ON ERROR])",
			Help:     "TRUE if the path leads to a value, be it null.",
			Examples: []Example{ex("TRUE", doc, "lax $.a.b"), ex("FALSE", doc, "lax $.a.z"), ex("TRUE", doc, "$.c"), ex("FALSE", "no json", "$.a"), ex("NULL", "no json", "$", "UNKNOWN")},
			bind:     bindJSONExists, build: buildJSONExists, show: showJSONExists,
		},
	}
	for _, is := range []struct {
		kind  string
		first string // the characters that such a value begins with
		yes   string
	}{{"", "", "1"}, {" VALUE", "", "null"}, {" SCALAR", "-0123456789\"tfn", `"a"`}, {" ARRAY", "[", "[1]"}, {" OBJECT", "{", `{"a":1}`}} {
		test := func(d row.Datum) bool {
			if s := jsonText(d.B); !d.Null && s.valid() {
				return is.first == "" || containsByte(is.first, s[s.space(0)])
			}
			return false
		}
		one := sig{params: []param{aString}, ret: returnsBool}
		name, not := "IS JSON"+is.kind, "IS NOT JSON"+is.kind
		fs = append(fs, &Function{
			Name: name, Category: JSON, Signature: "string " + name, Help: "TRUE if the string is valid JSON (of this kind); FALSE for NULL.",
			Examples: []Example{ex("TRUE", is.yes), ex("FALSE", nil), ex("FALSE", "{a:1}")}, bind: required(one), build: evalTest(test), show: showPostfix,
		}, &Function{
			Name: not, Category: JSON, Signature: "string " + not, Help: "The opposite of " + name + ".",
			Examples: []Example{ex("FALSE", is.yes), ex("TRUE", nil)}, bind: required(one),
			build: evalTest(func(d row.Datum) bool { return !test(d) }), show: showPostfix,
		})
	}
	return fs
}

func containsByte(s string, c byte) bool {
	for i := range len(s) {
		if s[i] == c {
			return true
		}
	}
	return false
}

// modeArg checks that argument i is one of the words of a clause.
func modeArg(e Expr, i int, words ...string) error {
	s, ok := constString(e)
	for _, w := range words {
		if ok && s == w {
			return nil
		}
	}
	return argErrorf(i, "argument %d must be one of %q, not %s", i+1, words, e)
}

// jsonArgs checks the document and the path.
func jsonArgs(args []Expr) ([]Expr, error) {
	out, err := sig{params: []param{aString, aString}}.check(args[:min(2, len(args))])
	if err != nil {
		return nil, err
	}
	if s, ok := constString(out[1]); ok {
		if _, err := compileJSONPath(s); err != nil {
			return nil, argErrorf(1, "%v", err)
		}
		return append(out, args[2:]...), nil
	}
	return nil, argErrorf(1, "the JSON path must be a constant string, not %s", out[1])
}

// pathOf compiles the path of a call.
func pathOf(call *Call) (*jsonPath, error) {
	s, _ := constString(call.Args[1])
	return compileJSONPath(s)
}

func bindJSONValue(args []Expr) ([]Expr, types.Type, error) {
	none := types.Type{}
	if len(args) != 2 && len(args) != 7 {
		return nil, none, argErrorf(-1, "takes a document and a path (and RETURNING, ON EMPTY, ON ERROR), not %d arguments", len(args))
	}
	args, err := jsonArgs(args)
	if err != nil {
		return nil, none, err
	}
	if len(args) == 2 {
		args = append(args, NullConst(types.String()), StringConst("NULL"), NullConst(types.String()), StringConst("NULL"), NullConst(types.String()))
	}
	t := args[2].Type().Nullable()
	if _, ok := castKernel(types.String(), t); !ok || t.Kind == types.Null {
		return nil, none, argErrorf(2, "JSON_VALUE cannot return %s", t)
	}
	for _, i := range []int{3, 5} {
		if err := modeArg(args[i], i, "NULL", "ERROR", "DEFAULT"); err != nil {
			return nil, none, err
		}
		if args[i+1].Type().Kind != types.Null {
			if common, ok := CommonType(t, args[i+1].Type()); !ok || !sameForm(common, t) && !t.IsNumeric() {
				return nil, none, argErrorf(i+1, "the default is %s, must be %s; write a CAST", args[i+1].Type().Nullable(), t)
			}
		}
		args[i+1] = coerce(args[i+1], t)
	}
	return args, t, nil
}

func buildJSONValue(call *Call, args []Fn) (Fn, error) {
	path, err := pathOf(call)
	if err != nil {
		return nil, err
	}
	k, ok := castKernel(types.String(), call.T)
	if !ok {
		return nil, fmt.Errorf("JSON_VALUE cannot return %s", call.T)
	}
	onEmpty, onError := jsonFallback(call, args, 3, true), jsonFallback(call, args, 5, true)
	return func(c *Ctx, r row.Row) row.Datum {
		doc := args[0](c, r)
		if doc.Null {
			return doc
		}
		w := c.walker()
		defer c.release(w)
		if err := w.find(doc.B, path); err != nil {
			if path.lax {
				return onEmpty(c, r, err)
			}
			return onError(c, r, err)
		}
		scalar, ok := scalarOf(w, path)
		switch {
		case len(scalar) > 0 && scalar[0] == 'n', !ok && path.lax:
			return onEmpty(c, r, errJSONMissing)
		case !ok:
			return onError(c, r, errJSONContainer)
		}
		d, err := jsonScalar(c, scalar)
		if err == nil && k != nil {
			d, err = k(c, d)
		}
		if err != nil {
			return onError(c, r, err)
		}
		return d
	}, nil
}

// scalarOf is the one raw scalar that was found.
func scalarOf(w *jsonWalk, p *jsonPath) ([]byte, bool) {
	if p.many || len(w.found) == 0 {
		return nil, false
	}
	v := w.found[0]
	return v, v[0] != '{' && v[0] != '['
}

// jsonScalar is the text of a raw scalar.
func jsonScalar(c *Ctx, v []byte) (row.Datum, error) {
	if v[0] != '"' {
		return row.Datum{B: v}, nil
	}
	at := len(c.scratch)
	buf, ok := unescape(c.scratch, v[1:len(v)-1])
	if !ok {
		return row.Datum{}, fmt.Errorf("the string holds half of a surrogate pair")
	}
	return c.done(buf, at), nil
}

// jsonFallback is what an ON EMPTY or ON ERROR clause asks for: argument i is its word, and the one after it
// its default value.
func jsonFallback(call *Call, args []Fn, i int, withDefault bool) func(c *Ctx, r row.Row, err error) row.Datum {
	word, _ := constString(call.Args[i])
	switch {
	case word == "ERROR":
		return func(c *Ctx, _ row.Row, err error) row.Datum { return c.fail(fmt.Errorf("%s: %w", call, err)) }
	case word == "DEFAULT" && withDefault:
		value := args[i+1]
		return func(c *Ctx, r row.Row, _ error) row.Datum { return value(c, r) }
	case word == "EMPTY ARRAY":
		d := row.String("[]")
		return func(*Ctx, row.Row, error) row.Datum { return d }
	case word == "EMPTY OBJECT":
		d := row.String("{}")
		return func(*Ctx, row.Row, error) row.Datum { return d }
	case word == "TRUE" || word == "FALSE":
		return func(*Ctx, row.Row, error) row.Datum { return row.Bool(word == "TRUE") }
	default:
		return func(*Ctx, row.Row, error) row.Datum { return row.NullDatum }
	}
}

func bindJSONQuery(args []Expr) ([]Expr, types.Type, error) {
	t := types.String()
	if len(args) != 2 && len(args) != 6 {
		return nil, t, argErrorf(-1, "takes a document and a path (and RETURNING, WRAPPER, ON EMPTY, ON ERROR), not %d arguments", len(args))
	}
	args, err := jsonArgs(args)
	if err != nil {
		return nil, t, err
	}
	if len(args) == 2 {
		args = append(args, NullConst(t), StringConst("WITHOUT"), StringConst("NULL"), StringConst("NULL"))
	}
	strings := types.ArrayOf(types.String())
	if t = args[2].Type().Nullable(); !t.IsString() && !t.Equal(strings) {
		return nil, t, argErrorf(2, "JSON_QUERY returns STRING or ARRAY<STRING>, not %s; write CAST(JSON_QUERY(…) AS …)", t)
	}
	if err := modeArg(args[3], 3, "WITHOUT", "CONDITIONAL", "UNCONDITIONAL"); err != nil {
		return nil, t, err
	}
	for i := 4; i < 6; i++ {
		word, _ := constString(args[i])
		if word == "EMPTY OBJECT" && t.Kind == types.Array {
			return nil, t, argErrorf(i, "EMPTY OBJECT is no ARRAY; write EMPTY ARRAY")
		}
		if err := modeArg(args[i], i, "NULL", "ERROR", "EMPTY ARRAY", "EMPTY OBJECT"); err != nil {
			return nil, t, err
		}
	}
	return args, t, nil
}

func buildJSONQuery(call *Call, args []Fn) (Fn, error) {
	path, err := pathOf(call)
	if err != nil {
		return nil, err
	}
	wrapper, _ := constString(call.Args[3])
	onEmpty, onError := jsonFallback(call, args, 4, false), jsonFallback(call, args, 5, false)
	document := func(c *Ctx, r row.Row) row.Datum {
		doc := args[0](c, r)
		if doc.Null {
			return doc
		}
		w := c.walker()
		defer c.release(w)
		err := w.find(doc.B, path)
		switch {
		case err != nil && !path.lax:
			return onError(c, r, err)
		case err != nil, !path.many && len(w.found) == 0, !path.many && w.found[0][0] == 'n':
			return onEmpty(c, r, errJSONMissing)
		}
		container := path.many || w.found[0][0] == '{' || w.found[0][0] == '['
		array := path.many || w.found[0][0] == '['
		wrap := wrapper == "UNCONDITIONAL" || wrapper == "CONDITIONAL" && !array
		switch {
		case wrap || container:
			return jsonQueryResult(c, w, path, wrap)
		case path.lax:
			return onEmpty(c, r, errJSONMissing)
		default:
			return onError(c, r, errJSONScalar)
		}
	}
	if call.T.Kind != types.Array {
		return document, nil
	}
	return func(c *Ctx, r row.Row) row.Datum {
		d := document(c, r)
		if !d.Null && d.B[0] != '[' {
			d = onError(c, r, errJSONObject)
		}
		if d.Null {
			return d
		}
		return jsonStrings(c, d.B)
	}, nil
}

// jsonStrings is the elements of an array that is known to be valid, as ARRAY<STRING>: the text of strings, NULL for
// null, and the JSON of the others.
func jsonStrings(c *Ctx, array jsonText) row.Datum {
	base := len(c.args)
	defer func() { c.args = c.args[:base] }()
	for i := array.space(1); array[i] != ']'; {
		end := array.value(i, 0)
		d := row.NullDatum
		if v := array[i:end]; v[0] != 'n' {
			var err error
			if d, err = jsonScalar(c, v); err != nil {
				return c.fail(err)
			}
		}
		c.args = append(c.args, d)
		if i = array.space(end); array[i] == ',' {
			i = array.space(i + 1)
		}
	}
	at := len(c.scratch)
	return c.done(row.AppendArray(c.scratch, types.PhysBytes, c.args[base:]), at)
}

func jsonQueryResult(c *Ctx, w *jsonWalk, p *jsonPath, wrap bool) row.Datum {
	buf, at := c.scratch, len(c.scratch)
	if wrap {
		buf = append(buf, '[')
	}
	if p.many {
		buf = append(buf, '[')
	}
	for i, v := range w.found {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = compact(buf, v)
	}
	if p.many {
		buf = append(buf, ']')
	}
	if wrap {
		buf = append(buf, ']')
	}
	return c.done(buf, at)
}

func bindJSONExists(args []Expr) ([]Expr, types.Type, error) {
	t := types.Of(types.Boolean)
	if len(args) != 2 && len(args) != 3 {
		return nil, t, argErrorf(-1, "takes a document and a path (and ON ERROR), not %d arguments", len(args))
	}
	args, err := jsonArgs(args)
	if err != nil {
		return nil, t, err
	}
	if len(args) == 2 {
		args = append(args, StringConst("FALSE"))
	}
	return args, t, modeArg(args[2], 2, "TRUE", "FALSE", "UNKNOWN", "ERROR")
}

func buildJSONExists(call *Call, args []Fn) (Fn, error) {
	path, err := pathOf(call)
	if err != nil {
		return nil, err
	}
	onError := jsonFallback(call, args, 2, false)
	return strictWith(args[0], func(c *Ctx, r row.Row, doc row.Datum) row.Datum {
		w := c.walker()
		defer c.release(w)
		if err := w.find(doc.B, path); err != nil && !path.lax {
			return onError(c, r, err)
		}
		return row.Bool(len(w.found) > 0)
	}), nil
}

// strictWith is strict1 for functions that hand the row on.
func strictWith(a Fn, f func(c *Ctx, r row.Row, x row.Datum) row.Datum) Fn {
	return func(c *Ctx, r row.Row) row.Datum {
		x := a(c, r)
		if x.Null {
			return x
		}
		return f(c, r, x)
	}
}

func showJSONValue(c *Call) string {
	s := "JSON_VALUE(" + list(c.Args[:2])
	if t := c.T.Nullable(); !t.Equal(types.String()) {
		s += " RETURNING " + t.String()
	}
	for i, clause := range []string{" ON EMPTY", " ON ERROR"} {
		switch word, _ := constString(c.Args[3+2*i]); word {
		case "DEFAULT":
			s += " DEFAULT " + c.Args[4+2*i].String() + clause
		case "ERROR":
			s += " ERROR" + clause
		}
	}
	return s + ")"
}

func showJSONQuery(c *Call) string {
	s := "JSON_QUERY(" + list(c.Args[:2])
	if t := c.T.Nullable(); !t.Equal(types.String()) {
		s += " RETURNING " + t.String()
	}
	if word, _ := constString(c.Args[3]); word != "WITHOUT" {
		s += " WITH " + word + " ARRAY WRAPPER"
	}
	for i, clause := range []string{" ON EMPTY", " ON ERROR"} {
		if word, _ := constString(c.Args[4+i]); word != "NULL" {
			s += " " + word + clause
		}
	}
	return s + ")"
}

func showJSONExists(c *Call) string {
	s := "JSON_EXISTS(" + list(c.Args[:2])
	if word, _ := constString(c.Args[2]); word != "FALSE" {
		s += " " + word + " ON ERROR"
	}
	return s + ")"
}
