package text

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

// AppendJSONString appends s as a JSON string. Invalid UTF-8 becomes U+FFFD, so that the message is valid
// whatever s holds.
func AppendJSONString(buf, s []byte) []byte {
	buf = append(buf, '"')
	for {
		n := plainJSON(s)
		buf = append(buf, s[:n]...)
		if n == len(s) {
			return append(buf, '"')
		}
		buf = appendJSONEscape(buf, s[n])
		s = s[n+1:]
	}
}

// plainJSON is the number of bytes at the beginning of s that stand for themselves.
func plainJSON(s []byte) int {
	for i := 0; ; {
		for i+8 <= len(s) {
			// The top bit of a byte of m is set for a quote, a backslash, a control character and a byte
			// beyond ASCII; of several, the lowest is reliable.
			x := binary.LittleEndian.Uint64(s[i:])
			m := (x | (x - ones*0x20) | (x ^ ones*'"' - ones) | (x ^ ones*'\\' - ones)) & tops
			if m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		if i >= len(s) {
			return len(s)
		}
		switch c := s[i]; {
		case c < 0x20 || c == '"' || c == '\\':
			return i
		case c < utf8.RuneSelf:
			i++
		default:
			_, n := utf8.DecodeRune(s[i:])
			if n == 1 {
				return i
			}
			i += n
		}
	}
}

func appendJSONEscape(buf []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(buf, '\\', c)
	case '\n':
		return append(buf, '\\', 'n')
	case '\r':
		return append(buf, '\\', 'r')
	case '\t':
		return append(buf, '\\', 't')
	case '\b':
		return append(buf, '\\', 'b')
	case '\f':
		return append(buf, '\\', 'f')
	}
	if c >= utf8.RuneSelf {
		return append(buf, "\ufffd"...)
	}
	return append(buf, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
