package repl

import (
	"fmt"
	goast "go/ast"
	goparser "go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/sluicesql/sluice/connectors/blackhole"
	"github.com/sluicesql/sluice/connectors/datagen"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/sql/parser"
)

var syntaxWord = regexp.MustCompile(`[A-Z_]+`)

// The examples of statements are planned as they stand, and every kind of statement that the parser makes, and
// every word that begins one, is among them.
func TestStatements(t *testing.T) {
	kinds, words := map[string]bool{}, map[string]bool{}
	for _, s := range Statements() {
		r := spi.NewRegistry()
		datagen.Register(r)
		blackhole.Register(r)
		stmts, err := parser.Parse(s.Name, s.Example)
		if err == nil {
			_, err = planner.NewSession(r).Run(stmts)
		}
		if err != nil {
			t.Errorf("HELP %s: %v", s.Name, err)
		}
		for _, st := range stmts {
			kinds[fmt.Sprintf("%T", st)] = true
		}
		for _, w := range syntaxWord.FindAllString(s.Syntax, -1) {
			words[w] = true
		}
	}
	for _, kind := range statementKinds(t) {
		if !kinds[kind] {
			t.Errorf("no example has a statement %s", kind)
		}
	}
	for _, w := range slices.Concat(parser.Statements(), parser.Shown()) {
		if !words[w] {
			t.Errorf("no syntax has the word %s", w)
		}
	}
}

// statementKinds are the types of the syntax tree that are statements.
func statementKinds(t *testing.T) []string {
	files, err := filepath.Glob("../../../../sql/ast/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, name := range files {
		file, err := goparser.ParseFile(token.NewFileSet(), name, nil, goparser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*goast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != "statement" || len(f.Type.Params.List) > 0 {
				continue
			}
			if star, ok := f.Recv.List[0].Type.(*goast.StarExpr); ok {
				kinds = append(kinds, "*ast."+star.X.(*goast.Ident).Name)
			}
		}
	}
	if len(kinds) < 12 {
		t.Fatalf("found only %v", kinds)
	}
	return kinds
}
