package types

import "testing"

func TestString(t *testing.T) {
	for _, c := range []struct {
		t    Type
		want string
	}{
		{Type{}, "<invalid>"}, {Of(Null), "NULL"}, {Of(Boolean), "BOOLEAN"}, {Of(BigInt).Required(), "BIGINT NOT NULL"},
		{DecimalOf(10, 2), "DECIMAL(10, 2)"}, {String(), "STRING"}, {Type{Kind: Varchar, Precision: 10}, "VARCHAR(10)"},
		{Type{Kind: Char, Precision: 3}, "CHAR(3)"}, {Bytes(), "BYTES"}, {Type{Kind: Varbinary, Precision: 4}, "VARBINARY(4)"},
		{Type{Kind: Binary, Precision: 4}, "BINARY(4)"}, {Type{Kind: Time, Precision: 3}, "TIME(3)"}, {TimestampOf(6), "TIMESTAMP(6)"},
		{TimestampLTZOf(3), "TIMESTAMP_LTZ(3)"}, {Of(IntervalYM), "INTERVAL YEAR TO MONTH"}, {Of(IntervalDT), "INTERVAL DAY TO SECOND"},
		{ArrayOf(Of(Int).Required()), "ARRAY<INT NOT NULL>"}, {MapOf(String(), ArrayOf(Of(Date))), "MAP<STRING, ARRAY<DATE>>"},
		{RowOf(Field{"a", Of(Int)}, Field{"b`c", String().Required()}), "ROW<`a` INT, `b``c` STRING NOT NULL>"},
	} {
		if got := c.t.String(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestPhys(t *testing.T) {
	for _, c := range []struct {
		t    Type
		want Phys
	}{
		{Of(Boolean), PhysInt}, {Of(TinyInt), PhysInt}, {Of(BigInt), PhysInt}, {Of(Date), PhysInt}, {Type{Kind: Time, Precision: 9}, PhysInt},
		{Of(IntervalYM), PhysInt}, {Of(Float), PhysFloat}, {Of(Double), PhysFloat}, {DecimalOf(18, 5), PhysInt}, {DecimalOf(19, 5), PhysWide},
		{TimestampOf(6), PhysInt}, {TimestampOf(7), PhysWide}, {TimestampLTZOf(3), PhysInt}, {TimestampLTZOf(9), PhysWide},
		{String(), PhysBytes}, {Bytes(), PhysBytes}, {ArrayOf(Of(Int)), PhysBytes}, {MapOf(Of(Int), Of(Int)), PhysBytes}, {RowOf(), PhysBytes},
	} {
		if got := c.t.Phys(); got != c.want {
			t.Errorf("%s has form %d, want %d", c.t, got, c.want)
		}
	}
}

func TestEqual(t *testing.T) {
	distinct := []Type{
		Of(Int), Of(Int).Required(), Of(BigInt), DecimalOf(10, 2), DecimalOf(10, 3), DecimalOf(11, 2), String(), {Kind: Varchar, Precision: 3},
		ArrayOf(Of(Int)), ArrayOf(Of(Int).Required()), MapOf(Of(Int), Of(Int)), MapOf(String(), Of(Int)), MapOf(Of(Int), String()),
		RowOf(Field{"a", Of(Int)}), RowOf(Field{"b", Of(Int)}), RowOf(Field{"a", String()}), RowOf(Field{"a", Of(Int)}, Field{"b", Of(Int)}),
	}
	for i, a := range distinct {
		for j, b := range distinct {
			if got := a.Equal(b); got != (i == j) {
				t.Errorf("%s equals %s: %v", a, b, got)
			}
		}
		if !a.SameIgnoringNull(a.Required()) || !a.SameIgnoringNull(a.Nullable()) {
			t.Errorf("%s differs from itself by more than NULL", a)
		}
	}
	if ArrayOf(Of(Int)).SameIgnoringNull(ArrayOf(Of(Int).Required())) {
		t.Error("inner nullability counts")
	}
}

func TestClasses(t *testing.T) {
	for k := Invalid; k <= Row; k++ {
		t.Run(k.String(), func(t *testing.T) {
			x := Of(k)
			n := 0
			for _, is := range []bool{x.IsInteger(), x.IsApprox(), x.IsString(), x.IsBinary(), x.IsTemporal(), x.IsInterval()} {
				if is {
					n++
				}
			}
			alone := k == Invalid || k == Null || k == Boolean || k == Decimal || k >= Array
			if n != 1 && !alone || n != 0 && alone {
				t.Errorf("in %d classes", n)
			}
			if x.IsNumeric() != (x.IsInteger() || x.IsApprox() || k == Decimal) {
				t.Error("numeric or not")
			}
		})
	}
}
