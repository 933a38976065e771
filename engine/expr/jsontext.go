package expr

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// maxJSONDepth is the nesting that the JSON functions accept: that of Jackson, which Flink uses.
const maxJSONDepth = 1000

// jsonText is a JSON document under a strict reader (RFC 8259). Positions are byte offsets; -1 is a
// violation of the grammar. Numbers stay text, and so exact.
type jsonText []byte

func (s jsonText) space(i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}

// at is s[i], or 0 at the end.
func (s jsonText) at(i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

// value skips the value at i.
func (s jsonText) value(i, depth int) int {
	switch c := s.at(i); {
	case c == '"':
		return s.str(i)
	case c == '{' || c == '[':
		return s.container(i, depth)
	case c == '-' || c >= '0' && c <= '9':
		return s.number(i)
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if i < len(s) && bytes.HasPrefix(s[i:], []byte(word)) {
			return i + len(word)
		}
	}
	return -1
}

func (s jsonText) digits(i int) int {
	start := i
	for s.at(i) >= '0' && s.at(i) <= '9' {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

func (s jsonText) number(i int) int {
	if s[i] == '-' {
		i++
	}
	if s.at(i) == '0' {
		i++
	} else if i = s.digits(i); i < 0 {
		return -1
	}
	if s.at(i) == '.' {
		if i = s.digits(i + 1); i < 0 {
			return -1
		}
	}
	if s.at(i)|0x20 == 'e' {
		i++
		if c := s.at(i); c == '+' || c == '-' {
			i++
		}
		return s.digits(i)
	}
	return i
}

// str skips the string that begins at i.
func (s jsonText) str(i int) int {
	for i++; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return -1
		case c == '\\':
			i++
			switch s.at(i) {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if hex4(s, i+1) < 0 {
					return -1
				}
				i += 4
			default:
				return -1
			}
		}
	}
	return -1
}

// container skips an object or array. Member names are checked like values.
func (s jsonText) container(i, depth int) int {
	if depth >= maxJSONDepth {
		return -1
	}
	object := s[i] == '{'
	end := byte(']')
	if object {
		end = '}'
	}
	i = s.space(i + 1)
	if s.at(i) == end {
		return i + 1
	}
	for {
		if object {
			if _, i = s.name(i); i < 0 {
				return -1
			}
		}
		if i = s.value(i, depth+1); i < 0 {
			return -1
		}
		i = s.space(i)
		switch s.at(i) {
		case ',':
			i = s.space(i + 1)
		case end:
			return i + 1
		default:
			return -1
		}
	}
}

// name reads a member's name and colon: its raw text between the quotes, and where its value begins.
func (s jsonText) name(i int) (raw []byte, next int) {
	if s.at(i) != '"' {
		return nil, -1
	}
	end := s.str(i)
	if end < 0 {
		return nil, -1
	}
	colon := s.space(end)
	if s.at(colon) != ':' {
		return nil, -1
	}
	return s[i+1 : end-1], s.space(colon + 1)
}

// valid reports whether the document is one JSON value.
func (s jsonText) valid() bool {
	i := s.value(s.space(0), 0)
	return i >= 0 && s.space(i) == len(s)
}

func hex4(s []byte, i int) rune {
	if i+4 > len(s) {
		return -1
	}
	var r rune
	for _, c := range s[i : i+4] {
		digit := hexDigit(c)
		if digit < 0 {
			return -1
		}
		r = r<<4 | rune(digit)
	}
	return r
}

// unescape appends the text of a string's raw inside; false for a surrogate without its partner, which has
// no UTF-8.
func unescape(buf, raw []byte) ([]byte, bool) {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return append(buf, raw...), true
		}
		buf = append(buf, raw[:i]...)
		c := raw[i+1]
		raw = raw[i+2:]
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r := hex4(raw, 0)
			raw = raw[4:]
			if utf16.IsSurrogate(r) {
				if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
					return buf, false
				}
				if r = utf16.DecodeRune(r, hex4(raw, 2)); r == utf8.RuneError {
					return buf, false
				}
				raw = raw[6:]
			}
			buf = utf8.AppendRune(buf, r)
			continue
		}
		buf = append(buf, c)
	}
}

// compact appends a valid value without the blanks between its parts.
func compact(buf, v []byte) []byte {
	inString := false
	for i := 0; i < len(v); i++ {
		c := v[i]
		switch {
		case inString && c == '\\':
			buf = append(buf, c)
			i++
			c = v[i]
		case c == '"':
			inString = !inString
		case !inString && c <= ' ':
			continue
		}
		buf = append(buf, c)
	}
	return buf
}
