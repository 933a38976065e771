package expr

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// jsonPath is a compiled SQL/JSON path of member and element accessors: lax $.a."b c"['d'][0][*].*
//
// As in Flink, strict is the mode when none is named, lax makes a missing part an empty result instead of an
// error, and neither unwraps arrays by itself.
type jsonPath struct {
	lax   bool
	steps []jsonStep
	// many: a wildcard stands in the path, so that its result is a list.
	many bool
}

// jsonStep is a member by name, an element by index (from 0), or a wildcard over all of either.
type jsonStep struct {
	name   []byte
	index  int
	member bool
	all    bool
}

func compileJSONPath(source string) (*jsonPath, error) {
	p := &jsonPath{}
	s := strings.TrimSpace(source)
	if mode, rest, ok := strings.Cut(s, " "); ok {
		switch strings.ToLower(mode) {
		case "lax":
			p.lax, s = true, strings.TrimSpace(rest)
		case "strict":
			s = strings.TrimSpace(rest)
		}
	}
	if !strings.HasPrefix(s, "$") {
		return nil, fmt.Errorf("JSON path %q must start with $, after lax or strict", source)
	}
	for s = s[1:]; s != ""; {
		step, rest, err := readJSONStep(s)
		if err != nil {
			return nil, fmt.Errorf("JSON path %q: %w", source, err)
		}
		p.steps, s = append(p.steps, step), rest
		p.many = p.many || step.all
	}
	return p, nil
}

func readJSONStep(s string) (step jsonStep, rest string, err error) {
	switch s[0] {
	case '.':
		s = s[1:]
		switch {
		case s == "":
			return step, "", errors.New("a name must follow the last point")
		case s[0] == '*':
			return jsonStep{member: true, all: true}, s[1:], nil
		case s[0] == '"':
			name, rest, err := quotedName(s)
			return jsonStep{member: true, name: name}, rest, err
		}
		end := strings.IndexAny(s, ".[ ()?@*\"'")
		if end < 0 {
			end = len(s)
		}
		if end == 0 || end < len(s) && s[end] != '.' && s[end] != '[' {
			return step, "", fmt.Errorf("%q is not supported; members are .name or .\"name\", elements [0], wildcards .* and [*]", "."+s)
		}
		return jsonStep{member: true, name: []byte(s[:end])}, s[end:], nil
	case '[':
		s = strings.TrimLeft(s[1:], " ")
		if s != "" && (s[0] == '\'' || s[0] == '"') {
			name, rest, err := quotedName(s)
			step, s = jsonStep{member: true, name: name}, rest
			if err != nil {
				return step, "", err
			}
		} else if strings.HasPrefix(s, "*") {
			step, s = jsonStep{all: true}, s[1:]
		} else {
			end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
			n, err := strconv.Atoi(s[:max(end, 0)])
			if err != nil {
				return step, "", fmt.Errorf("%q is no element; write a number from 0 or *", "["+s)
			}
			step, s = jsonStep{index: n}, s[end:]
		}
		s = strings.TrimLeft(s, " ")
		if !strings.HasPrefix(s, "]") {
			return step, "", errors.New("a ] is missing")
		}
		return step, s[1:], nil
	}
	return step, "", fmt.Errorf("%q is not supported; members are .name or .\"name\", elements [0], wildcards .* and [*]", s)
}

// quotedName reads a name in quotes, with the backslash for a quote inside.
func quotedName(s string) (name []byte, rest string, err error) {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i++; i < len(s) {
				name = append(name, s[i])
			}
		case s[0]:
			return name, s[i+1:], nil
		default:
			name = append(name, s[i])
		}
	}
	return nil, "", errors.New("a quote has no end")
}

var (
	errJSONSyntax  = errors.New("the text is no JSON")
	errJSONMissing = errors.New("the path leads nowhere")
)

// jsonWalk looks for a path's values while it checks the document, so that it is read once.
type jsonWalk struct {
	s       jsonText
	steps   []jsonStep
	found   [][]byte
	missing bool // a member or element that a step names is not there
	scratch []byte
}

// find fills w.found with the raw values of the path. A name that an object holds twice means the last one,
// as in Flink's parser.
func (w *jsonWalk) find(s []byte, p *jsonPath) error {
	w.s, w.steps, w.found, w.missing = s, p.steps, w.found[:0], false
	i := w.walk(w.s.space(0), 0, 0)
	switch {
	case i < 0 || w.s.space(i) != len(s):
		return errJSONSyntax
	case w.missing && !p.lax || len(w.found) == 0 && !p.many && !p.lax:
		return errJSONMissing
	}
	return nil
}

// walk reads the value at i, which the steps before step led to.
func (w *jsonWalk) walk(i, step, depth int) int {
	if step == len(w.steps) {
		end := w.s.value(i, depth)
		if end >= 0 {
			w.found = append(w.found, w.s[i:end])
		}
		return end
	}
	if depth >= maxJSONDepth {
		return -1
	}
	st := w.steps[step]
	switch c := w.s.at(i); {
	case c == '{' && st.member:
		return w.object(i, step, depth)
	case c == '[' && !st.member:
		return w.array(i, step, depth)
	}
	w.missing = true
	return w.s.value(i, depth)
}

func (w *jsonWalk) object(i, step, depth int) int {
	st := w.steps[step]
	base, before, hit := len(w.found), w.missing, st.all
	if i = w.s.space(i + 1); w.s.at(i) == '}' {
		w.missing = w.missing || !hit
		return i + 1
	}
	for {
		var raw []byte
		if raw, i = w.s.name(i); i < 0 {
			return -1
		}
		switch {
		case st.all:
			i = w.walk(i, step+1, depth+1)
		case w.same(raw, st.name):
			hit = true
			w.found, w.missing = w.found[:base], before
			i = w.walk(i, step+1, depth+1)
		default:
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
			w.missing = w.missing || !hit
			return i + 1
		default:
			return -1
		}
	}
}

func (w *jsonWalk) array(i, step, depth int) int {
	st := w.steps[step]
	hit := st.all
	if i = w.s.space(i + 1); w.s.at(i) == ']' {
		w.missing = w.missing || !hit
		return i + 1
	}
	for n := 0; ; n++ {
		if st.all || n == st.index {
			hit = true
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
		case ']':
			w.missing = w.missing || !hit
			return i + 1
		default:
			return -1
		}
	}
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
