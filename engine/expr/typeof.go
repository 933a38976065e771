package expr

import "github.com/sluicesql/sluice/engine/types"

func typeofFunctions() []*Function {
	return []*Function{{
		Name: "TYPEOF", Category: Conversion, Signature: "TYPEOF(value [, full])",
		Help:     "The type of the value, in SQL; the value is not evaluated.",
		Examples: []Example{ex("INT NOT NULL", 1), ex("CHAR(3) NOT NULL", "abc"), ex("NULL", nil), ex("DECIMAL(3, 2) NOT NULL", dec("1.50", 3, 2), true)},
		rewrite:  typeOf,
	}}
}

// typeOf takes the second argument, which chooses a form that can be read back, for Flink's sake: there is one form,
// and it can be.
func typeOf(args []Expr) (Expr, error) {
	args, err := sig{params: []param{anything, aBool}, min: 1}.checkOpen(args)
	if err != nil {
		return nil, err
	}
	name := StringConst(args[0].Type().String())
	name.T = types.String().Required()
	return name, nil
}
