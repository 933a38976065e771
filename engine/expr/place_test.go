package expr

import (
	"testing"

	"github.com/sluicesql/sluice/engine/types"
)

// The part to blame is the innermost call that fails, and that was evaluated.
func TestFailing(t *testing.T) {
	schema := []types.Type{types.Of(types.Int), types.String()}
	a, s := &Column{Index: 0, Name: "a", T: schema[0]}, &Column{Index: 1, Name: "s", T: schema[1]}
	quotient := resolved(t, "/", 10, a)
	number := must(Cast(s, types.Of(types.Int), false))
	SetPlace(quotient, "q.sql:1:2")
	for _, c := range []struct {
		whole Expr
		want  Expr
	}{
		{quotient, quotient},
		{resolved(t, "+", resolved(t, "*", quotient, 2), 1), quotient},
		{resolved(t, "CASE", resolved(t, "=", a, 0), number, quotient), number},
		{resolved(t, "CASE", resolved(t, "=", a, 1), number, quotient), quotient},
		{resolved(t, "COALESCE", NullConst(schema[0]), resolved(t, "CHAR_LENGTH", resolved(t, "REPEAT", s, resolved(t, "ABS", number)))), number},
	} {
		r := pack(t, schema, 0, "x")
		f, err := Compile(c.whole)
		if err != nil {
			t.Fatal(err)
		}
		var ctx Ctx
		f(&ctx, r)
		if got := Failing(c.whole, &ctx, r, ctx.Err); got != c.want {
			t.Errorf("%s fails with %v: %s is blamed, not %s", c.whole, ctx.Err, got, c.want)
		}
	}
	if got := resolved(t, "+", quotient, 1).(*Call); got.Place != "" || got.Args[0].(*Call).Place != "q.sql:1:2" {
		t.Errorf("places %q and %q", got.Place, got.Args[0].(*Call).Place)
	}
}

// A call keeps its place through folding and remapping.
func TestPlaceKept(t *testing.T) {
	a := &Column{Index: 0, Name: "a", T: types.Of(types.Int)}
	e := resolved(t, "AND", resolved(t, "=", resolved(t, "+", 1, 1), resolved(t, "/", a, 2)), true, resolved(t, "=", a, 1))
	SetPlace(e, "q.sql:3:4")
	e = Remap(Fold(e, nil), func(*Column) Expr { return &Column{Index: 5, Name: "b", T: a.T} })
	Walk(e, func(e Expr) bool {
		if c, ok := e.(*Call); ok && c.Place != "q.sql:3:4" {
			t.Errorf("%s is at %q", c, c.Place)
		}
		return true
	})
}
