package jsonscan

import "encoding/binary"

// run reads the object at i by sh's program. −1 says that the object does not fit it, which may or may not
// be an error of the message.
func (s *Scanner) run(sh *Shape, i, depth int) int {
	p := &sh.prog
	if len(p.steps) == 0 || p.depth != depth {
		return -1
	}
	if !p.clean {
		clear(sh.toks)
		p.clean = true
	}
	b := s.buf
	for k := range p.steps {
		st := &p.steps[k]
		n := len(st.lit)
		if len(b)-i < n || !st.matches(b[i:i+n]) {
			return -1
		}
		i += n
		switch st.kind {
		case stepEnd:
			return i
		case stepNumber, stepDigits:
			n := st.length
			if j := i + n; j < len(b) && b[j] == st.next && b[i] != '0' && allDigits(b, i, n) {
				i = j
				continue
			}
			from := i
			if i = s.varying(st, i); i >= 0 {
				st.length = i - from
			}
		case stepString:
			if i >= len(b) || b[i] != '"' {
				return -1
			}
			if i, _ = s.str(i + 1); i >= 0 {
				i++
			}
		case stepMember:
			i = s.value(i, depth, &sh.toks[st.member])
		case stepSub:
			i = s.member(i, depth, sh.members[st.member].Sub, &sh.toks[st.member])
		case stepConstant:
			i = s.constant(sh, st.member, i, depth)
		default:
			i = s.skip(i, st.depth)
		}
		if i < 0 {
			return -1
		}
	}
	return -1
}

// allDigits reports whether the n bytes at i, which b has, are digits. It may say no for fewer than 1 and
// more than 24, and near the end of b. Unlike a scan for the end of the digits, its checks don't wait for
// each other.
func allDigits(b []byte, i, n int) bool {
	if n < 1 || i+8 > len(b) {
		return false
	}
	first := nonDigits(binary.LittleEndian.Uint64(b[i:]))
	if n < 8 {
		return first<<(64-8*n) == 0
	}
	first |= nonDigits(binary.LittleEndian.Uint64(b[i+n-8:]))
	if n > 16 {
		first |= nonDigits(binary.LittleEndian.Uint64(b[i+8:]))
	}
	return first == 0 && n <= 24
}

// varying scans a number or digits at i.
func (s *Scanner) varying(st *step, i int) int {
	b := s.buf
	if i >= len(b) || b[i] != '-' && b[i]-'0' > 9 {
		return -1
	}
	if st.kind == stepNumber {
		return s.number(i)
	}
	return digits(b, i)
}

// matches reports whether b, of the literal's length, is the literal.
func (st *step) matches(b []byte) bool {
	n := len(b)
	if n < 8 || n > 16 {
		return string(b) == st.lit
	}
	return binary.LittleEndian.Uint64(b) == st.first && binary.LittleEndian.Uint64(b[n-8:]) == st.last
}
