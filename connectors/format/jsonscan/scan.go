package jsonscan

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"unicode/utf8"
)

// MaxDepth is the number of arrays and objects that may be nested in each other.
const MaxDepth = 500

var tooDeep = fmt.Sprintf("more than %d objects and arrays within each other", MaxDepth)

// SyntaxError says where a message stops being JSON.
type SyntaxError struct {
	Offset int
	Msg    string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.Msg, e.Offset) }

// Scanner scans one message at a time. The zero value is ready for use by one goroutine. Its methods
// borrow the message; tokens point into it by position.
type Scanner struct {
	buf   []byte
	place int // of the error
	msg   string
	name  []byte // a member's name without its escapes
}

const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

// fail notes an error; the negative result stands for it all the way up.
func (s *Scanner) fail(at int, msg string) int {
	s.place, s.msg = at, msg
	return -1
}

// bad is fail for a byte that doesn't belong where it is.
func (s *Scanner) bad(i int, want string) int {
	if i >= len(s.buf) {
		return s.fail(len(s.buf), "the message ends where "+want+" should be")
	}
	r, n := utf8.DecodeRune(s.buf[i:])
	if r == utf8.RuneError && n <= 1 {
		return s.fail(i, fmt.Sprintf("byte %#02x stands where %s should be", s.buf[i], want))
	}
	return s.fail(i, fmt.Sprintf("%q stands where %s should be", r, want))
}

// err is the error noted last.
func (s *Scanner) err() error { return &SyntaxError{s.place, s.msg} }

// space skips white space.
func (s *Scanner) space(i int) int {
	for i < len(s.buf) && (s.buf[i] == ' ' || s.buf[i] == '\n' || s.buf[i] == '\t' || s.buf[i] == '\r') {
		i++
	}
	return i
}

// str scans a string whose opening quote lies before i, and returns the place of its closing quote.
func (s *Scanner) str(i int) (end int, escaped bool) {
	b := s.buf
	for {
		for i+8 <= len(b) {
			// A byte's top bit is set in m where the byte is a quote, a backslash, a control character or
			// not ASCII. Borrows make that unreliable above the first one set, which alone counts.
			x := binary.LittleEndian.Uint64(b[i:])
			q, e := x^(ones*'"'), x^(ones*'\\')
			m := (x | (x - ones*0x20) | (q - ones) | (e - ones)) & tops
			if m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		if i >= len(b) {
			return s.fail(len(b), "the message ends within a string"), false
		}
		switch c := b[i]; {
		case c == '"':
			return i, escaped
		case c == '\\':
			escaped = true
			if i = s.escape(i); i < 0 {
				return i, false
			}
		case c < 0x20:
			return s.fail(i, fmt.Sprintf("control character %#02x within a string", c)), false
		case c < utf8.RuneSelf:
			i++ // one of the last bytes, or one that a borrow flagged
		case c >= 0xC2 && c < 0xE0 && i+1 < len(b) && b[i+1]&0xC0 == 0x80:
			i += 2
		default:
			_, n := utf8.DecodeRune(b[i:])
			if n == 1 {
				return s.fail(i, "invalid UTF-8"), false
			}
			i += n
		}
	}
}

// escape checks the escape sequence at i (a surrogate pair is one) and returns the place after it.
func (s *Scanner) escape(i int) int {
	if i+1 >= len(s.buf) {
		return s.fail(len(s.buf), "the message ends within a string")
	}
	switch s.buf[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
	default:
		return s.fail(i, "unknown escape within a string")
	}
	r := hex4(s.buf, i+2)
	switch {
	case r < 0:
		return s.fail(i, `\u without four hexadecimal digits`)
	case r < 0xD800 || r > 0xDFFF:
		return i + 6
	case r < 0xDC00 && i+7 < len(s.buf) && s.buf[i+6] == '\\' && s.buf[i+7] == 'u':
		if l := hex4(s.buf, i+8); l >= 0xDC00 && l <= 0xDFFF {
			return i + 12
		}
	}
	return s.fail(i, "lone surrogate within a string")
}

// hex4 is the value of the four hexadecimal digits at i, or −1.
func hex4(b []byte, i int) rune {
	if i+4 > len(b) {
		return -1
	}
	var r rune
	for _, c := range b[i : i+4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return r
}

// AppendUnescaped appends the value of a string's bytes, which a Scanner has checked.
func AppendUnescaped(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			j := i + 1
			for j < len(raw) && raw[j] != '\\' {
				j++
			}
			dst = append(dst, raw[i:j]...)
			i = j
			continue
		}
		c := raw[i+1]
		i += 2
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
			r := hex4(raw, i)
			i += 4
			if r >= 0xD800 && r < 0xDC00 {
				r = (r-0xD800)<<10 + hex4(raw, i+2) - 0xDC00 + 0x10000
				i += 6
			}
			dst = utf8.AppendRune(dst, r)
			continue
		}
		dst = append(dst, c)
	}
	return dst
}

// nonDigits has a bit set in each byte of x that is no decimal digit. A byte beyond ASCII can spoil the byte
// above it, so that only the lowest one set tells its place.
func nonDigits(x uint64) uint64 {
	// The high half of each byte must be 3, and stay 3 when 6 is added.
	return (x&0xF0F0F0F0F0F0F0F0 ^ 0x3030303030303030) | ((x+0x0606060606060606)&0xF0F0F0F0F0F0F0F0 ^ 0x3030303030303030)
}

// digits skips decimal digits, eight at a time.
func digits(b []byte, i int) int {
	for i+8 <= len(b) {
		if m := nonDigits(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

// decimals is the value of the first n digits in x, n from 1 to 8. Three multiplications put together pairs
// of digits, then pairs of pairs, then the halves.
func decimals(x uint64, n int) uint64 {
	x <<= 64 - 8*n
	x = (x & 0x0F0F0F0F0F0F0F0F) * (1 + 10<<8) >> 8
	x = (x & 0x00FF00FF00FF00FF) * (1 + 100<<16) >> 16
	return (x & 0x0000FFFF0000FFFF) * (1 + 10000<<32) >> 32
}

// number skips a number.
func (s *Scanner) number(i int) int {
	b := s.buf
	if b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else {
		j := digits(b, i)
		if j == i {
			return s.bad(i, "a digit")
		}
		i = j
	}
	if i < len(b) && (b[i] == '.' || b[i]|0x20 == 'e') {
		return s.fraction(i)
	}
	return i
}

// fraction skips the fraction and exponent of a number.
func (s *Scanner) fraction(i int) int {
	b := s.buf
	if b[i] == '.' {
		j := digits(b, i+1)
		if j == i+1 {
			return s.bad(j, "a digit")
		}
		i = j
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		j := digits(b, i)
		if j == i {
			return s.bad(j, "a digit")
		}
		i = j
	}
	return i
}

// numberToken reads the number at i into t.
func (s *Scanner) numberToken(i int, t *Token) int {
	b := s.buf
	t.Start = i
	neg := b[i] == '-'
	if neg {
		i++
	}
	first := i
	var v uint64
	if i+8 <= len(b) {
		x := binary.LittleEndian.Uint64(b[i:])
		n := 8
		if m := nonDigits(x); m != 0 {
			n = bits.TrailingZeros64(m) >> 3
		}
		if n > 0 {
			v = decimals(x, n)
			i += n
		}
	}
	for i < len(b) && b[i]-'0' <= 9 {
		v = v*10 + uint64(b[i]-'0')
		i++
	}
	n := i - first
	limit := uint64(math.MaxInt64)
	if neg {
		limit++
	}
	// 19 digits fit an uint64, so that v is right when it is compared.
	if n == 0 || n > 19 || v > limit || b[first] == '0' && (n > 1 || neg) || i < len(b) && (b[i] == '.' || b[i]|0x20 == 'e') {
		t.Kind = Number
		t.End = s.number(t.Start)
		return t.End
	}
	if neg {
		v = -v
	}
	t.Kind, t.I, t.End = Int, int64(v), i
	return i
}

// literal checks for the word at i.
func (s *Scanner) literal(i int, word string) int {
	if len(s.buf)-i < len(word) || string(s.buf[i:i+len(word)]) != word {
		return s.bad(i, "a value")
	}
	return i + len(word)
}

// value reads the value at i into t. depth counts the objects and arrays around it.
func (s *Scanner) value(i, depth int, t *Token) int {
	if i >= len(s.buf) {
		return s.bad(i, "a value")
	}
	switch c := s.buf[i]; {
	case c == '"':
		end, escaped := s.str(i + 1)
		if end < 0 {
			return end
		}
		t.Start, t.End, t.Kind = i+1, end, String
		if escaped {
			t.Kind = Escaped
		}
		return end + 1
	case c == '-' || c-'0' <= 9:
		return s.numberToken(i, t)
	case c == 'n':
		t.Kind = Null
	case c == 't':
		t.Kind = True
	case c == 'f':
		t.Kind = False
	case c == '{':
		t.Kind = Object
	default:
		t.Kind = Array
	}
	end := s.skip(i, depth)
	t.Start, t.End = i, end
	return end
}

// skip checks the value at i and returns the place after it.
func (s *Scanner) skip(i, depth int) int {
	if i >= len(s.buf) {
		return s.bad(i, "a value")
	}
	switch c := s.buf[i]; {
	case c == '"':
		if i, _ = s.str(i + 1); i < 0 {
			return i
		}
		return i + 1
	case c == '-' || c-'0' <= 9:
		return s.number(i)
	case c == 'n':
		return s.literal(i, "null")
	case c == 't':
		return s.literal(i, "true")
	case c == 'f':
		return s.literal(i, "false")
	case c == '{':
		return s.skipObject(i, depth+1)
	case c == '[':
		return s.skipArray(i, depth+1)
	}
	return s.bad(i, "a value")
}

func (s *Scanner) skipObject(i, depth int) int {
	if depth > MaxDepth {
		return s.fail(i, tooDeep)
	}
	i = s.space(i + 1)
	if i < len(s.buf) && s.buf[i] == '}' {
		return i + 1
	}
	for {
		if i >= len(s.buf) || s.buf[i] != '"' {
			return s.bad(i, "a member's name")
		}
		if i, _ = s.str(i + 1); i < 0 {
			return i
		}
		if i = s.colon(i + 1); i < 0 {
			return i
		}
		if i = s.skip(i, depth); i < 0 {
			return i
		}
		i = s.space(i)
		if i < len(s.buf) && s.buf[i] == ',' {
			i = s.space(i + 1)
			continue
		}
		if i < len(s.buf) && s.buf[i] == '}' {
			return i + 1
		}
		return s.bad(i, `"," or "}"`)
	}
}

func (s *Scanner) skipArray(i, depth int) int {
	if depth > MaxDepth {
		return s.fail(i, tooDeep)
	}
	i = s.space(i + 1)
	if i < len(s.buf) && s.buf[i] == ']' {
		return i + 1
	}
	for {
		if i = s.skip(i, depth); i < 0 {
			return i
		}
		i = s.space(i)
		if i < len(s.buf) && s.buf[i] == ',' {
			i = s.space(i + 1)
			continue
		}
		if i < len(s.buf) && s.buf[i] == ']' {
			return i + 1
		}
		return s.bad(i, `"," or "]"`)
	}
}

// colon passes the colon after a member's name, and the white space around it.
func (s *Scanner) colon(i int) int {
	i = s.space(i)
	if i >= len(s.buf) || s.buf[i] != ':' {
		return s.bad(i, `":"`)
	}
	return s.space(i + 1)
}
