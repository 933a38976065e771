// Package display measures and shapes text for a terminal of fixed-width cells.
package display

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Width is the number of cells that s takes: two for East Asian wide characters and emoji, none for
// combining marks, joiners and variation selectors. An emoji made of several characters counts as one.
func Width(s string) int {
	w := meter{}
	for _, r := range s {
		w.add(r)
	}
	return w.cells
}

// meter adds up the cells of a text, rune by rune.
type meter struct {
	cells int
	// last is the width that the previous visible rune had.
	last int
	// joined: a zero-width joiner came last, so that the next rune melts into the one before.
	joined bool
	// flag: half of a flag (a regional indicator) came last.
	flag bool
}

const (
	joiner         = '\u200D'
	emojiSelector  = '\uFE0F'
	skinToneFirst  = '\U0001F3FB'
	skinToneLast   = '\U0001F3FF'
	indicatorFirst = '\U0001F1E6'
	indicatorLast  = '\U0001F1FF'
)

func (m *meter) add(r rune) {
	if r >= ' ' && r < 0x7F {
		m.cells++
		m.last, m.joined, m.flag = 1, false, false
		return
	}
	switch {
	case r == joiner:
		m.joined = true
		return
	case r == emojiSelector:
		if m.last == 1 {
			m.cells++
			m.last = 2
		}
		return
	case r >= skinToneFirst && r <= skinToneLast && m.last == 2:
		return
	case r >= indicatorFirst && r <= indicatorLast:
		m.joined = false
		if m.flag = !m.flag; m.flag {
			m.cells += 2
			m.last = 2
		}
		return
	}
	m.flag = false
	n := runeWidth(r)
	if n == 0 {
		return
	}
	if m.joined && m.last == 2 && n == 2 {
		m.joined = false
		return
	}
	m.joined = false
	m.cells += n
	m.last = n
}

func runeWidth(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf), unicode.IsControl(r):
		return 0
	case r >= 0x1160 && r <= 0x11FF: // vowels and finals of Hangul, drawn within the syllable's cells
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Clean makes s safe for one line of a terminal: control characters, which could move the cursor or
// change colours, appear as their pictures (␛, ␊), what is no UTF-8 as \uFFFD, and what could reorder the line is left
// out.
func Clean(s string) string {
	if strings.IndexFunc(s, unsafe) < 0 && utf8.ValidString(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ':
			return 0x2400 + r
		case r == 0x7F:
			return 0x2421
		case r > 0x7F && unicode.IsControl(r):
			return unicode.ReplacementChar
		case unsafe(r):
			return -1
		}
		return r
	}, s)
}

func unsafe(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' ||
		r >= '\u202A' && r <= '\u202E' || r >= '\u2066' && r <= '\u2069'
}

// Cut shortens s to at most n cells, the last of them an ellipsis where something was left out.
func Cut(s string, n int) string {
	if len(s) <= n || Width(s) <= n {
		return s
	}
	if n <= 0 {
		return ""
	}
	m := meter{}
	for i, r := range s {
		if m.add(r); m.cells > n-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// Pad appends s to buf, with spaces after it (before it, when right is set) up to n cells.
func Pad(buf []byte, s string, n int, right bool) []byte {
	gap := max(n-Width(s), 0)
	if right {
		buf = spaces(buf, gap)
		return append(buf, s...)
	}
	buf = append(buf, s...)
	return spaces(buf, gap)
}

func spaces(buf []byte, n int) []byte {
	for range n {
		buf = append(buf, ' ')
	}
	return buf
}
