package expr

import (
	"crypto/rand"
	"unicode"
	"unicode/utf8"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
)

// expanding are the letters whose upper case is more than one character (Unicode's SpecialCasing.txt, the
// unconditional mappings of Latin and Armenian letters and ligatures).
var expanding = map[rune]string{
	'ß': "SS", 'ŉ': "ʼN", 'ǰ': "J̌", 'ΐ': "Ϊ́", 'ΰ': "Ϋ́", 'և': "ԵՒ",
	'ẖ': "H̱", 'ẗ': "T̈", 'ẘ': "W̊", 'ẙ': "Y̊", 'ẚ': "Aʾ",
	'ﬀ': "FF", 'ﬁ': "FI", 'ﬂ': "FL", 'ﬃ': "FFI", 'ﬄ': "FFL", 'ﬅ': "ST", 'ﬆ': "ST",
	'ﬓ': "ՄՆ", 'ﬔ': "ՄԵ", 'ﬕ': "ՄԻ", 'ﬖ': "ՎՆ", 'ﬗ': "ՄԽ",
}

func upper(c *Ctx, s []byte) []byte {
	buf, at := c.scratch, len(c.scratch)
	for i := 0; i < len(s); {
		b := s[i]
		if b < utf8.RuneSelf {
			if b >= 'a' && b <= 'z' {
				b -= 'a' - 'A'
			}
			buf = append(buf, b)
			i++
			continue
		}
		r, n := utf8.DecodeRune(s[i:])
		buf = appendUpper(buf, r, s[i:i+n])
		i += n
	}
	return c.keep(buf, at)
}

// appendUpper keeps bytes that are no UTF-8 as they are.
func appendUpper(buf []byte, r rune, raw []byte) []byte {
	if r == utf8.RuneError && len(raw) == 1 {
		return append(buf, raw...)
	}
	if s, ok := expanding[r]; ok {
		return append(buf, s...)
	}
	return utf8.AppendRune(buf, unicode.ToUpper(r))
}

func lower(c *Ctx, s []byte) []byte {
	buf, at := c.scratch, len(c.scratch)
	letterBefore := false
	for i := 0; i < len(s); {
		b := s[i]
		if b < utf8.RuneSelf {
			letterBefore = b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
			if b >= 'A' && b <= 'Z' {
				b += 'a' - 'A'
			}
			buf = append(buf, b)
			i++
			continue
		}
		r, n := utf8.DecodeRune(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			buf = append(buf, b)
		case r == 'Σ' && letterBefore && !letterAt(s[i+n:]):
			buf = append(buf, "ς"...) // at the end of a word
		case r == 'İ':
			buf = append(buf, "i̇"...)
		default:
			buf = utf8.AppendRune(buf, unicode.ToLower(r))
		}
		letterBefore = unicode.IsLetter(r)
		i += n
	}
	return c.keep(buf, at)
}

func letterAt(b []byte) bool {
	r, _ := utf8.DecodeRune(b)
	return len(b) > 0 && unicode.IsLetter(r)
}

func initcap(c *Ctx, s []byte) []byte {
	buf, at := c.scratch, len(c.scratch)
	inside := false
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRune(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			buf = append(buf, s[i])
		case inside:
			buf = utf8.AppendRune(buf, unicode.ToLower(r))
		default:
			buf = utf8.AppendRune(buf, unicode.ToTitle(r))
		}
		inside = unicode.IsLetter(r) || unicode.IsDigit(r)
		i += n
	}
	return c.keep(buf, at)
}

// uuid makes a random UUID, version 4.
func uuid(c *Ctx) row.Datum {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	buf, at := c.scratch, len(c.scratch)
	for i, n := range []int{4, 2, 2, 2, 6} {
		if i > 0 {
			buf = append(buf, '-')
		}
		from := [...]int{0, 4, 6, 8, 10}[i]
		buf = text.AppendHex(buf, b[from:from+n])
	}
	return c.done(buf, at)
}
