package oracle

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

// Text writes a row of the given types as engines' results are compared: columns separated by bars.
func Text(r row.Row, ts []types.Type) string {
	parts := make([]string, len(ts))
	for i, t := range ts {
		parts[i] = datumText(t, r.Get(i, t.Phys()))
	}
	return strings.Join(parts, "|")
}

func datumText(t types.Type, d row.Datum) string {
	switch {
	case d.Null:
		return "NULL"
	case t.IsApprox():
		return floatText(d.Float())
	case t.Kind == types.Decimal:
		return decimalText(string(text.Append(nil, t, d, nil)))
	default:
		return string(text.Append(nil, t, d, nil))
	}
}

// ValueText writes a value that a database/sql driver gave for a column in which sluice has type t.
func ValueText(t types.Type, v any) (string, error) {
	if v == nil {
		return "NULL", nil
	}
	switch t.Kind {
	case types.Boolean:
		switch v := v.(type) {
		case bool:
			return strings.ToUpper(strconv.FormatBool(v)), nil
		case int64:
			return strings.ToUpper(strconv.FormatBool(v != 0)), nil
		}
	case types.TinyInt, types.SmallInt, types.Int, types.BigInt:
		return fmt.Sprint(v), nil // int64, int32, *big.Int, …
	case types.Float, types.Double:
		if f, ok := float(v); ok {
			return floatText(f), nil
		}
	case types.Decimal:
		if f, ok := v.(float64); ok {
			return decimalText(strconv.FormatFloat(f, 'f', -1, 64)), nil
		}
		return decimalText(fmt.Sprint(v)), nil
	case types.Date:
		if d, ok := v.(time.Time); ok {
			return d.Format(time.DateOnly), nil
		}
		return fmt.Sprint(v), nil
	case types.Char, types.Varchar:
		if s, ok := v.(string); ok {
			return s, nil
		}
	}
	return "", fmt.Errorf("the second engine gives %T(%v) where sluice has %s", v, v, t)
}

func float(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case float32:
		return float64(v), true
	case int64:
		return float64(v), true
	case int32:
		return float64(v), true
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		return f, true
	}
	return 0, false
}

// floatText keeps nine digits: the order in which engines add up is their own.
func floatText(f float64) string {
	if math.Abs(f) < 1e-9 {
		f = 0 // no sign, and nothing of what should cancel out
	}
	return strconv.FormatFloat(f, 'g', 9, 64)
}

// decimalText leaves out zeros at the end, in which engines' types differ.
func decimalText(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return s
}

// appendLiteral appends a value as every engine reads it.
func appendLiteral(b []byte, t types.Type, d row.Datum) []byte {
	if d.Null {
		return append(b, "NULL"...)
	}
	lit := string(text.Append(nil, t, d, nil))
	switch {
	case t.IsString(), t.IsTemporal():
		return append(b, "'"+strings.ReplaceAll(lit, "'", "''")+"'"...)
	default:
		return append(b, lit...)
	}
}
