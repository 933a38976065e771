package format

import (
	"fmt"
	"strings"

	"github.com/sluicesql/sluice/sql/ast"
	"github.com/sluicesql/sluice/sql/parser"
)

// Text is text laid out. file is its name in errors, which are those of the parser: a text that cannot be parsed is not
// formatted. The text may hold variables, ${NAME} and ${NAME:-default}. Its lines end as before, in \n or all in \r\n.
func Text(file, text string) (string, error) {
	if breaks := strings.Count(text, "\r\n"); breaks > 0 && breaks == strings.Count(text, "\n") {
		if out, err := laidOut(file, strings.ReplaceAll(text, "\r\n", "\n")); err == nil {
			return strings.ReplaceAll(out, "\n", "\r\n"), nil
		}
	}
	return laidOut(file, text) // an error has its place in this text
}

func laidOut(file, text string) (string, error) {
	masked, free := mask(text)
	stmts, wrong := parser.Parse(file, masked)
	if wrong != nil && !free {
		return "", wrong
	}
	names := map[int]bool{}
	for _, st := range stmts {
		ast.Visit(st, func(n ast.Node) bool {
			if id, ok := n.(ast.Ident); ok && id.Pos.IsValid() {
				names[id.Pos.Offset] = true
			}
			return true
		})
	}
	items, err := split(file, text, masked)
	if err != nil {
		return "", err
	}
	l := &layout{items: items}
	// A text that does not parse, for its variables, does not tell which words are names.
	l.keywords(func(it *item) bool {
		return !names[it.start] && (wrong == nil || parser.Reserved(it.word))
	})
	l.nest()
	out := l.write()
	return out, same(file, text, out)
}

// mask writes word characters over variables, byte for byte, so that the lexer passes over them. free says that one of
// them stands outside of quotes, where it may stand for anything.
func mask(text string) (masked string, free bool) {
	b := []byte(text)
	var quote byte
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case strings.HasPrefix(text[i:], "$${"):
			i += 2 // a plain ${
		case strings.HasPrefix(text[i:], "${"):
			end := variableEnd(text, i)
			for ; i < end; i++ {
				b[i] = '_'
			}
			i--
			free = free || quote == 0
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '`':
			quote = c
		case strings.HasPrefix(text[i:], "--"):
			for i+1 < len(b) && b[i+1] != '\n' {
				i++
			}
		case strings.HasPrefix(text[i:], "/*") && !strings.HasPrefix(text[i:], "/*+"):
			n := strings.Index(text[i+2:], "*/")
			if n < 0 {
				return string(b), free
			}
			i += n + 3
		}
	}
	return string(b), free
}

// variableEnd is the end of the variable that starts at i, whose default may hold others.
func variableEnd(text string, i int) int {
	depth := 0
	for j := i; j < len(text); j++ {
		switch {
		case strings.HasPrefix(text[j:], "${"):
			depth++
		case text[j] == '}':
			if depth--; depth == 0 {
				return j + 1
			}
		}
	}
	return i + 2
}

// same checks that two texts have the same tokens and comments, but for the case of words that were written in upper case.
func same(file, before, after string) error {
	a, errA := splitText(file, before)
	b, errB := splitText(file, after)
	if errA != nil || errB != nil || len(a) != len(b) {
		return fmt.Errorf("%s: formatting would change the text; it is left as it is", file)
	}
	for i := range a {
		if a[i].text != b[i].text && (a[i].word == "" || b[i].text != a[i].word) {
			return fmt.Errorf("%s: formatting would change %q; the text is left as it is", file, a[i].text)
		}
	}
	return nil
}

func splitText(file, text string) ([]item, error) {
	masked, _ := mask(text)
	return split(file, text, masked)
}
