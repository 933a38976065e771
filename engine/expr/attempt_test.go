package expr

import (
	"testing"

	"github.com/sluicesql/sluice/engine/types"
)

// What fails is a value until it is needed, and then the error that it would have been at once.
func TestAttempt(t *testing.T) {
	a := &Column{Index: 0, Name: "a", T: types.Of(types.Int).Required()}
	quotient := resolved(t, "/", 10, a)
	SetPlace(quotient, "q.sql:1:2")
	for _, c := range []struct {
		a       any
		value   string
		failure string
	}{
		{5, "2", ""},
		{0, "NULL", "q.sql:1:2: 10 / a, where a = 0: division by zero: 10 / 0; write NULLIF(divisor, 0) to get NULL instead"},
	} {
		r := pack(t, []types.Type{a.T}, c.a)
		var ctx Ctx
		eval := func(e Expr) string {
			t.Helper()
			f, err := Compile(e)
			if err != nil {
				t.Fatal(err)
			}
			ctx.Reset()
			k := Const{Value: f(&ctx, r), T: e.Type()}
			if ctx.Err != nil {
				return "error: " + EvalError(ctx.Err, &ctx, e, r).Error()
			}
			if k.Value.Null {
				return "NULL"
			}
			return k.String()
		}
		failure := "NULL"
		needed := c.value
		if c.failure != "" {
			failure, needed = quote([]byte(c.failure)), "error: "+c.failure
		}
		for _, x := range []struct {
			e    Expr
			want string
		}{
			{Attempt(quotient), c.value},
			{Failure(quotient), failure},
			{resolved(t, "COALESCE", Failure(quotient), "none"), func() string {
				if c.failure == "" {
					return "'none'"
				}
				return failure
			}()},
			{OrFail(Attempt(quotient), Failure(quotient)), needed},
			{resolved(t, "+", OrFail(Attempt(quotient), Failure(quotient)), 0), needed},
		} {
			if got := eval(x.e); got != x.want {
				t.Errorf("a = %v: %s is %s, want %s", c.a, x.e, got, x.want)
			}
		}
	}
}
