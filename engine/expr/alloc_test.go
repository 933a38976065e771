package expr

import (
	"testing"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// overColumns is the example's call with its arguments moved into the columns of a row, as far as it takes columns
// there.
func overColumns(f *Function, x Example) (Expr, row.Row) {
	args := append([]Expr(nil), x.Args...)
	var ts []types.Type
	var values []row.Datum
	for i, a := range x.Args {
		k, ok := Fold(a, nil).(*Const)
		if !ok || k.T.Kind == types.Null {
			continue
		}
		args[i] = &Column{Index: len(ts), Name: "c", T: k.T}
		if _, err := Resolve(f.Name, args); err != nil {
			args[i] = a
			continue
		}
		ts, values = append(ts, k.T), append(values, k.Value)
	}
	e, err := Resolve(f.Name, args)
	if err != nil {
		return nil, nil
	}
	var b row.Builder
	b.Begin(nil, len(ts))
	phys := make([]types.Phys, len(ts))
	for i, t := range ts {
		phys[i] = t.Phys()
		b.Datum(i, phys[i], values[i])
	}
	return e, b.Finish(phys)
}

// No function allocates for each row, but for those whose standard library does.
func TestFunctionsAllocateNothing(t *testing.T) {
	allocates := map[string]bool{"PRINTF": true}
	for _, regular := range []string{"SIMILAR TO", "REGEXP", "REGEXP_REPLACE", "REGEXP_EXTRACT", "REGEXP_EXTRACT_ALL", "REGEXP_COUNT", "REGEXP_INSTR", "REGEXP_SUBSTR", "STR_TO_MAP", "PARSE_URL"} {
		allocates[regular] = true
	}
	for _, f := range Functions() {
		for _, x := range f.Examples {
			e, r := overColumns(f, x)
			if e == nil || allocates[f.Name] {
				continue
			}
			fn, err := Compile(e)
			if err != nil {
				continue // a constant that is refused
			}
			var c Ctx
			run := func() {
				c.Reset()
				fn(&c, r)
			}
			run()
			if c.Err != nil {
				continue
			}
			if n := testing.AllocsPerRun(20, run); n != 0 {
				t.Errorf("%s allocates %v times a row", e, n)
			}
		}
	}
}
