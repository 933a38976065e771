package planner

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/sql/ast"
)

// literal binds a constant.
func (b *binder) literal(e *ast.Literal) (expr.Expr, error) {
	switch e.Kind {
	case ast.NullLiteral:
		return expr.NullConst(types.Of(types.Null)), nil
	case ast.BoolLiteral:
		if e.Text == "UNKNOWN" {
			return expr.NullConst(types.Of(types.Boolean)), nil
		}
		return expr.BoolConst(e.Text == "TRUE"), nil
	case ast.IntLiteral:
		return integerLiteral(e.Pos, e.Text)
	case ast.DecimalLiteral:
		return decimalLiteral(e.Pos, e.Text)
	case ast.DoubleLiteral:
		v, err := strconv.ParseFloat(e.Text, 64)
		if err != nil || math.IsInf(v, 0) {
			return nil, errAt(e.Pos, "the number %s is too large for DOUBLE", e.Text).Coded(ast.CodeBadLiteral)
		}
		return expr.DoubleConst(v), nil
	case ast.StringLiteral:
		return expr.StringConst(e.Text), nil
	case ast.BinaryLiteral:
		v, err := hex.DecodeString(e.Text)
		if err != nil {
			return nil, errAt(e.Pos, "x'%s' is no hexadecimal number of bytes", e.Text).Coded(ast.CodeBadLiteral)
		}
		return &expr.Const{Value: row.Bytes(v), T: types.Type{Kind: types.Binary, Precision: max(len(v), 1), NotNull: true}}, nil
	case ast.DateLiteral:
		return b.textLiteral(e, types.Of(types.Date), "a date, as in DATE '2024-02-29'")
	case ast.TimeLiteral:
		return b.textLiteral(e, types.Type{Kind: types.Time, Precision: fraction(e.Text)}, "a time, as in TIME '12:34:56'")
	case ast.TimestampLiteral:
		return b.textLiteral(e, types.TimestampOf(fraction(e.Text)), "a time, as in TIMESTAMP '2024-02-29 12:34:56'")
	case ast.TimestampLTZLiteral:
		return b.textLiteral(e, types.TimestampLTZOf(fraction(e.Text)), "a time, as in TIMESTAMP_LTZ '2024-02-29 12:34:56'")
	}
	panic("planner: unknown literal")
}

// integerLiteral is INT, BIGINT, or DECIMAL where it needs that.
func integerLiteral(pos ast.Pos, text string) (expr.Expr, error) {
	if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		return expr.IntConst(v), nil
	}
	return decimalLiteral(pos, text)
}

// decimalLiteral is a DECIMAL of just the digits written.
func decimalLiteral(pos ast.Pos, text string) (expr.Expr, error) {
	whole, frac, _ := strings.Cut(strings.TrimLeft(text, "+-"), ".")
	whole = strings.TrimLeft(whole, "0")
	p := max(len(whole)+len(frac), 1)
	if p > types.MaxDecimalPrecision {
		return nil, errAt(pos, "the number %s has %d digits, more than the %d of DECIMAL", text, p, types.MaxDecimalPrecision).Coded(ast.CodeBadLiteral)
	}
	c, err := castConst(text, types.DecimalOf(p, len(frac)), nil)
	if err != nil {
		return nil, errAt(pos, "the number %s cannot be read: %v", text, err).Coded(ast.CodeBadLiteral)
	}
	return c, nil
}

// textLiteral reads a date or time.
func (b *binder) textLiteral(e *ast.Literal, t types.Type, want string) (expr.Expr, error) {
	pos := e.TextPos
	if !pos.IsValid() {
		pos = e.Pos
	}
	c, err := castConst(e.Text, t, b.s.exprCtx())
	if err != nil {
		return nil, errAt(pos, "'%s' is not %s", e.Text, want).Coded(ast.CodeBadLiteral)
	}
	return c, nil
}

// castConst reads a text as a constant of type t.
func castConst(text string, t types.Type, ctx *expr.Ctx) (*expr.Const, error) {
	e, err := expr.Cast(expr.StringConst(text), t, false)
	if err != nil {
		return nil, err
	}
	c, ok := expr.Fold(e, ctx).(*expr.Const)
	if !ok || c.Value.Null {
		return nil, strconv.ErrSyntax
	}
	c.T = t.Required()
	return c, nil
}

// fraction is the number of digits after the point of a time.
func fraction(text string) int {
	_, frac, _ := strings.Cut(text, ".")
	n := 0
	for n < len(frac) && frac[n] >= '0' && frac[n] <= '9' {
		n++
	}
	return min(n, 9)
}

func upper(s string) string { return strings.ToUpper(s) }
