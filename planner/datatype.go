package planner

import (
	"slices"

	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/sql/ast"
)

// bindType checks a type as written.
func bindType(d *ast.DataType) (types.Type, error) {
	t, err := bindRootType(d)
	if err != nil {
		return types.Type{}, err
	}
	t.NotNull = d.NotNull
	return t, nil
}

func bindRootType(d *ast.DataType) (types.Type, error) {
	switch d.Name {
	case "BOOLEAN":
		return types.Of(types.Boolean), nil
	case "TINYINT":
		return types.Of(types.TinyInt), nil
	case "SMALLINT":
		return types.Of(types.SmallInt), nil
	case "INT":
		return types.Of(types.Int), nil
	case "BIGINT":
		return types.Of(types.BigInt), nil
	case "FLOAT":
		return types.Of(types.Float), nil
	case "DOUBLE":
		return types.Of(types.Double), nil
	case "DATE":
		return types.Of(types.Date), nil
	case "STRING":
		return types.String(), nil
	case "BYTES":
		return types.Bytes(), nil
	case "DECIMAL":
		return bindDecimal(d)
	case "CHAR":
		return bindLength(d, types.Char)
	case "VARCHAR":
		return bindLength(d, types.Varchar)
	case "BINARY":
		return bindLength(d, types.Binary)
	case "VARBINARY":
		return bindLength(d, types.Varbinary)
	case "TIME":
		return bindFraction(d, types.Time, 0)
	case "TIMESTAMP":
		return bindFraction(d, types.Timestamp, 6)
	case "TIMESTAMP_LTZ":
		return bindFraction(d, types.TimestampLTZ, 6)
	case "INTERVAL":
		return bindIntervalType(d), nil
	case "ARRAY":
		e, err := bindType(d.Elem)
		return types.ArrayOf(e), err
	case "MAP":
		k, err := bindType(d.Key)
		if err != nil {
			return types.Type{}, err
		}
		v, err := bindType(d.Elem)
		return types.MapOf(k, v), err
	case "ROW":
		return bindRowType(d)
	}
	remedy := ""
	switch d.Name {
	case "TIMESTAMP_TZ":
		remedy = "use TIMESTAMP_LTZ, or STRING"
	case "MULTISET":
		remedy = "use MAP<element, INT>"
	}
	return types.Type{}, notAvailable(d.Pos, "the type "+d.Name, remedy)
}

func bindDecimal(d *ast.DataType) (types.Type, error) {
	p, s := d.Precision, max(d.Scale, 0)
	if p < 0 {
		p = 10
	}
	if p < 1 || p > types.MaxDecimalPrecision {
		return types.Type{}, errAt(d.Pos, "the precision of DECIMAL(%d, %d) must be between 1 and %d", p, s, types.MaxDecimalPrecision).Coded(ast.CodeBadType)
	}
	if s > p {
		return types.Type{}, errAt(d.Pos, "the scale of DECIMAL(%d, %d) must be between 0 and the precision", p, s).Coded(ast.CodeBadType)
	}
	return types.DecimalOf(p, s), nil
}

func bindLength(d *ast.DataType, k types.Kind) (types.Type, error) {
	n := d.Precision
	if n < 0 {
		n = 1
	}
	if n < 1 || n > types.MaxLength {
		return types.Type{}, errAt(d.Pos, "the length of %s(%d) must be between 1 and %d", d.Name, n, types.MaxLength).Coded(ast.CodeBadType)
	}
	return types.Type{Kind: k, Precision: n}, nil
}

func bindFraction(d *ast.DataType, k types.Kind, def int) (types.Type, error) {
	p := d.Precision
	if p < 0 {
		p = def
	}
	if p > 9 {
		return types.Type{}, errAt(d.Pos, "the precision of %s(%d) must be between 0 and 9", d.Name, p).Coded(ast.CodeBadType)
	}
	return types.Type{Kind: k, Precision: p}, nil
}

func bindIntervalType(d *ast.DataType) types.Type {
	if d.Interval != nil && yearMonthUnit(d.Interval.From) {
		return types.Of(types.IntervalYM)
	}
	return types.Of(types.IntervalDT)
}

func yearMonthUnit(unit string) bool {
	return slices.Contains([]string{"YEAR", "QUARTER", "MONTH"}, unit)
}

func bindRowType(d *ast.DataType) (types.Type, error) {
	t := types.Type{Kind: types.Row}
	seen := map[string]bool{}
	for _, f := range d.Fields {
		if seen[f.Name.Name] {
			return types.Type{}, errAt(f.Name.Pos, "the field %q occurs twice in ROW", f.Name.Name).Coded(ast.CodeDuplicateName)
		}
		seen[f.Name.Name] = true
		ft, err := bindType(f.Type)
		if err != nil {
			return types.Type{}, err
		}
		t.Fields = append(t.Fields, types.Field{Name: f.Name.Name, Type: ft})
	}
	return t, nil
}
