package parser

import (
	"fmt"
	"strings"

	"github.com/sluicesql/sluice/internal/near"
	"github.com/sluicesql/sluice/sql/ast"
)

// bailout carries a mistake from where it's found to Parse.
type bailout struct{ err *ast.Error }

// failAs reports a mistake of the kind code at pos; it doesn't return.
func (p *parser) failAs(code ast.Code, pos ast.Pos, hint, format string, args ...any) {
	panic(bailout{&ast.Error{Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint, Code: code}})
}

// fail reports at pos what the dialect's syntax does not allow; it doesn't return.
func (p *parser) fail(pos ast.Pos, hint, format string, args ...any) {
	p.failAs(ast.CodeSyntax, pos, hint, format, args...)
}

// failTokAs reports a mistake of the kind code at a token; it doesn't return. What the lexer
// could not read is reported instead, since all that follows is guesswork.
func (p *parser) failTokAs(code ast.Code, t *token, hint, format string, args ...any) {
	if t.kind == tError {
		p.fail(p.posOf(t), t.kw, "%s", t.text)
	}
	p.failAs(code, p.posOf(t), hint, format, args...)
}

// failTok reports at a token what the dialect's syntax does not allow; it doesn't return.
func (p *parser) failTok(t *token, hint, format string, args ...any) {
	p.failTokAs(ast.CodeSyntax, t, hint, format, args...)
}

// unsupported reports at a token what other dialects have; it doesn't return.
func (p *parser) unsupported(t *token, hint, format string, args ...any) {
	p.failTokAs(ast.CodeUnsupported, t, hint, format, args...)
}

// unexpected reports that the current token is not what was expected; words
// are the keywords that could have stood there. It doesn't return.
func (p *parser) unexpected(expected string, words ...string) {
	t := p.cur()
	if t.kind == tWord && !reserved[t.kw] {
		if known := near.Name(t.text, words); known != "" && known != t.kw { // equal, it is what follows that is wrong
			p.failTok(t, "did you mean "+known+"?", "expected %s, found %q", expected, t.text)
		}
	}
	p.misspelt()
	hint := ""
	switch {
	case t.isOp(")") && t.mate < 0:
		p.failTok(t, "", `")" closes no parenthesis`)
	case t.isOp("]") && t.mate < 0:
		p.failTok(t, "", `"]" closes no bracket`)
	case t.isOp("/*+"):
		p.failTok(t, "hints stand right after SELECT or after a table's name", "a hint is not possible here")
	case t.kind == tWord && contains(clauseWords, t.kw) && expected == "a table" && p.i > 0 && p.toks[p.i-1].isOp(","):
		hint = "remove the comma before it, or write `" + t.text + "` if it is a name"
	case t.kind == tWord && reserved[t.kw] && expectsName(expected):
		hint = "it is a reserved word; to use it as a name, write `" + t.text + "`"
	case t.kind == tWord && reserved[t.kw] && expected == "an expression" && p.usedAsName():
		hint = "it is a reserved word; to use it as a name, write `" + t.text + "`"
	case t.kind == tWord && reserved[t.kw] && p.i > 0 && p.toks[p.i-1].isOp(","):
		hint = "remove the comma before it, or write `" + t.text + "` if it is a name"
	}
	if h, ok := foreignSigns[t.text]; ok && t.kind == tOp {
		p.unsupported(t, h, "the operator %s is not supported", t.text)
	}
	if what, ok := outsideSigns[t.text]; ok && t.kind == tOp {
		p.unsupported(t, "write ${NAME} to take a value from outside", "%s are not supported", what)
	}
	p.failTok(t, hint, "expected %s, found %s", expected, t.describe())
}

// expectsName reports whether an expectation asks for a name.
func expectsName(expected string) bool {
	return strings.Contains(expected, "name") || expected == "an alias" || expected == "a table"
}

// usedAsName reports whether what follows the current word could follow a
// column, so that the word was probably meant as one.
func (p *parser) usedAsName() bool {
	next := p.at(1)
	return next.kw == "FROM" || next.kw == "AS" || next.kind == tOp && next.text != "(" && next.text != "*" && next.text != ";"
}

// misspelt looks at the token before the current one: in FORM t the parser
// takes FORM for an alias and stumbles over t, but the mistake is FORM.
func (p *parser) misspelt() {
	if p.i == 0 {
		return
	}
	t := &p.toks[p.i-1]
	if t.kind != tWord || reserved[t.kw] || noAlias[t.kw] || p.cur().kind == tError {
		return
	}
	if len(t.text) < 4 || p.i-1 != p.lastAlias {
		return
	}
	if known := near.Name(t.text, clauseWords); known != "" && known != t.kw {
		p.failTok(t, "did you mean "+known+"?", "unexpected %q before %s", t.text, p.cur().describe())
	}
}

// foreignSigns are signs of other dialects, with what to write instead.
var foreignSigns = map[string]string{
	"==":  "write =",
	"<=>": "write IS NOT DISTINCT FROM",
	"->":  "write JSON_VALUE or JSON_QUERY",
	"->>": "write JSON_VALUE or JSON_QUERY",
	"&&":  "write AND",
	"!":   "write NOT",
	"::":  "write CAST(… AS …)",
	"<<":  "",
	"&":   "",
	"|":   "write || to join strings",
	"^":   "write POWER(a, b)",
	"~":   "write REGEXP(string, pattern)",
}

// outsideSigns start what takes its value from outside of the text.
var outsideSigns = map[string]string{
	":": "parameters", "?": "parameters", "@": "variables", "@@": "variables",
}

// enter goes one level deeper, and leave comes back; see MaxNesting and
// MaxHeight. What enter gives is for leave.
func (p *parser) enter(at *token) (saved int) {
	p.depth++
	if p.depth > MaxNesting {
		p.failTokAs(ast.CodeLimit, at, "", "nested more than %d levels deep", MaxNesting)
	}
	saved, p.height = p.height, 0
	return saved
}

func (p *parser) leave(saved int) {
	p.depth--
	p.height = max(saved, p.height+1)
}

// grow counts one more operator of a chain at the current level.
func (p *parser) grow(at *token) {
	p.height++
	if p.height > MaxHeight {
		p.failTokAs(ast.CodeLimit, at, "", "more than %d operators or joins in one chain", MaxHeight)
	}
}
