package planner

import (
	"strings"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/sql/ast"
)

// jsonClauses are the clauses that the JSON functions take, in the order of the arguments they become.
var jsonClauses = map[string][]string{
	"JSON_VALUE":  {"RETURNING", "ON EMPTY", "ON ERROR"},
	"JSON_QUERY":  {"RETURNING", "WRAPPER", "ON EMPTY", "ON ERROR"},
	"JSON_EXISTS": {"ON ERROR"},
	"JSON_OBJECT": {"ON NULL"},
	"JSON_ARRAY":  {"ON NULL"},
}

// clauseArguments turns the clauses within a call's parentheses into arguments, as the functions take
// them: all clauses of the function, with their defaults, or none. places are the places to blame.
func (b *binder) clauseArguments(e *ast.Call, name string, sc *scope) (args []expr.Expr, places []ast.Expr, err error) {
	if len(e.Options) == 0 {
		return nil, nil, nil
	}
	known := jsonClauses[name]
	given := map[string]*ast.CallOption{}
	for i := range e.Options {
		o := &e.Options[i]
		ok := false
		for _, k := range known {
			ok = ok || k == o.Name
		}
		if !ok {
			return nil, nil, notAvailable(o.Pos, "the clause "+clauseText(o)+" of "+name, "")
		}
		if given[o.Name] != nil {
			return nil, nil, errAt(o.Pos, "the clause %s is given twice", o.Name).Coded(ast.CodeDuplicateName)
		}
		given[o.Name] = o
	}
	for _, clause := range known {
		o := given[clause]
		switch clause {
		case "RETURNING":
			t := types.String()
			if o != nil {
				if t, err = bindType(o.Type); err != nil {
					return nil, nil, err
				}
			}
			args, places = append(args, expr.NullConst(t)), append(places, nil)
		case "ON NULL":
			// It is the first argument; see onNull.
		case "WRAPPER":
			word := "WITHOUT"
			if o != nil {
				word = strings.TrimPrefix(o.Word, "WITH ")
			}
			args, places = append(args, expr.StringConst(word)), append(places, nil)
		default:
			a, p, err := b.fallback(o, name, sc)
			if err != nil {
				return nil, nil, err
			}
			args, places = append(args, a...), append(places, p...)
		}
	}
	return args, places, nil
}

// onNull is what a function that makes JSON does with NULLs, 'NULL' or 'ABSENT', which it takes as its first argument;
// nil for other functions.
func onNull(e *ast.Call, name string) expr.Expr {
	var word string
	switch name {
	case "JSON_OBJECT":
		word = "NULL"
	case "JSON_ARRAY":
		word = "ABSENT"
	default:
		return nil
	}
	for _, o := range e.Options {
		if o.Name == "ON NULL" {
			word = o.Word
		}
	}
	return expr.StringConst(word)
}

// fallback is an ON EMPTY or ON ERROR clause: its word, and for JSON_VALUE its default value.
func (b *binder) fallback(o *ast.CallOption, name string, sc *scope) ([]expr.Expr, []ast.Expr, error) {
	word := "NULL"
	if name == "JSON_EXISTS" {
		word = "FALSE"
	}
	if o != nil {
		word = o.Word
	}
	args, places := []expr.Expr{expr.StringConst(word)}, []ast.Expr{nil}
	if name != "JSON_VALUE" {
		if word == "DEFAULT" {
			return nil, nil, errAt(o.Pos, "%s takes no DEFAULT", name).Coded(ast.CodeWrongArguments)
		}
		return args, places, nil
	}
	var value expr.Expr = expr.NullConst(types.Of(types.Null))
	var place ast.Expr
	if o != nil && o.Value != nil {
		var err error
		if value, err = b.expr(o.Value, sc); err != nil {
			return nil, nil, err
		}
		place = o.Value
	}
	return append(args, value), append(places, place), nil
}

// clauseText is a clause as written.
func clauseText(o *ast.CallOption) string {
	if strings.HasPrefix(o.Name, "ON ") {
		return strings.TrimSpace(o.Word + " " + o.Name)
	}
	return strings.TrimSpace(o.Name + " " + o.Word)
}
