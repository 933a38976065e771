package jsonrow

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sluicesql/sluice/connectors/format/jsonscan"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

var fuzzType = types.RowOf(
	types.Field{Name: "i", Type: types.Of(types.Int)},
	types.Field{Name: "l", Type: types.Of(types.BigInt)},
	types.Field{Name: "s", Type: types.String()},
	types.Field{Name: "d", Type: types.DecimalOf(38, 10)},
	types.Field{Name: "f", Type: types.Of(types.Double)},
	types.Field{Name: "b", Type: types.Of(types.Boolean)},
	types.Field{Name: "a", Type: types.ArrayOf(types.Of(types.BigInt))},
	types.Field{Name: "r", Type: types.RowOf(types.Field{Name: "i", Type: types.Of(types.TinyInt).Required()}, types.Field{Name: "é", Type: types.String()})},
	types.Field{Name: "m", Type: types.MapOf(types.String(), types.String())},
)

var fuzzSeeds = []string{
	`{"i":1,"l":9007199254740993,"s":"x","d":1.50,"f":1e3,"b":true,"a":[1,2],"r":{"i":1,"é":"y"},"m":{"k":"v"}}`,
	`{"i":1.0,"l":"12","s":{"a": [1 , "b"]},"d":"0.0000000001","f":"NaN","b":"false","a":[],"r":null,"m":{}}`,
	`{"i":2147483648}`, `{"i":1e1}`, `{"l":9223372036854775808}`, `{"l":-9223372036854775808}`, `{"d":0.00000000001}`, `{"d":1e28}`, `{"d":"1."}`, `{"d":"+.5"}`,
	`{"id":5,"I":1,"i":2}`, `{"i":1,"i":2}`, `{"i":null,"s":null}`, `{"\u0069":7}`, `{"r":{"é":1}}`, `{"r":{"i":128}}`, `{"m":{"k":1,"l":null,"k":[ 2 ]}}`, `{"m":{"\u006b":1,"k":2}}`,
	`{"s":"\ud83d\ude00"}`, `{"s":"\ud83d"}`, "{\"s\":\"\xff\"}", `{"s":1.0E+2}`, `{"s":-0}`, `{"f":-0}`, `{"f":1e999}`, `{"b":1}`, `{"b":0.0}`, `{"a":[1,null,"3"]}`, `{"a":[1,[2]]}`,
	`[]`, `null`, `1`, `{`, `{"i":01}`, `{"i":1}x`, `{"s":"a` + "\n" + `"}`, `{"s":[` + strings.Repeat("[", 501) + strings.Repeat("]", 501) + `]}`,
}

var errReference = errors.New("no value of the type")

// reference is what encoding/json with exact numbers makes of a value.
func reference(t types.Type, raw json.RawMessage) (string, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if raw == nil {
		raw = json.RawMessage("null")
	} else if err := d.Decode(&v); err != nil {
		return "", err
	}
	if v == nil {
		if t.NotNull {
			return "", errReference
		}
		return "NULL", nil
	}
	word := ""
	switch v := v.(type) {
	case string:
		word = v
	case json.Number:
		word = v.String()
	case bool:
		word = strconv.FormatBool(v)
	}
	_, isBool := v.(bool)
	switch {
	case t.IsString():
		if word == "" {
			if s, ok := v.(string); ok {
				return s, nil
			}
			var b bytes.Buffer
			err := json.Compact(&b, raw)
			return b.String(), err
		}
		return word, nil
	case t.Kind == types.Boolean:
		low := strings.ToLower(strings.TrimSpace(word))
		_, isNumber := v.(json.Number)
		switch {
		case isNumber && word == "1", !isNumber && low == "true":
			return "TRUE", nil
		case isNumber && word == "0", !isNumber && low == "false":
			return "FALSE", nil
		}
		return "", errReference
	case t.IsNumeric() && !isBool && word != "":
		return referenceNumber(t, strings.TrimSpace(word))
	}
	switch t.Kind {
	case types.Array:
		var elems []json.RawMessage
		if json.Unmarshal(raw, &elems) != nil {
			return "", errReference
		}
		return join("[", "]", len(elems), func(i int) (string, error) { return reference(*t.Elem, orNull(elems[i])) })
	case types.Row:
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil {
			return "", errReference
		}
		return join("(", ")", len(t.Fields), func(i int) (string, error) { return reference(t.Fields[i].Type, members[t.Fields[i].Name]) })
	case types.Map:
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil {
			return "", errReference
		}
		names := order(raw)
		return join("{", "}", len(names), func(i int) (string, error) {
			v, err := reference(*t.Elem, members[names[i]])
			return names[i] + "=" + v, err
		})
	}
	return "", errReference
}

func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}

func join(open, end string, n int, f func(i int) (string, error)) (string, error) {
	parts := make([]string, n)
	for i := range parts {
		var err error
		if parts[i], err = f(i); err != nil {
			return "", err
		}
	}
	return open + strings.Join(parts, ", ") + end, nil
}

// order are the names of an object's members, each where it comes first.
func order(raw []byte) (names []string) {
	d := json.NewDecoder(bytes.NewReader(raw))
	seen := map[string]bool{}
	_, _ = d.Token()
	for d.More() {
		name, _ := d.Token()
		if s, ok := name.(string); ok && !seen[s] {
			seen[s] = true
			names = append(names, s)
		}
		var skip json.RawMessage
		if d.Decode(&skip) != nil {
			return names
		}
	}
	return names
}

func referenceNumber(t types.Type, word string) (string, error) {
	if t.Kind == types.Double {
		if strings.ContainsAny(word, "xXpP_") {
			return "", errReference
		}
		f, err := strconv.ParseFloat(word, 64)
		return string(text.AppendFloat(nil, f, 64)), err
	}
	digits := strings.TrimLeft(word, "+-")
	if mantissa, exponent, ok := strings.Cut(strings.ToLower(digits), "e"); ok {
		if e, err := strconv.Atoi(exponent); err != nil || e > 1000 || e < -1000 {
			// Too much for big.Rat, and for every type unless the number is zero.
			if strings.Trim(mantissa, "0.") != "" || strings.Trim(exponent, "+-0123456789") != "" || strings.TrimLeft(exponent, "+-") == "" || strings.Trim(mantissa, ".") == "" || strings.Count(mantissa, ".") > 1 {
				return "", errReference
			}
			if _, err := strconv.Atoi(exponent); err != nil && !errors.Is(err, strconv.ErrRange) {
				return "", errReference
			}
			digits, word = "0", "0"
		}
	}
	if digits == "" || strings.Trim(digits, "0123456789.eE+-") != "" || len(word)-len(digits) > 1 {
		return "", errReference
	}
	r, ok := new(big.Rat).SetString(word)
	if !ok {
		return "", errReference
	}
	scale := 0
	if t.Kind == types.Decimal {
		scale = t.Scale
	}
	r.Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)))
	if !r.IsInt() {
		return "", errReference
	}
	n := r.Num()
	if t.Kind == types.Decimal {
		if len(new(big.Int).Abs(n).String()) > t.Precision {
			return "", errReference
		}
		return new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)).FloatString(scale), nil
	}
	lo, hi := text.IntRange(t.Kind)
	if !n.IsInt64() || n.Int64() < lo || n.Int64() > hi {
		return "", errReference
	}
	return n.String(), nil
}

// lax reports what encoding/json lets through and the scanner does not.
func lax(msg []byte) bool {
	if !utf8.Valid(msg) {
		return true
	}
	depth, high := 0, false
	for i, inString := 0, false; i < len(msg); i++ {
		surrogate := 0
		switch c := msg[i]; {
		case inString && c == '\\':
			i++
			if msg[i] == 'u' {
				n, _ := strconv.ParseUint(string(msg[i+1:i+5]), 16, 16)
				i += 4
				if n >= 0xD800 && n < 0xE000 {
					surrogate = 1 + int(n-0xD800)/0x400
				}
			}
		case c == '"':
			inString = !inString
		case !inString && (c == '{' || c == '['):
			if depth++; depth > jsonscan.MaxDepth {
				return true
			}
		case !inString && (c == '}' || c == ']'):
			depth--
		}
		if high != (surrogate == 2) {
			return true
		}
		high = surrogate == 1
	}
	return false
}

// FuzzDecode holds the scanner, in its general and its predicting form, and the path by go-json to
// encoding/json with exact numbers: the same row, or all refuse the message.
func FuzzDecode(f *testing.F) {
	for i, s := range fuzzSeeds {
		f.Add([]byte(s), []byte(fuzzSeeds[(i*5+1)%len(fuzzSeeds)]))
	}
	fields := make([]Field, len(fuzzType.Fields))
	phys := make([]types.Phys, len(fields))
	for i, c := range fuzzType.Fields {
		fields[i], phys[i] = Field{Name: c.Name, Type: c.Type, Out: i}, c.Type.Phys()
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		read, err := NewFields(fields)
		if err != nil {
			t.Fatal(err)
		}
		d := Decoder{Rules: Rules{Format: "json"}}
		show := func(b *row.Builder) string {
			return string(text.Append(nil, fuzzType, row.Bytes(b.Finish(phys)), nil))
		}
		for _, msg := range [][]byte{a, a, b, a, b} {
			want, refused := "", errReference
			if json.Valid(msg) && !lax(msg) && bytes.TrimSpace(msg)[0] == '{' {
				want, refused = reference(fuzzType, msg)
			}
			var rb row.Builder
			rb.Begin(nil, len(fields))
			var tok jsonscan.Token
			err := d.Begin(msg, read.Shape(), &tok)
			if err == nil && tok.Kind != jsonscan.Object {
				err = d.NoObject(&tok)
			}
			if err == nil {
				err = d.Row(read, &rb)
			}
			if (err == nil) != (refused == nil) {
				t.Fatalf("%q: scanner %v, encoding/json %v (%s)", msg, err, refused, want)
			}
			if err == nil {
				if got := show(&rb); got != want {
					t.Fatalf("%q\nscanner       %s\nencoding/json %s", msg, got, want)
				}
			}
			rb.Begin(nil, len(fields))
			object, err := d.Cold(read, msg, &rb)
			if err == nil && !object {
				err = errReference
			}
			if (err == nil) != (refused == nil) {
				t.Fatalf("%q: go-json %v, encoding/json %v (%s)", msg, err, refused, want)
			}
			if err == nil {
				if got := show(&rb); got != want {
					t.Fatalf("%q\ngo-json       %s\nencoding/json %s", msg, got, want)
				}
			}
		}
	})
}
