package expr

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// jsonFilter is the condition of a path's filter: one of its fields says which. Other than conditions of SQL it is
// TRUE or FALSE, and a comparison of values of different types, or of a value that is missing, is FALSE; that with
// != is TRUE, as in JsonPath.
type jsonFilter struct {
	any, all    []*jsonFilter
	not         *jsonFilter
	exists      *jsonOperand
	left, right *jsonOperand // of a comparison
	op          string       // ==, !=, <, <=, >, >=
	pattern     *regexp.Regexp
	prefix      []byte
	list        []*jsonOperand // left is in it
}

// jsonOperand is a path from the value that is tested (@) or from the document ($), or a literal.
type jsonOperand struct {
	path    *jsonPath
	root    bool
	literal jsonValue
}

// jsonValue is a scalar with its escapes resolved, or the raw text of an object or array; kind is its first character,
// and 0 for none. All digits of numbers have the kind '0'.
type jsonValue struct {
	kind byte
	text []byte
}

// accepts evaluates a filter over the raw value v.
func (w *jsonWalk) accepts(f *jsonFilter, v []byte) bool {
	switch {
	case f.any != nil:
		for _, x := range f.any {
			if w.accepts(x, v) {
				return true
			}
		}
		return false
	case f.all != nil:
		for _, x := range f.all {
			if !w.accepts(x, v) {
				return false
			}
		}
		return true
	case f.not != nil:
		return !w.accepts(f.not, v)
	case f.exists != nil:
		return w.operand(f.exists, v).kind != 0
	}
	left := w.operand(f.left, v)
	switch {
	case f.pattern != nil:
		return left.kind == '"' && f.pattern.Match(left.text)
	case f.prefix != nil:
		return left.kind == '"' && bytes.HasPrefix(left.text, f.prefix)
	case f.list != nil:
		for _, x := range f.list {
			if left.compare("==", w.operand(x, v)) {
				return true
			}
		}
		return false
	}
	return left.compare(f.op, w.operand(f.right, v))
}

// operand is the value of an operand; of kind 0 where its path leads nowhere.
func (w *jsonWalk) operand(o *jsonOperand, v []byte) jsonValue {
	if o.path == nil {
		return o.literal
	}
	if w.inner == nil {
		w.inner = &jsonWalk{}
	}
	if o.root {
		v = w.s
	}
	if w.inner.find(v, o.path) != nil || len(w.inner.found) == 0 {
		return jsonValue{}
	}
	return valueOfJSON(w.inner.found[0])
}

// valueOfJSON reads a raw value.
func valueOfJSON(raw []byte) jsonValue {
	switch c := raw[0]; {
	case c == '"':
		text := raw[1 : len(raw)-1]
		if bytes.IndexByte(text, '\\') >= 0 {
			var ok bool
			if text, ok = unescape(nil, text); !ok {
				return jsonValue{}
			}
		}
		return jsonValue{'"', text}
	case c == '-' || c >= '0' && c <= '9':
		return jsonValue{'0', raw}
	case c == '{' || c == '[':
		return jsonValue{c, compact(nil, raw)}
	default:
		return jsonValue{c, raw}
	}
}

func (a jsonValue) compare(op string, b jsonValue) bool {
	if a.kind == 0 || a.kind != b.kind {
		return op == "!="
	}
	var c int
	switch a.kind {
	case '0':
		c = compareJSONNumbers(a.text, b.text)
	default:
		c = bytes.Compare(a.text, b.text)
	}
	switch op {
	case "==":
		return c == 0
	case "!=":
		return c != 0
	}
	if a.kind != '0' && a.kind != '"' {
		return false // no order
	}
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	default:
		return c >= 0
	}
}

// jsonNumber is ±0.digits × 10^exponent, the digits without zeros at either end; zero has none.
type jsonNumber struct {
	negative bool
	digits   []byte
	exponent int
}

// maxJSONExponent bounds exponents, beyond which numbers of JSON are taken for equally large.
const maxJSONExponent = 1 << 40

func readJSONNumber(s []byte) (n jsonNumber) {
	if s[0] == '-' {
		n.negative, s = true, s[1:]
	}
	mantissa := s
	if i := bytes.IndexAny(s, "eE"); i >= 0 {
		mantissa = s[:i]
		e, negative := s[i+1:], s[i+1] == '-'
		for _, c := range bytes.TrimLeft(e, "+-") {
			n.exponent = min(n.exponent*10+int(c-'0'), maxJSONExponent)
		}
		if negative {
			n.exponent = -n.exponent
		}
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})
	digits := append(append(make([]byte, 0, len(mantissa)), whole...), fraction...)
	n.exponent += len(whole)
	trimmed := bytes.TrimLeft(digits, "0")
	n.exponent -= len(digits) - len(trimmed)
	n.digits = bytes.TrimRight(trimmed, "0")
	if len(n.digits) == 0 {
		return jsonNumber{}
	}
	return n
}

// compareJSONNumbers compares exactly, whatever the numbers of digits.
func compareJSONNumbers(s, t []byte) int {
	a, b := readJSONNumber(s), readJSONNumber(t)
	sign := func(n jsonNumber) int {
		switch {
		case len(n.digits) == 0:
			return 0
		case n.negative:
			return -1
		}
		return 1
	}
	x, y := sign(a), sign(b)
	if x != y || x == 0 {
		return cmp.Compare(x, y)
	}
	if a.exponent != b.exponent {
		if (a.exponent < b.exponent) == (x > 0) {
			return -1
		}
		return 1
	}
	return x * bytes.Compare(a.digits, b.digits)
}

// filterParser reads a filter's text.
type filterParser struct{ s string }

// parseJSONFilter reads a condition, in parentheses or not, and returns what follows it.
func parseJSONFilter(s string) (f *jsonFilter, rest string, err error) {
	p := &filterParser{s}
	f, err = p.unary()
	// [?@.a == 1 && @.b] has no parentheses around it all.
	if err == nil && (p.is("&&") || p.is("||")) {
		p.s = s
		f, err = p.or()
	}
	return f, p.s, err
}

func (p *filterParser) is(token string) bool {
	p.s = strings.TrimLeft(p.s, " \t")
	return strings.HasPrefix(p.s, token)
}

func (p *filterParser) accept(token string) bool {
	if !p.is(token) {
		return false
	}
	p.s = p.s[len(token):]
	return true
}

func (p *filterParser) word(word string) bool {
	if !p.is(word) || len(p.s) > len(word) && (p.s[len(word)]|0x20 >= 'a' && p.s[len(word)]|0x20 <= 'z' || p.s[len(word)] == '_') {
		return false
	}
	p.s = p.s[len(word):]
	return true
}

func (p *filterParser) or() (*jsonFilter, error) {
	return p.joined("||", p.and, func(xs []*jsonFilter) *jsonFilter { return &jsonFilter{any: xs} })
}

func (p *filterParser) and() (*jsonFilter, error) {
	return p.joined("&&", p.unary, func(xs []*jsonFilter) *jsonFilter { return &jsonFilter{all: xs} })
}

func (p *filterParser) joined(op string, part func() (*jsonFilter, error), join func([]*jsonFilter) *jsonFilter) (*jsonFilter, error) {
	f, err := part()
	if err != nil || !p.is(op) {
		return f, err
	}
	list := []*jsonFilter{f}
	for p.accept(op) {
		if f, err = part(); err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return join(list), nil
}

func (p *filterParser) unary() (*jsonFilter, error) {
	switch {
	case p.accept("!"):
		f, err := p.unary()
		return &jsonFilter{not: f}, err
	case p.accept("("):
		f, err := p.or()
		return f, p.close(err)
	case p.word("exists"):
		if !p.accept("(") {
			return nil, errors.New("exists needs a path in parentheses")
		}
		x, err := p.operand()
		return &jsonFilter{exists: x}, p.close(err)
	}
	return p.comparison()
}

func (p *filterParser) close(err error) error {
	if err == nil && !p.accept(")") {
		return fmt.Errorf("a ) is missing before %q", p.s)
	}
	return err
}

func (p *filterParser) comparison() (*jsonFilter, error) {
	left, err := p.operand()
	if err != nil {
		return nil, err
	}
	for _, op := range []string{"==", "!=", "<>", "<=", ">=", "<", ">"} {
		if p.accept(op) {
			right, err := p.operand()
			if op == "<>" {
				op = "!="
			}
			return &jsonFilter{left: left, op: op, right: right}, err
		}
	}
	switch {
	case p.accept("=~"), p.word("like_regex"):
		return p.regexp(left)
	case p.word("starts"):
		return p.starts(left)
	case p.word("in"):
		return p.in(left)
	case left.path == nil:
		return nil, fmt.Errorf("a literal is no condition, before %q", p.s)
	}
	return &jsonFilter{exists: left}, nil
}

// regexp reads /…/i, or "…" [flag "i"].
func (p *filterParser) regexp(left *jsonOperand) (*jsonFilter, error) {
	var source, flags string
	if p.accept("/") {
		end := strings.Index(p.s, "/")
		if end < 0 {
			return nil, errors.New("the regular expression has no end")
		}
		source, p.s = p.s[:end], p.s[end+1:]
		for p.s != "" && (p.s[0] == 'i' || p.s[0] == 's' || p.s[0] == 'm') {
			flags, p.s = flags+p.s[:1], p.s[1:]
		}
		source = "^(?:" + source + ")$" // JsonPath matches the whole
	} else {
		text, err := p.text()
		if err != nil {
			return nil, err
		}
		source = string(text)
		if p.word("flag") {
			if text, err = p.text(); err != nil {
				return nil, err
			}
			flags = string(text)
		}
	}
	if flags != "" {
		source = "(?" + flags + ")" + source
	}
	re, err := compileRegexp(source)
	return &jsonFilter{left: left, pattern: re}, err
}

func (p *filterParser) starts(left *jsonOperand) (*jsonFilter, error) {
	if !p.word("with") {
		return nil, errors.New("starts must be followed by with")
	}
	text, err := p.text()
	return &jsonFilter{left: left, prefix: append([]byte{}, text...)}, err
}

func (p *filterParser) in(left *jsonOperand) (*jsonFilter, error) {
	if !p.accept("[") {
		return nil, errors.New("in must be followed by a list in brackets")
	}
	list := []*jsonOperand{}
	for !p.accept("]") {
		if len(list) > 0 && !p.accept(",") {
			return nil, fmt.Errorf("a , or ] is missing before %q", p.s)
		}
		x, err := p.operand()
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return &jsonFilter{left: left, list: list}, nil
}

// text reads a string in quotes of either kind.
func (p *filterParser) text() ([]byte, error) {
	if !p.is("'") && !p.is(`"`) {
		return nil, fmt.Errorf("a string in quotes must stand before %q", p.s)
	}
	text, rest, err := quotedName(p.s)
	p.s = rest
	return text, err
}

func (p *filterParser) operand() (*jsonOperand, error) {
	if p.is("@") || p.is("$") {
		return p.path()
	}
	if p.is("'") || p.is(`"`) {
		text, err := p.text()
		return &jsonOperand{literal: jsonValue{'"', text}}, err
	}
	for _, word := range []string{"true", "false", "null"} {
		if p.word(word) {
			return &jsonOperand{literal: jsonValue{word[0], []byte(word)}}, nil
		}
	}
	s := jsonText(p.s)
	if c := s.at(0); c == '-' || c >= '0' && c <= '9' {
		if end := s.number(0); end > 0 {
			number := p.s[:end]
			p.s = p.s[end:]
			return &jsonOperand{literal: jsonValue{'0', []byte(number)}}, nil
		}
	}
	return nil, fmt.Errorf("a path from @ or $, a number, a string, true, false or null must stand before %q", p.s)
}

// path reads @.a.b or $.a, which must lead to one value.
func (p *filterParser) path() (*jsonOperand, error) {
	o := &jsonOperand{root: p.s[0] == '$', path: &jsonPath{lax: true}}
	for p.s = p.s[1:]; p.s != "" && (p.s[0] == '.' || p.s[0] == '['); {
		step, rest, err := readJSONStep(p.s)
		if err != nil {
			return nil, err
		}
		if step.many() {
			return nil, errors.New("a path inside of a filter must lead to one value")
		}
		o.path.add(step)
		p.s = rest
	}
	if strings.HasPrefix(p.s, "(") {
		return nil, errors.New("functions of paths are not supported; " + jsonPathForms)
	}
	return o, nil
}
