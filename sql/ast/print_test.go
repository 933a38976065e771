package ast

import "testing"

// What the parser reads and prints again is tested there; here is what only
// a made tree can be.
func TestStringOfMadeTrees(t *testing.T) {
	col := func(name string) Expr { return &ColumnRef{Parts: []Ident{{Name: name}}} }
	for _, c := range []struct {
		node Node
		want string
	}{
		{col("a b"), "`a b`"},
		{col("a`b"), "`a``b`"},
		{col("1a"), "`1a`"},
		{col("größe"), "größe"},
		{Ident{Name: "x", Quoted: true}, "`x`"},
		{Name{Parts: []Ident{{Name: "db"}, {Name: "my table"}}}, "db.`my table`"},
		{&Binary{Op: OpAnd, Left: &Binary{Op: OpOr, Left: col("a"), Right: col("b")}, Right: col("c")}, "(a OR b) AND c"},
		{&Binary{Op: OpSub, Left: col("a"), Right: &Binary{Op: OpSub, Left: col("b"), Right: col("c")}}, "a - (b - c)"},
		{&Unary{Op: OpMinus, Expr: &Unary{Op: OpMinus, Expr: col("a")}}, "-(-a)"},
		{&Is{Expr: &Unary{Op: OpNot, Expr: col("a")}, Kind: IsNull}, "(NOT a) IS NULL"},
		{&FieldAccess{Expr: col("r"), Field: Ident{Name: "f"}}, "(r).f"},
		{&DataType{Name: "DECIMAL", Precision: 10, Scale: 2, NotNull: true}, "DECIMAL(10, 2) NOT NULL"},
		{&Join{Kind: CrossJoin, Left: &NamedTable{Name: Name{Parts: []Ident{{Name: "a"}}}},
			Right: &NamedTable{Name: Name{Parts: []Ident{{Name: "b"}}}}}, "a CROSS JOIN b"},
	} {
		if got := String(c.node); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
