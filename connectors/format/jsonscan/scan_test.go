package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// valid is what the scanner should accept: what encoding/json does, which is laxer in UTF-8, surrogates
// and depth.
func valid(msg []byte) bool {
	return json.Valid(msg) && utf8.Valid(msg) && !loneSurrogate(msg) && depthOf(msg) <= MaxDepth
}

func depthOf(msg []byte) int {
	depth, deepest, inString := 0, 0, false
	for i := 0; i < len(msg); i++ {
		switch c := msg[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case !inString && (c == '{' || c == '['):
			depth++
			deepest = max(deepest, depth)
		case !inString && (c == '}' || c == ']'):
			depth--
		}
	}
	return deepest
}

// loneSurrogate looks for an escaped surrogate without its other half in valid JSON.
func loneSurrogate(msg []byte) bool {
	high := false
	for i := 0; i < len(msg); i++ {
		var r rune
		if msg[i] == '\\' {
			i++
			if msg[i] == 'u' {
				r = hex4(msg, i+1)
				i += 4
			}
		}
		low := r >= 0xDC00 && r <= 0xDFFF
		if high != low {
			return true
		}
		high = r >= 0xD800 && r <= 0xDBFF
	}
	return high
}

// check compares what sh found in msg with encoding/json.
func check(t *testing.T, s *Scanner, sh *Shape, msg []byte) {
	t.Helper()
	var tok Token
	err := s.Scan(msg, sh, &tok)
	if want := valid(msg); (err == nil) != want {
		t.Fatalf("%q: error %v, want valid %v", msg, err, want)
	}
	if err != nil {
		var e *SyntaxError
		if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(msg) || e.Msg == "" {
			t.Fatalf("%q: bad error %#v", msg, err)
		}
		return
	}
	checkToken(t, msg, bytes.TrimSpace(msg), &tok)
	checkMembers(t, msg, tok.Raw(msg), sh, &tok)
}

func checkMembers(t *testing.T, msg, raw []byte, sh *Shape, tok *Token) {
	t.Helper()
	if tok.Kind != Object || sh == nil {
		return
	}
	var want map[string]json.RawMessage
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	for k, m := range sh.members {
		w, has := want[m.Name]
		got := sh.Token(k)
		if !has {
			if got.Kind != Absent {
				t.Fatalf("%q: member %q is %+v, want none", msg, m.Name, got)
			}
			continue
		}
		checkToken(t, msg, w, got)
		checkMembers(t, msg, w, m.Sub, got)
	}
}

func checkToken(t *testing.T, msg, want []byte, got *Token) {
	t.Helper()
	if string(got.Raw(msg)) != string(want) {
		t.Fatalf("%q: token %q (%+v), want %q", msg, got.Raw(msg), got, want)
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(want))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	ok := false
	switch v := v.(type) {
	case nil:
		ok = got.Kind == Null
	case bool:
		ok = got.Kind == True && v || got.Kind == False && !v
	case string:
		ok = got.Kind == String && string(got.Bytes(msg)) == v && !bytes.Contains(want, []byte{'\\'}) ||
			got.Kind == Escaped && string(AppendUnescaped(nil, got.Bytes(msg))) == v
	case json.Number:
		n, err := v.Int64()
		plain := err == nil && v.String() != "-0"
		ok = plain && got.Kind == Int && got.I == n || !plain && got.Kind == Number
	case map[string]any:
		ok = got.Kind == Object
	case []any:
		ok = got.Kind == Array
	}
	if !ok {
		t.Fatalf("%q: token %+v for %q", msg, got, want)
	}
}

func testShape() *Shape {
	return NewShape([]Member{
		{Name: "a"},
		{Name: "b", Sub: NewShape([]Member{{Name: "x"}, {Name: "é\n"}})},
		{Name: ""},
	})
}

var seeds = []string{
	`{"a":1,"b":{"x":2,"y":[1,2,{"z":null}],"é\n":"s"},"c":{"d":1,"e":"f"},"":"t"}`,
	`{"a":1}`, `{"a":1,"a":2}`, `{"b":{"x":1},"b":{"y":1}}`, `{"b":{"x":1},"b":null}`, `{"\u0061":1,"A":2}`,
	`{}`, ` { } `, `[]`, ` [ 1 , 2 ] `, `null`, `true`, `false`, `nul`, `truefalse`, ``, ` `, `{`, `{"`, `{"a`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`,
	`{"a":1,}`, `{,}`, `{"a" 1}`, `{a:1}`, `[1,]`, `[,1]`, `[1 2]`, `{"a":1}x`, `{"a":1}{}`, `"`, `"\`, `"\"`, `"\x"`, `"\u12"`, `"\u12G4"`,
	`"\ud83d\ude00"`, `"\ud83d"`, `"\ude00"`, `"\ud83dx"`, `"\ud83d\u0041"`, `"\ud83d\ud83d\ude00"`, `"\"\\\/\b\f\n\r\t\u00e9\u20ac"`,
	"\"\xff\"", "\"\xc3\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"é€😀\"", "\"a\nb\"", "\"01234567\x1f\"", "\"\x7f\"",
	`0`, `-0`, `-`, `01`, `-01`, `1.`, `.1`, `1.5`, `1e5`, `1E+5`, `1e-5`, `1e`, `1e+`, `+1`, `0x1`, `1_0`, `NaN`,
	`123456789012345678`, `1234567890123456789`, `9223372036854775807`, `-9223372036854775808`, `9223372036854775808`, `-123456789012345678`,
	`0.00000000000000000000001`, `12345678901234567890123456789012345678.123456789`, `[00]`, `{"c":00}`, `{"c":-}`, `{"c":12345678}`, `{"c":123456789}`,
	"\ufeff{}", "{\"a\":1}\x00",
}

func TestScan(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	all := append([]string{deep(MaxDepth), deep(MaxDepth + 1), strings.Repeat(`{"b":`, MaxDepth) + "1" + strings.Repeat("}", MaxDepth),
		strings.Repeat(`{"b":`, MaxDepth+1) + "1" + strings.Repeat("}", MaxDepth+1), strings.Repeat("[", 1e6)}, seeds...)
	var s Scanner
	for _, msg := range all {
		check(t, &s, testShape(), []byte(msg))
	}
	// A shape that has learned from each message before reads every other alike.
	sh := testShape()
	for range 3 {
		for _, msg := range all {
			check(t, &s, sh, []byte(msg))
			check(t, &s, sh, []byte(msg))
		}
	}
}

// TestSpecialBytes puts each byte at each place of a word, for the scanner that takes eight at once.
func TestSpecialBytes(t *testing.T) {
	var s Scanner
	for c := range 256 {
		for at := range 17 {
			for _, more := range []int{0, 1, 9} {
				msg := []byte(`"` + strings.Repeat("y", at) + string([]byte{byte(c)}) + strings.Repeat("z", more) + `"`)
				check(t, &s, nil, msg)
				num := []byte("1" + strings.Repeat("2", at) + string([]byte{byte(c)}) + strings.Repeat("3", more))
				check(t, &s, nil, num)
			}
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for _, c := range []struct {
		msg    string
		offset int
		text   string
	}{
		{``, 0, "the message ends where a value should be"},
		{`{"a":1`, 6, `the message ends where "," or "}" should be`},
		{`{"a":"x`, 7, "the message ends within a string"},
		{`{"a":é}`, 5, `'é' stands where a value should be`},
		{"{\"a\":\xff}", 5, "byte 0xff stands where a value should be"},
		{"{\"a\":\"\xff\"}", 6, "invalid UTF-8"},
		{"{\"a\":\"\x01\"}", 6, "control character 0x01 within a string"},
		{`{"a":"\q"}`, 6, "unknown escape within a string"},
		{`{"a":"\ud800"}`, 6, "lone surrogate within a string"},
		{`{"a":1}]`, 7, `']' stands where the end of the message should be`},
		{`{"a":01}`, 6, `'1' stands where "," or "}" should be`},
		{`{"a":1.}`, 7, `'}' stands where a digit should be`},
		{`{"a":nil}`, 5, `'n' stands where a value should be`},
	} {
		var s Scanner
		var tok Token
		var e *SyntaxError
		if err := s.Scan([]byte(c.msg), testShape(), &tok); !errors.As(err, &e) || e.Offset != c.offset || e.Msg != c.text {
			t.Errorf("%q: %v", c.msg, err)
		}
	}
}

func TestIterate(t *testing.T) {
	msg := []byte(`{"a": [ 1 , {"x": [2], "x":3} , "z" ] , "b":{ "k\n" : 1 , "l":{"x":5} } }`)
	var s Scanner
	var tok Token
	sh := NewShape([]Member{{Name: "a"}, {Name: "b"}})
	if err := s.Scan(msg, sh, &tok); err != nil {
		t.Fatal(err)
	}
	sub := NewShape([]Member{{Name: "x"}})
	var got []string
	if err := s.Elements(msg, sh.Token(0), sub, func(e *Token) error {
		got = append(got, string(e.Raw(msg)))
		if e.Kind == Object {
			got = append(got, string(sub.Token(0).Raw(msg)))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Members(msg, sh.Token(1), sub, func(n, e *Token) error {
		got = append(got, string(AppendUnescaped(nil, n.Bytes(msg))), string(e.Raw(msg)))
		if e.Kind == Object {
			got = append(got, string(sub.Token(0).Raw(msg)))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if w := `1 {"x": [2], "x":3} 3 "z" k` + "\n" + ` 1 l {"x":5} 5`; strings.Join(got, " ") != w {
		t.Errorf("got  %q\nwant %q", strings.Join(got, " "), w)
	}
	stop := errors.New("stop")
	if err := s.Elements(msg, sh.Token(0), nil, func(*Token) error { return stop }); err != stop {
		t.Error(err)
	}
}

func FuzzScan(f *testing.F) {
	for i, a := range seeds {
		f.Add([]byte(a), []byte(seeds[(i*7+3)%len(seeds)]))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var s Scanner
		sh := testShape()
		for _, msg := range [][]byte{a, a, b, a, b, b} {
			check(t, &s, sh, msg)
		}
	})
}
