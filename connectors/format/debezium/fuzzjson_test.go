package debezium

import (
	"bytes"
	"encoding/json"
	mathbig "math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/types"
)

// exactColumns are the columns of FuzzExact, read by exactRow too.
var exactColumns = []spi.Column{col("id", types.Of(types.BigInt)), col("v", types.String())}

// exactMembers are the members of an object by encoding/json, whose maps keep names exact; nil when raw is none.
func exactMembers(raw []byte) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// exactRow is a row of exactColumns by encoding/json. ok says that it is one, and sure that nothing in it asks
// for more knowledge than encoding/json has.
func exactRow(raw []byte, extended bool) (row string, ok, sure bool) {
	m := exactMembers(raw)
	if m == nil {
		return "", false, true
	}
	id, ok := exactInteger(m["id"])
	if !ok {
		return "", false, !extended
	}
	var s string
	v := bytes.TrimSpace(m["v"])
	switch {
	case len(v) == 0 || string(v) == "null":
		return "(" + id + ", NULL)", true, true
	case v[0] == '"':
		if json.Unmarshal(v, &s) != nil {
			return "", false, true
		}
	default:
		var b bytes.Buffer
		if json.Compact(&b, v) != nil {
			return "", false, true
		}
		s = b.String()
	}
	// The placeholder of TOAST, a numeric as {scale, value} and a value in extended JSON are none of JSON's.
	sure = !strings.Contains(s, "__debezium") && !strings.HasPrefix(s, "X19kZWJl") && !strings.HasPrefix(s, "[95,95") && (v[0] != '{' || !strings.Contains(string(v), "$") && !strings.Contains(string(v), `"scale"`) && !strings.Contains(string(v), `\u`))
	return "(" + id + ", " + s + ")", true, sure
}

// exactInteger is a BIGINT as text: the exact value of a number, or of the number that a string holds.
func exactInteger(raw json.RawMessage) (string, bool) {
	s := string(bytes.TrimSpace(raw))
	if s == "" || s == "null" {
		return "NULL", true
	}
	switch s[0] {
	case '"':
		if json.Unmarshal(raw, &s) != nil {
			return "", false
		}
		s = strings.TrimSpace(s)
		if strings.ContainsAny(s, "/_xXpPoObB") {
			return "", false // forms of Go's
		}
	case 't', 'f', '{', '[':
		return "", false
	}
	if len(s) > 60 {
		return "", false
	}
	if e := strings.IndexAny(s, "eE"); e >= 0 && len(s)-e > 4 {
		return "", false
	}
	r, ok := new(mathbig.Rat).SetString(s)
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return "", false
	}
	return r.Num().String(), true
}

// exactChanges are the changes of a message by encoding/json.
func exactChanges(msg []byte) (changes string, ok, sure bool) {
	m := exactMembers(msg)
	if _, has := m["op"]; !has && m["payload"] != nil {
		if s := bytes.TrimSpace(m["schema"]); len(s) > 0 && s[0] == '{' {
			return "", false, false // it says how values are encoded
		}
		m = exactMembers(m["payload"])
	}
	var op string
	if json.Unmarshal(m["op"], &op) != nil || len(m["op"]) != 3 {
		return "", false, false
	}
	var parts []string
	for _, image := range []struct{ ops, name, op string }{{"ud", "before", map[string]string{"u": "-U", "d": "-D"}[op]}, {"cru", "after", map[string]string{"c": "+I", "r": "+I", "u": "+U"}[op]}} {
		if op == "" || !strings.Contains(image.ops, op) {
			continue
		}
		raw, extended := []byte(m[image.name]), false
		if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '"' { // a document of MongoDB's
			var s string
			if json.Unmarshal(raw, &s) != nil {
				return "", false, true
			}
			raw, extended = []byte(s), true
		}
		row, rowOK, rowSure := exactRow(raw, extended)
		if !rowOK || !rowSure {
			return "", false, rowSure
		}
		parts = append(parts, image.op+row)
	}
	return strings.Join(parts, " "), len(parts) > 0, true
}

// strict reports whether the scanner may refuse what encoding/json takes.
func strict(msg []byte) bool {
	low := bytes.ToLower(msg)
	return !utf8.Valid(msg) || bytes.Contains(low, []byte(`\ud`)) || bytes.Contains(low, []byte(`\\ud`)) || len(msg) > 400
}

// FuzzExact holds the rows of messages, of documents of MongoDB's too, to what encoding/json with exact numbers
// makes of them, also when the message before was another.
func FuzzExact(f *testing.F) {
	for _, m := range []string{
		`{"before":null,"after":{"id":9007199254740993,"v":"a"},"op":"c"}`, `{"before":{"id":1},"after":{"id":"2","v":1.50},"op":"u"}`, `{"before":{"id":1e2,"v":null},"op":"d"}`,
		`{"payload":{"after":{"id":1,"v":{"a": [1]}},"op":"r"}}`, `{"schema":null,"payload":{"after":{"id":1,"id":2,"v":"\u00e9"},"op":"c"}}`,
		`{"after":"{\"id\": 5, \"v\": \"x\\\"\"}","op":"c"}`, `{"after":"{\"id\": {\"$numberLong\": \"5\"}}","op":"c"}`, `{"before":"{\"id\":1}","after":"{\"v\":true}","op":"u"}`,
		`{"after":{"ID":1,"id":9223372036854775808},"op":"c"}`, `{"op":"c","after":{"id":1},"after":{"v":"x"}}`, `{"op":"\u0063","after":{}}`, `{"after":{"id":1.0,"v":-0},"op":"c"} `,
	} {
		f.Add([]byte(m), []byte(m))
		f.Add([]byte(`{"after":{"id":1,"v":"x"},"op":"c"}`), []byte(m))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		s := open(t, spi.DecodeSpec{Columns: exactColumns, Mode: spi.Retract}, nil)
		for _, msg := range [][]byte{first, first, second, first, second} {
			if len(msg) == 0 {
				continue
			}
			want, ok, sure := exactChanges(msg)
			got, err := s.feed("", string(msg))
			if err != nil && got != "" {
				t.Fatalf("%q: %s beside the error %v", msg, got, err)
			}
			if !sure {
				continue
			}
			switch {
			case ok && err == nil && got != want, !ok && got != "":
				t.Fatalf("%q: got %s, want %s", msg, got, want)
			case ok && err != nil && !strict(msg):
				t.Fatalf("%q: %v, want %s", msg, err, want)
			}
		}
	})
}

// TestTruncated reads every beginning of messages: none is a row, and each an error at a place.
func TestTruncated(t *testing.T) {
	for _, m := range []string{
		`{"before":{"id":1,"v":"a"},"after":{"id":2,"v":"\u00e9\ud83d\ude00"},"source":{"lsn":12},"op":"u","ts_ms":1}`,
		`{"schema":{"type":"struct","fields":[]},"payload":{"after":{"id":1,"v":"a"},"op":"c"}}`,
		`{"id":1,"v":"a","__deleted":"false"}`,
		`{"after":"{\"id\": 5}","op":"c"}`,
	} {
		for _, mode := range []spi.Mode{spi.Upsert, spi.Retract} {
			s := open(t, spi.DecodeSpec{Columns: exactColumns, Mode: mode, Key: []int{0}}, nil)
			for n := 1; n < len(m); n++ {
				for range 2 { // the second time after a whole one
					if got, err := s.feed("", m[:n]); err == nil || got != "" || strings.TrimPrefix(string(decodeError(t, err).Code), "message-") != "syntax" {
						t.Fatalf("%s: %q: %s %v", mode, m[:n], got, err)
					}
					_, _ = s.feed("", m)
				}
			}
		}
	}
	// Nor is the beginning of a document.
	doc := `{"_id": {"$oid": "596e275826f08b2730779e1f"}, "n": {"$numberLong": "5"}, "name": [1, {"a": "b"}]}`
	s := open(t, spi.DecodeSpec{Columns: documentColumns, Mode: spi.Upsert, Key: []int{0}}, nil)
	for n := 1; n < len(doc); n++ {
		if got, err := s.feed("", event("c", "", doc[:n])); err == nil || got != "" || decodeError(t, err).Field != "after" {
			t.Fatalf("%q: %s %v", doc[:n], got, err)
		}
	}
}
