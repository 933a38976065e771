package expr

import (
	"bytes"
	"errors"
)

var (
	errJSONSyntax  = errors.New("the text is no JSON")
	errJSONMissing = errors.New("the path leads nowhere")

	errJSONContainer = errors.New("the path leads to an object or array")
	errJSONScalar    = errors.New("the path leads to a scalar; write WITH WRAPPER or JSON_VALUE")
	errJSONObject    = errors.New("the path leads to an object, not to an array")
)

// jsonWalk looks for a path's values while it checks the document, so that a path of plain names and indexes reads
// it once.
type jsonWalk struct {
	s       jsonText
	p       *jsonPath
	found   [][]byte
	missing bool // a part that has to be there is not
	scratch []byte
	starts  []int     // a stack of the places of elements
	inner   *jsonWalk // looks for the operands of filters; nil until one is met
}

// find fills w.found with the raw values of the path. A name that an object holds twice means the last one,
// as in Flink's parser.
func (w *jsonWalk) find(s []byte, p *jsonPath) error {
	w.s, w.p, w.found, w.starts, w.missing = s, p, w.found[:0], w.starts[:0], false
	i := w.walk(w.s.space(0), 0, 0)
	switch {
	case i < 0 || w.s.space(i) != len(s):
		return errJSONSyntax
	case w.missing && !p.lax || len(w.found) == 0 && !p.many && !p.lax:
		return errJSONMissing
	}
	return nil
}

// miss notes that a step found nothing, unless it, or the steps before it, need not have.
func (w *jsonWalk) miss(step int) {
	w.missing = w.missing || step <= w.p.definite && !w.p.steps[step].deep
}

// walk reads the value at i, which the steps before step led to, and returns where it ends.
func (w *jsonWalk) walk(i, step, depth int) int {
	if step == len(w.p.steps) {
		end := w.s.value(i, depth)
		if end >= 0 {
			w.found = append(w.found, w.s[i:end])
		}
		return end
	}
	if depth >= maxJSONDepth {
		return -1
	}
	end := w.apply(i, step, depth)
	if w.p.steps[step].deep && end >= 0 && (w.s[i] == '{' || w.s[i] == '[') {
		w.children(i, step, depth)
	}
	return end
}

// apply takes a step from the value at i.
func (w *jsonWalk) apply(i, step, depth int) int {
	st := &w.p.steps[step]
	c := w.s.at(i)
	switch {
	case c == '{' && st.kind == stepMember:
		return w.member(i, step, depth)
	case c == '[' && st.kind == stepElement && st.single():
		return w.element(i, step, depth)
	case c == '[' && (st.kind == stepElement || st.kind == stepSlice):
		return w.elements(i, step, depth)
	case (c == '{' || c == '[') && st.kind == stepAll:
		return w.children(i, step+1, depth)
	case st.kind == stepFilter && (c == '{' || c == '[' || st.item):
		return w.filtered(i, step, depth)
	}
	if st.kind != stepAll {
		w.miss(step)
	}
	return w.s.value(i, depth)
}

// member walks on from the member that a step names.
func (w *jsonWalk) member(i, step, depth int) int {
	name := w.p.steps[step].name
	base, before, hit := len(w.found), w.missing, false
	if i = w.s.space(i + 1); w.s.at(i) == '}' {
		w.miss(step)
		return i + 1
	}
	for {
		var raw []byte
		if raw, i = w.s.name(i); i < 0 {
			return -1
		}
		if w.same(raw, name) {
			hit = true
			w.found, w.missing = w.found[:base], before
			i = w.walk(i, step+1, depth+1)
		} else {
			i = w.s.value(i, depth+1)
		}
		if i < 0 {
			return -1
		}
		i = w.s.space(i)
		switch w.s.at(i) {
		case ',':
			i = w.s.space(i + 1)
		case '}':
			if !hit {
				w.miss(step)
			}
			return i + 1
		default:
			return -1
		}
	}
}

// element walks on from the one element that a step names.
func (w *jsonWalk) element(i, step, depth int) int {
	index, n, hit := w.p.steps[step].at[0], 0, false
	end := w.each(i, func(i int) int {
		n++
		if n-1 != index {
			return w.s.value(i, depth+1)
		}
		hit = true
		return w.walk(i, step+1, depth+1)
	})
	if end >= 0 && !hit {
		w.miss(step)
	}
	return end
}

// each reads an object or array, and calls f for the value of each member or element; f returns where it ends.
func (w *jsonWalk) each(i int, f func(i int) int) int {
	object, end := w.s[i] == '{', w.s[i]+2 // in ASCII the closing bracket is two after the opening one
	if i = w.s.space(i + 1); w.s.at(i) == end {
		return i + 1
	}
	for {
		if object {
			if _, i = w.s.name(i); i < 0 {
				return -1
			}
		}
		if i = f(i); i < 0 {
			return -1
		}
		i = w.s.space(i)
		switch w.s.at(i) {
		case ',':
			i = w.s.space(i + 1)
		case end:
			return i + 1
		default:
			return -1
		}
	}
}

// children walks on from every member or element.
func (w *jsonWalk) children(i, step, depth int) int {
	return w.each(i, func(i int) int { return w.walk(i, step, depth+1) })
}

// elements walks on from the elements that a step selects.
func (w *jsonWalk) elements(i, step, depth int) int {
	base := len(w.starts)
	end := w.each(i, func(i int) int {
		w.starts = append(w.starts, i)
		return w.s.value(i, depth+1)
	})
	if end >= 0 {
		w.p.steps[step].selected(len(w.starts)-base, func(n int) bool {
			return w.walk(w.starts[base+n], step+1, depth+1) >= 0
		})
	}
	w.starts = w.starts[:base]
	return end
}

// filtered walks on from what a filter lets pass: the elements of an array, or the value itself.
func (w *jsonWalk) filtered(i, step, depth int) int {
	st := &w.p.steps[step]
	one := func(i int) int {
		end := w.s.value(i, depth+1)
		if end >= 0 && w.accepts(st.filter, w.s[i:end]) && w.walk(i, step+1, depth+1) < 0 {
			return -1
		}
		return end
	}
	if w.s.at(i) == '[' && (!st.item || w.p.lax) {
		return w.each(i, one)
	}
	return one(i)
}

// same reports whether a raw name, which may hold escapes, is name.
func (w *jsonWalk) same(raw, name []byte) bool {
	if bytes.IndexByte(raw, '\\') < 0 {
		return bytes.Equal(raw, name)
	}
	var ok bool
	w.scratch, ok = unescape(w.scratch[:0], raw)
	return ok && bytes.Equal(w.scratch, name)
}
