package ast

// The precedences of operators, which are Calcite's: a larger number binds
// tighter. NOT binds looser than IS, which binds looser than a comparison, so
// that a = b IS NULL asks whether the comparison is unknown; || binds like *.
const (
	PrecOr      = 22
	PrecAnd     = 24
	PrecNot     = 26
	PrecIs      = 28
	PrecCompare = 30
	PrecRange   = 32 // BETWEEN, IN, LIKE, SIMILAR TO
	PrecAdd     = 40
	PrecMul     = 60
	PrecSign    = 80
	// PrecPrimary is that of everything without an operator.
	PrecPrimary = 100
)

// Precedence gives the operator's precedence.
func (op BinaryOp) Precedence() int {
	switch op {
	case OpOr:
		return PrecOr
	case OpAnd:
		return PrecAnd
	case OpAdd, OpSub:
		return PrecAdd
	case OpMul, OpDiv, OpMod, OpConcat:
		return PrecMul
	}
	return PrecCompare
}

// precedence is that of an expression's outermost operator.
func precedence(e Expr) int {
	switch e := e.(type) {
	case *Binary:
		return e.Op.Precedence()
	case *Quantified:
		return PrecCompare
	case *Is:
		return PrecIs
	case *Between, *In, *Like:
		return PrecRange
	case *Unary:
		if e.Op == OpNot {
			return PrecNot
		}
		return PrecSign
	}
	return PrecPrimary
}
