package expr

import (
	"bytes"
	"errors"
	"unicode/utf8"
)

// likePattern is a compiled pattern of LIKE: the pieces between its %, each of literal parts and single
// wildcards.
type likePattern struct {
	pieces []likePiece
	// open says whether the pattern begins and ends with %.
	openStart, openEnd bool
}

// likePiece is a run of the pattern without %. Text without wildcards is one part.
type likePiece struct {
	parts []likePart
	lit   []byte // the text, when there is no wildcard
	plain bool
}

// likePart is literal text, or any one character where it is nil.
type likePart []byte

var errEscape = errors.New("in a LIKE pattern the escape character stands before %, _ or itself")

// compileLike reads a pattern; escape is -1 for none.
func compileLike(pattern []byte, escape rune) (*likePattern, error) {
	p := &likePattern{}
	var piece likePiece
	var text []byte
	started := false
	flush := func() {
		if len(text) > 0 {
			piece.parts = append(piece.parts, text)
			text = nil
		}
	}
	end := func() {
		flush()
		if len(piece.parts) == 0 {
			return
		}
		if len(piece.parts) == 1 && piece.parts[0] != nil {
			piece.plain, piece.lit = true, piece.parts[0]
		}
		p.pieces = append(p.pieces, piece)
		piece = likePiece{}
	}
	for i := 0; i < len(pattern); {
		r, n := utf8.DecodeRune(pattern[i:])
		raw := pattern[i : i+n]
		i += n
		p.openEnd = false
		if r == escape {
			r, n = utf8.DecodeRune(pattern[i:])
			if n == 0 || r != '%' && r != '_' && r != escape {
				return nil, errEscape
			}
			text = append(text, pattern[i:i+n]...)
			i += n
			started = true
			continue
		}
		switch r {
		case '%':
			end()
			p.openStart = p.openStart || !started
			p.openEnd = true
		case '_':
			flush()
			piece.parts = append(piece.parts, nil)
		default:
			text = append(text, raw...)
		}
		started = true
	}
	end()
	return p, nil
}

func (p *likePattern) match(s []byte) bool {
	pieces := p.pieces
	if len(pieces) == 0 {
		return p.openStart || len(s) == 0
	}
	if !p.openStart {
		n := pieces[0].prefix(s)
		if n < 0 {
			return false
		}
		s, pieces = s[n:], pieces[1:]
		if len(pieces) == 0 {
			return p.openEnd || len(s) == 0
		}
	}
	last := len(pieces)
	if !p.openEnd {
		last--
	}
	// The leftmost place for each piece leaves the most for those that follow.
	for _, piece := range pieces[:last] {
		at, n := piece.find(s)
		if at < 0 {
			return false
		}
		s = s[at+n:]
	}
	return p.openEnd || pieces[last].suffix(s)
}

// prefix is the length of the piece at the start of s; -1 when it does not stand there.
func (p *likePiece) prefix(s []byte) int {
	if p.plain {
		if bytes.HasPrefix(s, p.lit) {
			return len(p.lit)
		}
		return -1
	}
	at := 0
	for _, part := range p.parts {
		if part != nil {
			if !bytes.HasPrefix(s[at:], part) {
				return -1
			}
			at += len(part)
			continue
		}
		_, n := utf8.DecodeRune(s[at:])
		if n == 0 {
			return -1
		}
		at += n
	}
	return at
}

func (p *likePiece) find(s []byte) (at, n int) {
	if p.plain {
		return bytes.Index(s, p.lit), len(p.lit)
	}
	for at = 0; ; {
		if n = p.prefix(s[at:]); n >= 0 {
			return at, n
		}
		_, w := utf8.DecodeRune(s[at:])
		if w == 0 {
			return -1, 0
		}
		at += w
	}
}

// suffix reports whether the piece stands at the end of s.
func (p *likePiece) suffix(s []byte) bool {
	if p.plain {
		return bytes.HasSuffix(s, p.lit)
	}
	for i := len(p.parts) - 1; i >= 0; i-- {
		if part := p.parts[i]; part != nil {
			if !bytes.HasSuffix(s, part) {
				return false
			}
			s = s[:len(s)-len(part)]
			continue
		}
		_, n := utf8.DecodeLastRune(s)
		if n == 0 {
			return false
		}
		s = s[:len(s)-n]
	}
	return true
}
