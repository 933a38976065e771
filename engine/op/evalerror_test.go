package op

import (
	"strings"
	"testing"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/types"
)

// An evaluation that fails says in which expression and over which values, whichever operator evaluates.
func TestEvalErrors(t *testing.T) {
	call := func(name string, args ...expr.Expr) expr.Expr {
		e, err := expr.Resolve(name, args)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	k := &expr.Column{Index: 0, Name: "k", T: types.Of(types.BigInt)}
	ten := expr.IntConst(10)
	quotient := call("/", ten, k)
	cond := call(">", quotient, ten)
	ts := []types.Type{types.Of(types.BigInt), types.String()}
	ctx := &expr.Ctx{}
	project, err := NewProject(ctx, []expr.Expr{k, quotient}, nil, discard{})
	if err != nil {
		t.Fatal(err)
	}
	filter, err := NewFilter(ctx, cond, ts, nil, discard{})
	if err != nil {
		t.Fatal(err)
	}
	in := batchOf(t, "+I 1 a", "+I 0 b")
	combined := func(residual expr.Expr, project []expr.Expr) error {
		c, err := NewCombine(ctx, ts, ts, residual, project)
		if err != nil {
			t.Fatal(err)
		}
		var out changelog.Batch
		c.append(&out, changelog.Insert, in.Row(0), in.Row(0))
		if c.err != nil {
			t.Errorf("10 / 1: %v", c.err)
		}
		c.append(&out, changelog.Insert, in.Row(1), in.Row(0))
		return c.err
	}
	for name, err := range map[string]error{
		"project":  project.Push(in),
		"filter":   filter.Push(in),
		"residual": combined(cond, nil),
		"combine":  combined(nil, []expr.Expr{quotient}),
	} {
		if err == nil || !strings.Contains(err.Error(), "10 / k") || !strings.Contains(err.Error(), "where k = 0: division by zero") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
