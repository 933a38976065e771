// Package vars replaces variables, ${NAME} and ${NAME:-default}, in the text of a SQL script and keeps
// track of where every part of the new text came from, so that errors point into the file as the user
// wrote it.
//
// Within a '…' string or a `…` name the quotes of a value are doubled: a value stays one string or one
// name, whatever it holds. Elsewhere it is put in as it is. Comments are left alone, hints (/*+ … */) are
// not. As in a shell, the default counts when the variable is unset or empty, and may itself hold
// variables. $${ stands for a plain ${.
package vars

import (
	"fmt"
	"sort"
	"strings"

	"github.com/sluicesql/sluice/internal/near"
	"github.com/sluicesql/sluice/sql/ast"
)

// maxDepth is how deeply defaults may be nested.
const maxDepth = 20

// Set holds the values of variables. Names in Values go before those of Environ, which may be nil.
type Set struct {
	Values  map[string]string
	Environ func(name string) (string, bool)
	// Known are further names to suggest for one that is not set.
	Known []string
}

func (s *Set) lookup(name string) (string, bool) {
	if v, ok := s.Values[name]; ok {
		return v, true
	}
	if s.Environ != nil {
		return s.Environ(name)
	}
	return "", false
}

func (s *Set) names() []string {
	var names []string
	for n := range s.Values {
		names = append(names, n)
	}
	sort.Strings(names)
	return append(names, s.Known...)
}

// Expand replaces the variables in src, the text of the file of that name. The error is an ast.ErrorList
// of all that are wrong.
func (s *Set) Expand(file, src string) (*Text, error) {
	e := expander{set: s, text: &Text{File: file, Original: src}}
	e.run()
	if err := e.errs.Err(); err != nil {
		return nil, err
	}
	e.text.Expanded = e.out.String()
	return e.text, nil
}

// expander walks through a text. It knows as much of SQL's lexis as it takes to tell strings, names and
// comments from the rest.
type expander struct {
	set  *Set
	text *Text
	out  strings.Builder
	errs ast.ErrorList
	// quote is the sign that ends the quoted text at the current place, or 0.
	quote byte
}

func (e *expander) run() {
	src := e.text.Original
	for i := 0; i < len(src); {
		n := e.step(src, i)
		i += n
	}
}

// step takes over what stands at offset i and returns its length.
func (e *expander) step(src string, i int) int {
	rest := src[i:]
	switch c := src[i]; {
	case strings.HasPrefix(rest, "$${"):
		e.put(i, 3, "${", "")
		return 3
	case strings.HasPrefix(rest, "${"):
		return e.variable(src, i)
	case e.quote != 0:
		if c == e.quote {
			e.quote = 0 // a doubled quote opens the next text at once, which comes to the same
		}
	case c == '\'' || c == '`' || c == '"':
		e.quote = c
	default:
		if n := commentLen(rest); n > 0 {
			e.out.WriteString(rest[:n])
			return n
		}
	}
	e.out.WriteByte(src[i])
	return 1
}

// commentLen is the length of the comment that s starts with, or 0.
func commentLen(s string) int {
	switch {
	case strings.HasPrefix(s, "--"):
		if n := strings.IndexByte(s, '\n'); n >= 0 {
			return n
		}
		return len(s)
	case strings.HasPrefix(s, "/*") && !strings.HasPrefix(s, "/*+"):
		if n := strings.Index(s[2:], "*/"); n >= 0 {
			return n + 4
		}
		return len(s)
	}
	return 0
}

// variable replaces the ${…} at offset i and returns its length.
func (e *expander) variable(src string, i int) int {
	v, n, err := e.value(src[i:], 0)
	if err != nil {
		err.Pos = Place(e.text.File, src, i)
		e.errs = append(e.errs, err)
		return max(n, 2)
	}
	switch e.quote {
	case '\'', '`':
		q := string(e.quote)
		v = strings.ReplaceAll(v, q, q+q)
	}
	e.put(i, n, v, nameOf(src[i+2:]))
	return n
}

// put writes s in place of the n bytes at offset i of the original.
func (e *expander) put(i, n int, s, name string) {
	at := e.out.Len()
	e.out.WriteString(s)
	e.text.pieces = append(e.text.pieces, piece{from: at, to: at + len(s), origFrom: i, origTo: i + n, name: name})
}

// value is the value of the ${…} that s starts with, and its length.
func (e *expander) value(s string, depth int) (string, int, *ast.Error) {
	name := nameOf(s[2:])
	end := 2 + len(name)
	fallback, hasFallback := "", false
	switch {
	case depth > maxDepth:
		return "", len(s), &ast.Error{Msg: fmt.Sprintf("defaults of variables are nested more than %d levels deep", maxDepth), Code: ast.CodeLimit}
	case strings.HasPrefix(s[end:], ":-"):
		end += 2
		hasFallback = true
		var err *ast.Error
		var n int
		if fallback, n, err = e.fallback(s[end:], depth); err != nil {
			return "", end + n, err
		}
		end += n
	}
	if name == "" || end >= len(s) || s[end] != '}' {
		return "", end, &ast.Error{
			Msg:  "this is no variable",
			Hint: "write ${NAME} or ${NAME:-default}, with letters, digits and _ in the name, or $${ for a plain ${",
			Code: ast.CodeSyntax,
		}
	}
	v, ok := e.set.lookup(name)
	if hasFallback && v == "" {
		return fallback, end + 1, nil
	}
	if !ok {
		hint := "set it in the environment or with --set-var " + name + "=VALUE"
		if known := near.Name(name, e.set.names()); known != "" {
			hint = "did you mean ${" + known + "}? Otherwise " + hint
		}
		return "", end + 1, &ast.Error{Msg: "the variable ${" + name + "} is not set", Hint: hint, Code: ast.CodeUnsetVariable}
	}
	return v, end + 1, nil
}

// fallback reads a default up to the brace that ends it.
func (e *expander) fallback(s string, depth int) (string, int, *ast.Error) {
	var b strings.Builder
	for i := 0; i < len(s); {
		switch {
		case s[i] == '}':
			return b.String(), i, nil
		case strings.HasPrefix(s[i:], "${"):
			v, n, err := e.value(s[i:], depth+1)
			if err != nil {
				return "", i + n, err
			}
			b.WriteString(v)
			i += n
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return "", len(s), nil
}

// nameOf is the longest name at the start of s.
func nameOf(s string) string {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return s[:i]
		}
	}
	return s
}

// ValidName reports whether a variable can have this name.
func ValidName(name string) bool { return name != "" && nameOf(name) == name }
