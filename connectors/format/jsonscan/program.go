package jsonscan

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
)

// A program is the layout of an object as one message had it: steps, each a literal piece to compare and
// something to do after it. Its depth is that of the message it was learned from; a Shape stands at one
// place within its messages, and run gives up at another depth.
type program struct {
	steps []step
	// clean says that the tokens of members without a step are Absent, as run leaves them.
	clean bool
	depth int
	// leaves is what is known of the values that nobody wants, by path.
	leaves map[uint64]leaf
	misses int
	seed   maphash.Seed
}

type stepKind uint8

const (
	stepEnd      stepKind = iota // the object ends
	stepMember                   // a member wanted
	stepSub                      // a member wanted that has a shape
	stepConstant                 // a member wanted that is mostly the same
	stepNumber                   // a number that nobody wants
	stepDigits                   // digits within a string that nobody wants
	stepString                   // a string that nobody wants
	stepAny                      // a value that nobody wants
)

type step struct {
	// first and last are the first and last 8 bytes of a literal of 8 to 16 bytes.
	first, last uint64
	lit         string
	kind        stepKind
	// next is the byte that follows: the first of the next literal.
	next byte
	// length is that of the last message's number or string, which the next one's mostly is too.
	length int
	depth  int // of the object that a stepAny's value stands in
	member int
}

// leaf is what is known of a value that nobody wants.
type leaf struct {
	// hole is how it varies, or would: a number or string with a value was the same every time.
	hole holeKind
	// forms is how often the text around the digits of a holeDigits was found changed.
	forms uint8
	value uint64 // hash of the bytes while they are the same in every message, or of the members' names
}

type holeKind uint8

const (
	holeNone   holeKind = iota // nothing is known
	holeNumber                 // always a number
	holeDigits                 // a string that differs in its digits alone
	holeString                 // always a string
	holeAny
	holeInner // always an object or array of the same members: looked into
)

const (
	// The first misses write a program each, and later one of many does: a stream whose messages change
	// their layout all the time is read by the general code.
	eagerPrograms = 64
	missesBetween = 256
	maxSteps      = 4096
	// maxLeaves bounds what is remembered, which starts afresh beyond.
	maxLeaves = 1 << 14
	// maxConstant is the size above which a value is not taken for constant.
	maxConstant = 1024
	// maxLiterals bounds the bytes of all literals.
	maxLiterals = 1 << 18
	rootPath    = 14695981039346656037
)

// worthLearning counts a miss and says whether to write a program.
func (p *program) worthLearning() bool {
	p.clean = false
	p.misses++
	return p.misses <= eagerPrograms || p.misses%missesBetween == 0
}

// learner writes a program while the general code reads an object.
type learner struct {
	*program
	buf   []byte
	from  int // where the present literal begins
	bytes int
	steps []step
	// over says that the object is too large for a program: the rest of it is just read.
	over bool
}

func (p *program) learn(buf []byte, i, depth int) *learner {
	p.steps, p.depth = nil, depth
	if p.leaves == nil {
		p.leaves = map[uint64]leaf{}
		p.seed = maphash.MakeSeed()
	}
	if len(p.leaves) > maxLeaves {
		clear(p.leaves)
	}
	return &learner{program: p, buf: buf, from: i}
}

// full reports whether the object, read up to i, is too large for a program.
func (l *learner) full(i int) bool {
	l.over = l.over || len(l.steps) >= maxSteps || l.bytes+i-l.from > maxLiterals || len(l.leaves) > 2*maxLeaves
	return l.over
}

// set makes the steps that l wrote the program, for the object that ends at end.
func (p *program) set(l *learner, end int) {
	l.add(step{kind: stepEnd}, end, end)
	if l.over {
		return
	}
	p.steps = l.steps
	for k := range len(p.steps) - 1 {
		p.steps[k].next = p.steps[k+1].lit[0] // never empty: a comma or a closing brace at least
	}
}

// add ends the present literal at at and appends a step for what follows it, up to end.
func (l *learner) add(st step, at, end int) {
	if l.full(at) {
		return
	}
	n := at - l.from
	l.bytes += n
	st.lit = string(l.buf[l.from:at])
	if n >= 8 {
		st.first = binary.LittleEndian.Uint64(l.buf[l.from:])
		st.last = binary.LittleEndian.Uint64(l.buf[at-8:])
	}
	l.steps = append(l.steps, st)
	l.from = end
}

// hole notes that [at, end), within an object of the given depth, varies.
func (l *learner) hole(kind stepKind, depth, at, end int) {
	l.add(step{kind: kind, depth: depth}, at, end)
}

// mark is a place to roll back to.
func (l *learner) mark() learner { return *l }

// rollback forgets the steps written since the mark.
func (l *learner) rollback(mark learner) {
	l.steps, l.from, l.bytes = l.steps[:len(mark.steps)], mark.from, mark.bytes // over stays
}

// changed notes that the value at path is an object or array with the given members, and reports whether it
// was something else before.
func (l *learner) changed(path, members uint64) bool {
	old, known := l.leaves[path]
	if known && old != (leaf{hole: holeInner, value: members}) {
		l.leaves[path] = leaf{hole: holeAny}
		return true
	}
	l.leaves[path] = leaf{hole: holeInner, value: members}
	return false
}

// leaf notes the value at [at, end), which is neither object nor array and stands in one of the given depth.
func (l *learner) leaf(path uint64, depth, at, end int) {
	kind := holeAny
	switch c := l.buf[at]; {
	case c == '"':
		kind = holeString
	case c == '-' || c-'0' <= 9:
		kind = holeNumber
	}
	old, known := l.leaves[path]
	now := leaf{hole: kind}
	if v := l.buf[at:end]; len(v) <= maxConstant {
		now.value = maphash.Bytes(l.seed, v) | 1
	}
	switch {
	case !known && now.value != 0, known && old.value == now.value && now.value != 0 && old.hole == kind:
		l.leaves[path] = now
		return // the same every time so far: part of the literal
	case known && kind == holeString && (old.hole == holeString && old.value != 0 || old.hole == holeDigits):
		if l.digits(path, old, depth, at, end) {
			return
		}
	case known && old.hole != kind:
		kind = holeAny
	}
	l.leaves[path] = leaf{hole: kind}
	switch kind {
	case holeNumber:
		l.hole(stepNumber, depth, at, end)
	case holeString:
		l.hole(stepString, depth, at, end)
	default:
		l.hole(stepAny, depth, at, end)
	}
}

const (
	maxDigitRuns = 16 // in a string that is taken apart at its digits
	maxForms     = 4  // that such a string may have had
)

// digits takes apart the string at [at, end), which is not the same every time, at its digits: positions in
// a log (PostgreSQL's source.sequence is "[\"26541152\",\"26541240\"]") and times are such strings. It
// reports whether that pays, and is safe: the digits of an escape such as \u0041 are no free ones.
func (l *learner) digits(path uint64, old leaf, depth, at, end int) bool {
	v := l.buf[at:end]
	if len(v) > maxConstant || bytes.Contains(v, []byte(`\u`)) {
		return false
	}
	now := leaf{hole: holeDigits, forms: old.forms, value: rootPath}
	runs := 0
	for i, c := range v {
		if c-'0' > 9 {
			now.value = (now.value ^ uint64(c)) * 1099511628211
		} else if v[i-1]-'0' > 9 {
			now.value *= 3
			runs++
		}
	}
	if old.hole == holeDigits && old.value != now.value {
		now.forms++
	}
	if runs == 0 || runs > maxDigitRuns || now.forms > maxForms {
		return false
	}
	l.leaves[path] = now
	for i := 0; i < len(v); i++ {
		if v[i]-'0' <= 9 {
			n := digits(v, i)
			l.hole(stepDigits, depth, at+i, at+n)
			i = n
		}
	}
	return true
}

// pathOf is the path of a member of the given name within the object at path (FNV-1a).
func pathOf(path uint64, name []byte) uint64 {
	path = (path ^ '/') * 1099511628211
	for _, c := range name {
		path = (path ^ uint64(c)) * 1099511628211
	}
	return path
}
