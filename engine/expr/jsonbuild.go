package expr

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sluicesql/sluice/engine/decimal"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/fault"
)

// jsonBuildFunctions are those that make JSON.
func jsonBuildFunctions() []*Function {
	null := NullConst(types.String())
	array := must(arrayFunction().call(ex("", 1, 2).Args))
	quoted := sig{params: []param{aString}, ret: returnsString}
	return []*Function{
		{
			Name: "JSON_STRING", Category: JSON, Signature: "JSON_STRING(value)",
			Help:     "The value written as JSON, binary strings in base64, times as ISO 8601; NULL for NULL.",
			Examples: []Example{ex("1", 1), ex(`"Hello \"World\""`, `Hello "World"`), ex("[1,2]", array), ex("1.50", dec("1.50", 3, 2)), ex(`"2024-02-29T12:34:56.789"`, timestamp("2024-02-29 12:34:56.789")), ex("true", true), ex("NULL", null)},
			bind:     bindJSONString, bytes: jsonStringBytes,
		},
		{
			Name: "JSON_OBJECT", Category: JSON, Signature: "JSON_OBJECT([[KEY] key VALUE value, …] [{NULL | ABSENT} ON NULL])",
			Help:     "An object of the keys and values; a JSON_OBJECT, JSON_ARRAY or JSON inside is nested, other strings are quoted; without a clause NULLs are written.",
			Examples: []Example{ex(`{"a":1,"b":"x"}`, "NULL", "a", 1, "b", "x"), ex(`{"a":null}`, "NULL", "a", null), ex("{}", "ABSENT", "a", null), ex("{}", "NULL")},
			bind:     bindJSONObject, bytes: jsonObjectBytes, show: showJSONObject,
		},
		{
			Name: "JSON_ARRAY", Category: JSON, Signature: "JSON_ARRAY([value, …] [{NULL | ABSENT} ON NULL])",
			Help:     "An array of the values; a JSON_OBJECT, JSON_ARRAY or JSON inside is nested, other strings are quoted; without a clause NULLs are left out.",
			Examples: []Example{ex(`[1,"2"]`, "ABSENT", 1, "2"), ex("[]", "ABSENT", null), ex("[null]", "NULL", null), ex("[]", "ABSENT")},
			bind:     bindJSONArray, bytes: jsonArrayBytes, show: showJSONArray,
		},
		{
			Name: "JSON", Category: JSON, Signature: "JSON(string)", Help: "The text of a document, to be nested in JSON_OBJECT and JSON_ARRAY as it is; an error if it is no JSON.",
			Examples: []Example{ex(`{"a": 1}`, `{"a": 1}`), ex("error: no JSON", "{a}"), ex("NULL", null)},
			bind:     quoted.bind, build: eval1(jsonRaw),
		},
		{
			Name: "JSON_QUOTE", Category: JSON, Signature: "JSON_QUOTE(string)", Help: "The string as a JSON string, in quotes; quotes, backslashes, slashes, control characters and all beyond ASCII are escaped.",
			Examples: []Example{ex(`"a\tb\"c"`, "a\tb\"c"), ex(`"\u00e9\/\ud83d\ude00"`, "é/😀"), ex("NULL", null)},
			bind:     quoted.bind,
			bytes:    bytesOfBytes(jsonQuote),
		},
		{
			Name: "JSON_UNQUOTE", Category: JSON, Signature: "JSON_UNQUOTE(string)", Help: "The text of a JSON string; what is none stays as it is.",
			Examples: []Example{ex("a\tbé", `"a\tb\u00e9"`), ex("abc", "abc"), ex(`"a`, `"a`), ex(`"\x"`, `"\x"`), ex("NULL", null)},
			bind:     quoted.bind, bytes: bytesOfBytes(jsonUnquote),
		},
	}
}

// AppendJSON returns the function that appends values of a type as JSON, those of TIMESTAMP_LTZ in UTC. It is
// an error for a type that JSON has no form for: intervals, and maps whose keys are no strings. The function's
// errors are values without a form: NaN, infinities, NULL as the key of a map.
func AppendJSON(t types.Type) (func(buf []byte, d row.Datum) ([]byte, error), error) {
	w, err := jsonWriterOf(t)
	if err != nil {
		return nil, err
	}
	return func(buf []byte, d row.Datum) ([]byte, error) {
		if d.Null {
			return append(buf, "null"...), nil
		}
		return w(buf, d)
	}, nil
}

// jsonWriter appends a value that is not NULL.
type jsonWriter = func(buf []byte, d row.Datum) ([]byte, error)

func jsonWriterOf(t types.Type) (jsonWriter, error) {
	switch t.Kind {
	case types.Null:
		return func(buf []byte, _ row.Datum) ([]byte, error) { return append(buf, "null"...), nil }, nil
	case types.Boolean:
		return func(buf []byte, d row.Datum) ([]byte, error) { return strconv.AppendBool(buf, d.I != 0), nil }, nil
	case types.Char, types.Varchar:
		return func(buf []byte, d row.Datum) ([]byte, error) { return text.AppendJSONString(buf, d.B), nil }, nil
	case types.Binary, types.Varbinary:
		return func(buf []byte, d row.Datum) ([]byte, error) {
			return append(base64.StdEncoding.AppendEncode(append(buf, '"'), d.B), '"'), nil
		}, nil
	case types.Decimal:
		return func(buf []byte, d row.Datum) ([]byte, error) {
			return decimal.Append(buf, decimal.Load(t.Precision, d), t.Scale), nil
		}, nil
	case types.Float, types.Double:
		return func(buf []byte, d row.Datum) ([]byte, error) {
			if f := d.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
				return buf, fmt.Errorf("JSON has no number %v", f)
			}
			return text.Append(buf, t, d, nil), nil
		}, nil
	case types.Date, types.Time, types.Timestamp, types.TimestampLTZ:
		return func(buf []byte, d row.Datum) ([]byte, error) { return appendISO(buf, t, d), nil }, nil
	case types.Array:
		return jsonArrayWriter(*t.Elem)
	case types.Map:
		return jsonMapWriter(t)
	case types.Row:
		return jsonRowWriter(t.Fields)
	}
	if t.IsInteger() {
		return func(buf []byte, d row.Datum) ([]byte, error) { return strconv.AppendInt(buf, d.I, 10), nil }, nil
	}
	return nil, fmt.Errorf("JSON has no form for %s; write a CAST", t.Nullable())
}

// appendISO writes 2024-02-29T12:34:56.789, and a Z after an instant.
func appendISO(buf []byte, t types.Type, d row.Datum) []byte {
	buf = append(buf, '"')
	from := len(buf)
	buf = text.Append(buf, t, d, time.UTC)
	for i := from; i < len(buf); i++ {
		if buf[i] == ' ' {
			buf[i] = 'T'
		}
	}
	return append(buf, zoneSuffix(t)+`"`...)
}

func jsonArrayWriter(elem types.Type) (jsonWriter, error) {
	w, err := AppendJSON(elem)
	p := elem.Phys()
	return func(buf []byte, d row.Datum) ([]byte, error) {
		buf = append(buf, '[')
		for i, elems := 0, row.ArrayRow(d.B); i < row.ArrayLen(d.B); i++ {
			if i > 0 {
				buf = append(buf, ',')
			}
			var err error
			if buf, err = w(buf, elems.Get(i, p)); err != nil {
				return buf, err
			}
		}
		return append(buf, ']'), nil
	}, err
}

func jsonMapWriter(t types.Type) (jsonWriter, error) {
	if !t.Key.IsString() {
		return nil, fmt.Errorf("JSON has no form for %s: the keys must be strings; write a CAST", t.Nullable())
	}
	w, err := AppendJSON(*t.Elem)
	p := t.Elem.Phys()
	return func(buf []byte, d row.Datum) ([]byte, error) {
		keys, values := row.MapArrays(d.B)
		buf = append(buf, '{')
		for i := range row.ArrayLen(keys) {
			if i > 0 {
				buf = append(buf, ',')
			}
			key := row.ArrayRow(keys).Get(i, types.PhysBytes)
			if key.Null {
				return buf, errors.New("JSON has no form for a map with the key NULL")
			}
			buf = append(text.AppendJSONString(buf, key.B), ':')
			var err error
			if buf, err = w(buf, row.ArrayRow(values).Get(i, p)); err != nil {
				return buf, err
			}
		}
		return append(buf, '}'), nil
	}, err
}

func jsonRowWriter(fields []types.Field) (jsonWriter, error) {
	writers := make([]jsonWriter, len(fields))
	labels := make([]string, len(fields))
	for i, f := range fields {
		var err error
		if writers[i], err = AppendJSON(f.Type); err != nil {
			return nil, err
		}
		label := []byte{','}
		if i == 0 {
			label = nil
		}
		labels[i] = string(append(text.AppendJSONString(label, []byte(f.Name)), ':'))
	}
	return func(buf []byte, d row.Datum) ([]byte, error) {
		buf = append(buf, '{')
		for i, f := range fields {
			buf = append(buf, labels[i]...)
			var err error
			if buf, err = writers[i](buf, row.Row(d.B).Get(i, f.Type.Phys())); err != nil {
				return buf, err
			}
		}
		return append(buf, '}'), nil
	}, nil
}

func bindJSONString(args []Expr) ([]Expr, types.Type, error) {
	args, t, err := sig{params: []param{anything}, ret: returnsString}.bind(args)
	if err == nil {
		err = jsonForms(args, 0)
	}
	return args, t, err
}

// jsonForms checks that JSON has forms for the arguments from index i on.
func jsonForms(args []Expr, i int) error {
	for ; i < len(args); i++ {
		if _, err := jsonWriterOf(args[i].Type()); err != nil {
			return argErrorf(i, "%v", err)
		}
	}
	return nil
}

// jsonPart appends an argument to the text being built; null tells a NULL, of which nothing is appended.
type jsonPart func(c *Ctx, r row.Row) (null bool)

// jsonPartOf writes an argument's value, or nests it as it is.
func jsonPartOf(e Expr, nested bool) (jsonPart, error) {
	f, err := Compile(e)
	if err != nil {
		return nil, err
	}
	if nested {
		return func(c *Ctx, r row.Row) bool {
			d := f(c, r)
			c.building = append(c.building, d.B...)
			return d.Null
		}, nil
	}
	w, err := jsonWriterOf(e.Type())
	return func(c *Ctx, r row.Row) bool {
		d := f(c, r)
		if d.Null {
			return true
		}
		var err error
		if c.building, err = w(c.building, d); err != nil {
			c.fail(err)
		}
		return false
	}, err
}

func jsonStringBytes(call *Call) (bytesFn, error) {
	part, err := jsonPartOf(call.Args[0], false)
	return func(c *Ctx, r row.Row) ([]byte, bool) {
		at := c.push()
		null := part(c, r)
		return c.pop(at), null
	}, err
}

// jsonMode is the first argument of a bound JSON_OBJECT or JSON_ARRAY: the word of ON NULL, and then for each of the
// other arguments a j if it is nested as it is, or a v. Nesting follows from how the call is written, and so must not
// change when arguments are folded or replaced.
func jsonMode(args []Expr) (Expr, error) {
	if len(args) == 0 {
		return nil, argErrorf(-1, "takes 'NULL' or 'ABSENT' first")
	}
	if err := modeArg(args[0], 0, "NULL", "ABSENT"); err != nil {
		return nil, err
	}
	mode, _ := constString(args[0])
	mode += " "
	for _, a := range args[1:] {
		form := "v"
		if call, ok := a.(*Call); ok && (call.Fn.Name == "JSON_OBJECT" || call.Fn.Name == "JSON_ARRAY" || call.Fn.Name == "JSON") {
			form = "j"
		}
		mode += form
	}
	return StringConst(mode), nil
}

// readJSONMode is the reverse of jsonMode.
func readJSONMode(call *Call) (absent bool, nested func(arg int) bool) {
	mode, _ := constString(call.Args[0])
	word, forms, _ := strings.Cut(mode, " ")
	return word == "ABSENT", func(arg int) bool { return forms[arg-1] == 'j' }
}

func bindJSONObject(args []Expr) ([]Expr, types.Type, error) {
	t := types.String().Required()
	mode, err := jsonMode(args)
	if err != nil {
		return nil, t, err
	}
	if len(args)%2 == 0 {
		return nil, t, argErrorf(-1, "takes pairs of a key and a value")
	}
	out := append([]Expr{mode}, args[1:]...)
	for i := 1; i < len(out); i += 2 {
		key, err := aString.take(out[i], i)
		if err != nil {
			return nil, t, err
		}
		if k, ok := key.(*Const); ok && k.Value.Null {
			return nil, t, argErrorf(i, "the key must not be NULL")
		}
		out[i] = key
	}
	return out, t, jsonForms(out, 1)
}

func jsonObjectBytes(call *Call) (bytesFn, error) {
	absent, nested := readJSONMode(call)
	n := len(call.Args) / 2
	keys, values := make([]bytesFn, n), make([]jsonPart, n)
	for i := range n {
		var err error
		if keys[i], err = compileBytes(call.Args[1+2*i]); err != nil {
			return nil, err
		}
		if values[i], err = jsonPartOf(call.Args[2+2*i], nested(2+2*i)); err != nil {
			return nil, err
		}
	}
	return func(c *Ctx, r row.Row) ([]byte, bool) {
		at := c.push()
		c.building = append(c.building, '{')
		for i := range keys {
			key, null := keys[i](c, r)
			if null {
				c.fail(fault.Errorf(fault.RowValue, "JSON_OBJECT: a key is NULL").
					Fix("write COALESCE(key, '…')"))
			}
			before := len(c.building)
			if before > at+1 {
				c.building = append(c.building, ',')
			}
			c.building = append(text.AppendJSONString(c.building, key), ':')
			c.addPart(values[i], r, absent, before)
		}
		c.building = append(c.building, '}')
		return c.pop(at), false
	}, nil
}

func bindJSONArray(args []Expr) ([]Expr, types.Type, error) {
	t := types.String().Required()
	mode, err := jsonMode(args)
	if err != nil {
		return nil, t, err
	}
	return append([]Expr{mode}, args[1:]...), t, jsonForms(args, 1)
}

func jsonArrayBytes(call *Call) (bytesFn, error) {
	absent, nested := readJSONMode(call)
	parts := make([]jsonPart, len(call.Args)-1)
	for i := range parts {
		var err error
		if parts[i], err = jsonPartOf(call.Args[i+1], nested(i+1)); err != nil {
			return nil, err
		}
	}
	return func(c *Ctx, r row.Row) ([]byte, bool) {
		at := c.push()
		c.building = append(c.building, '[')
		for _, part := range parts {
			before := len(c.building)
			if before > at+1 {
				c.building = append(c.building, ',')
			}
			c.addPart(part, r, absent, before)
		}
		c.building = append(c.building, ']')
		return c.pop(at), false
	}, nil
}

// push begins a text that is built while other expressions are evaluated, which may use the scratch memory and
// build texts of their own; pop moves the text from offset at on into the scratch memory.
func (c *Ctx) push() (at int) { return len(c.building) }

func (c *Ctx) pop(at int) []byte {
	from := len(c.scratch)
	out := c.keep(append(c.scratch, c.building[at:]...), from)
	c.building = c.building[:at]
	return out
}

// addPart adds a value to the text being built; of a NULL either null, or nothing, and then nothing of what was
// built after offset before either.
func (c *Ctx) addPart(part jsonPart, r row.Row, absent bool, before int) {
	switch null := part(c, r); {
	case null && absent:
		c.building = c.building[:before]
	case null:
		c.building = append(c.building, "null"...)
	}
}

func showJSONObject(c *Call) string {
	s := "JSON_OBJECT("
	for i := 1; i < len(c.Args); i += 2 {
		if i > 1 {
			s += ", "
		}
		s += "KEY " + c.Args[i].String() + " VALUE " + c.Args[i+1].String()
	}
	if absent, _ := readJSONMode(c); absent {
		s += " ABSENT ON NULL"
	}
	return s + ")"
}

func showJSONArray(c *Call) string {
	s := "JSON_ARRAY(" + list(c.Args[1:])
	if absent, _ := readJSONMode(c); !absent {
		s += " NULL ON NULL"
	}
	return s + ")"
}

func jsonRaw(c *Ctx, a row.Datum) row.Datum {
	if !jsonText(a.B).valid() {
		return c.fail(fmt.Errorf("JSON: %s is no JSON", shorten(a.B)))
	}
	return a
}

// jsonQuote escapes more than JSON needs, as Flink does.
func jsonQuote(c *Ctx, b []byte) []byte {
	at := len(c.scratch)
	buf := append(c.scratch, '"')
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == '/':
			buf = append(buf, '\\', '/')
		case r <= '~':
			quoted := text.AppendJSONString(buf, b[:n])
			buf = append(buf, quoted[len(buf)+1:len(quoted)-1]...)
		case r > math.MaxUint16:
			hi, lo := utf16.EncodeRune(r)
			buf = appendU(appendU(buf, hi), lo)
		default:
			buf = appendU(buf, r)
		}
		b = b[n:]
	}
	return c.keep(append(buf, '"'), at)
}

// appendU appends a code unit of UTF-16 as an escape.
func appendU(buf []byte, r rune) []byte {
	return text.AppendHex(append(buf, '\\', 'u'), []byte{byte(r >> 8), byte(r)})
}

func jsonUnquote(c *Ctx, b []byte) []byte {
	if len(b) < 2 || b[0] != '"' || jsonText(b).str(0) != len(b) {
		return b
	}
	at := len(c.scratch)
	buf, ok := unescape(c.scratch, b[1:len(b)-1])
	if !ok {
		return b
	}
	return c.keep(buf, at)
}

// shorten quotes a text for an error, cut when it is long.
func shorten(b []byte) string {
	const most = 100
	if len(b) > most {
		return quote(b[:skip(b, most)]) + "…"
	}
	return quote(b)
}
