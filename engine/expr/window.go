package expr

import "strings"

// WindowKind tells what a window function gives for a row of its partition.
type WindowKind uint8

// The kinds of window functions. WindowAggregate is any aggregate function with OVER, but for WindowFirst and
// WindowLast.
const (
	WindowRowNumber WindowKind = iota
	WindowRank
	WindowDenseRank
	WindowNtile
	WindowPercentRank
	WindowCumeDist
	WindowLag
	WindowLead
	WindowFirst
	WindowLast
	WindowAggregate
)

// WindowFunction declares a function that needs OVER.
type WindowFunction struct {
	Name string
	Kind WindowKind
	// Signature shows the arguments in SQL; Help is one line of what it does.
	Signature, Help string
	// Examples are run as tests.
	Examples []RowsExample
}

// WindowFunctions are all declarations.
func WindowFunctions() []WindowFunction {
	return []WindowFunction{
		{"ROW_NUMBER", WindowRowNumber, "ROW_NUMBER() OVER (…)", "The number of the row in its partition, from 1.",
			[]RowsExample{{"ROW_NUMBER() OVER (ORDER BY x DESC)", "(1), (3), (2)", "3, 2, 1"}}},
		{"RANK", WindowRank, "RANK() OVER (…)", "The number of the first row of equal order.",
			[]RowsExample{{"RANK() OVER (ORDER BY x)", "(1), (1), (2)", "1, 1, 3"}}},
		{"DENSE_RANK", WindowDenseRank, "DENSE_RANK() OVER (…)", "The number of different orders up to the row.",
			[]RowsExample{{"DENSE_RANK() OVER (ORDER BY x)", "(1), (1), (2)", "1, 1, 2"}}},
		{"NTILE", WindowNtile, "NTILE(n) OVER (…)", "The number, from 1 to n, of the row's part when the partition is divided into n even parts.",
			[]RowsExample{{"NTILE(2) OVER (ORDER BY x)", "(1), (2), (3)", "1, 1, 2"}}},
		{"PERCENT_RANK", WindowPercentRank, "PERCENT_RANK() OVER (…)", "(RANK − 1) divided by the number of the other rows.",
			[]RowsExample{{"PERCENT_RANK() OVER (ORDER BY x)", "(1), (2), (3)", "0.0, 0.5, 1.0"}}},
		{"CUME_DIST", WindowCumeDist, "CUME_DIST() OVER (…)", "The part of the rows that do not come after the row.",
			[]RowsExample{{"CUME_DIST() OVER (ORDER BY x)", "(1), (1), (2), (3)", "0.5, 0.5, 0.75, 1.0"}}},
		{"LAG", WindowLag, "LAG(x [, n [, default]]) OVER (…)", "The value of x n rows before, 1 by default.",
			[]RowsExample{{"LAG(x) OVER (ORDER BY x)", "(1), (2), (3)", "NULL, 1, 2"}, {"LAG(x, 2, 0) OVER (ORDER BY x)", "(1), (2), (3)", "0, 0, 1"}}},
		{"LEAD", WindowLead, "LEAD(x [, n [, default]]) OVER (…)", "The value of x n rows after, 1 by default.",
			[]RowsExample{{"LEAD(x) OVER (ORDER BY x)", "(1), (2), (3)", "2, 3, NULL"}}},
	}
}

// LookupWindow finds a window function by its name in any case.
func LookupWindow(name string) (WindowFunction, bool) {
	for _, f := range WindowFunctions() {
		if f.Name == strings.ToUpper(name) {
			return f, true
		}
	}
	return WindowFunction{}, false
}

// BoundKind is a kind of end of a frame.
type BoundKind uint8

// The kinds of ends, from the first row of a partition to the last.
const (
	UnboundedPreceding BoundKind = iota
	Preceding
	CurrentRow
	Following
	UnboundedFollowing
)

// Frame are the rows of a partition that a function sees from one row.
type Frame struct {
	// Rows says that bounds count rows; otherwise they go by the value of the one order column, and rows of equal order
	// are all in or all out.
	Rows       bool
	Start, End FrameBound
}

// FrameBound is an end of a Frame.
type FrameBound struct {
	Kind BoundKind
	// N is the distance of Preceding and Following: a number of rows, or a difference in the order column's physical
	// form, which is PhysInt.
	N int64
}
