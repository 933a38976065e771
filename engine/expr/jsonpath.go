package expr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// jsonPath is a compiled path over a JSON document: lax $.a."b c"['d'][0][*].*..e[1:3][?(@.f == 1)]
//
// The paths are Flink's, which are those of JsonPath: strict is the mode when none is named, lax makes a missing
// part an empty result instead of an error, and neither unwraps arrays by itself. What SQL/JSON writes in another
// way is read too: [last], [0 to 2], and $.a ? (@.b > 1), which in lax mode tests the elements of an array.
type jsonPath struct {
	lax   bool
	steps []jsonStep
	// definite is the number of steps at the beginning that lead to one value each. A missing part is missing in the
	// document only when the steps before it are definite; after others it just does not count.
	definite int
	// many: the path can lead to several values, so that its result is a list.
	many bool
}

// jsonStep is one step of a path.
type jsonStep struct {
	kind stepKind
	// deep applies the step to all values inside of the present one too, the outer ones first.
	deep   bool
	name   []byte // of a member
	at     []int  // of elements; negative ones count from the end
	from   int    // of a slice; as at
	to     int    // of a slice, the first that is not in it
	open   bool   // the slice reaches to the end
	filter *jsonFilter
	item   bool // the filter tests the value itself, or the elements of an array in lax mode
}

// stepKind is what a step leads to.
type stepKind uint8

// The kinds of steps.
const (
	stepMember stepKind = iota
	stepElement
	stepAll // members and elements
	stepSlice
	stepFilter
)

func (st *jsonStep) many() bool {
	return st.deep || st.kind >= stepAll || st.kind == stepElement && len(st.at) > 1
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
	for s = s[1:]; ; {
		if s = strings.TrimLeft(s, " "); s == "" {
			return p, nil
		}
		step, rest, err := readJSONStep(s)
		if err != nil {
			return nil, fmt.Errorf("JSON path %q: %w", source, err)
		}
		p.add(step)
		s = rest
	}
}

func (p *jsonPath) add(st jsonStep) {
	p.many = p.many || st.many()
	if !p.many {
		p.definite++
	}
	p.steps = append(p.steps, st)
}

const jsonPathForms = `steps are .name, ."name", ..name, [0], [-1], [0, 2], [1:3], [*], .*, [?(@.name == 1)] and ? (@.name == 1)`

func readJSONStep(s string) (step jsonStep, rest string, err error) {
	switch s[0] {
	case '.':
		deep := strings.HasPrefix(s, "..")
		if s = s[1:]; deep {
			s = s[1:]
		}
		switch {
		case s == "":
			return step, "", errors.New("a name must follow the last point")
		case s[0] == '[':
			step, rest, err = readBrackets(s)
		default:
			step, rest, err = readMember(s)
		}
		step.deep = deep
		return step, rest, err
	case '[':
		return readBrackets(s)
	case '?':
		f, rest, err := parseJSONFilter(s[1:])
		return jsonStep{kind: stepFilter, filter: f, item: true}, rest, err
	case '(':
		return step, "", errors.New("functions of paths are not supported; " + jsonPathForms)
	}
	return step, "", fmt.Errorf("%q is not supported; %s", s, jsonPathForms)
}

// readMember reads what follows a point.
func readMember(s string) (step jsonStep, rest string, err error) {
	switch s[0] {
	case '*':
		return jsonStep{kind: stepAll}, s[1:], nil
	case '"':
		name, rest, err := quotedName(s)
		return jsonStep{name: name}, rest, err
	}
	end := strings.IndexAny(s, ".[] ()?@*\"'=!<>&|,~")
	if end < 0 {
		end = len(s)
	}
	if end == 0 {
		return step, "", fmt.Errorf("%q is not supported; %s", "."+s, jsonPathForms)
	}
	return jsonStep{name: []byte(s[:end])}, s[end:], nil
}

// readBrackets reads [ … ].
func readBrackets(s string) (step jsonStep, rest string, err error) {
	s = strings.TrimLeft(s[1:], " ")
	switch {
	case s == "":
		return step, "", errors.New("a ] is missing")
	case s[0] == '\'' || s[0] == '"':
		step.name, s, err = quotedName(s)
	case s[0] == '*':
		step, s = jsonStep{kind: stepAll}, s[1:]
	case s[0] == '?':
		step.kind = stepFilter
		step.filter, s, err = parseJSONFilter(s[1:])
	default:
		step, s, err = readElements(s)
	}
	if err != nil {
		return step, "", err
	}
	if s = strings.TrimLeft(s, " "); !strings.HasPrefix(s, "]") {
		return step, "", errors.New("a ] is missing")
	}
	return step, s[1:], nil
}

// readElements reads 1, or 0, -1, or 1:3, or 0 to last.
func readElements(s string) (step jsonStep, rest string, err error) {
	var n int
	if s[0] != ':' {
		if n, s, err = readIndex(s); err != nil {
			return step, "", err
		}
	}
	step = jsonStep{kind: stepElement, at: []int{n}}
	for {
		s = strings.TrimLeft(s, " ")
		switch {
		case strings.HasPrefix(s, ","):
			n, s, err = readIndex(strings.TrimLeft(s[1:], " "))
			step.at = append(step.at, n)
		case strings.HasPrefix(s, ":") && len(step.at) == 1:
			step = jsonStep{kind: stepSlice, from: step.at[0], open: true}
			if s = strings.TrimLeft(s[1:], " "); s != "" && s[0] != ']' {
				step.open = false
				step.to, s, err = readIndex(s)
			}
			return step, s, err
		case strings.HasPrefix(s, "to ") && len(step.at) == 1:
			step = jsonStep{kind: stepSlice, from: step.at[0]}
			step.to, s, err = readIndex(strings.TrimLeft(s[3:], " "))
			step.to++
			step.open = step.to == 0 // to the last one
			return step, s, err
		default:
			return step, s, nil
		}
		if err != nil {
			return step, "", err
		}
	}
}

// readIndex reads 1, -1, last or last - 1.
func readIndex(s string) (n int, rest string, err error) {
	if after, ok := strings.CutPrefix(s, "last"); ok {
		after = strings.TrimLeft(after, " ")
		if !strings.HasPrefix(after, "-") {
			return -1, after, nil
		}
		n, rest, err := readIndex(strings.TrimLeft(after[1:], " "))
		return -1 - n, rest, err
	}
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || end == 0 && s[end] == '-') {
		end++
	}
	if n, err = strconv.Atoi(s[:end]); err != nil {
		return 0, "", fmt.Errorf("%q is no element; %s", "["+s, jsonPathForms)
	}
	return n, s[end:], nil
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

// single reports whether a step leads to one element from the beginning, so that no other needs to be looked at.
func (st *jsonStep) single() bool { return len(st.at) == 1 && st.at[0] >= 0 }

// selected calls f for the indexes that the step selects of n elements, in its order, until f returns false.
func (st *jsonStep) selected(n int, f func(i int) bool) {
	abs := func(i int) int {
		if i < 0 {
			return n + i
		}
		return i
	}
	if st.kind == stepElement {
		for _, i := range st.at {
			if i = abs(i); i >= 0 && i < n && !f(i) {
				return
			}
		}
		return
	}
	to := n
	if !st.open {
		to = min(abs(st.to), n)
	}
	for i := max(abs(st.from), 0); i < to && f(i); i++ {
	}
}
