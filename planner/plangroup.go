package planner

import (
	"github.com/sluicesql/sluice/engine/expr"
)

// Aggregate has one row for each group of its input's rows: the columns of Key and then the calls' results.
// Its input is divided by Key in this order; without a Key all rows are on one shard.
type Aggregate struct {
	Props
	Input Node
	Key   []int
	Calls []AggCall
	// Bags are the multisets of values that each group keeps beside its accumulators.
	Bags []AggBag
	// Global says that there is one row also over no rows.
	Global bool
	Life   Lifetime
}

// Inputs implements Node.
func (a *Aggregate) Inputs() []Node { return []Node{a.Input} }

// AggCall is a call of an aggregate function over the input's columns.
type AggCall struct {
	Fn       *expr.Aggregate
	Args     []int
	Distinct bool
	// Filter is a BOOLEAN column: rows in which it is not TRUE are left out. −1 for none.
	Filter int
	// Order is the order of the values, for functions whose result depends on it.
	Order []OrderKey
	// Separator is LISTAGG's.
	Separator string
	// Bag is the index among Bags of the values that the call needs; −1 where accumulators suffice.
	Bag int
}

// AggBag is a multiset of the values of Args of the rows for which Filter holds, ordered by Order and then by the values.
type AggBag struct {
	Args     []int
	Filter   int
	Order    []OrderKey
	KeepNull bool
}

// OrderKey is a column that rows are ordered by.
type OrderKey struct {
	Col             int
	Desc, NullsLast bool
}

// Union passes on the rows of all its inputs, whose columns have the same physical forms.
type Union struct {
	Props
	Parts []Node
}

// Inputs implements Node.
func (u *Union) Inputs() []Node { return u.Parts }

// Repeat passes on each row as often as the BIGINT column Times says, and not at all where that is below one.
type Repeat struct {
	Props
	Input Node
	Times int
}

// Inputs implements Node.
func (r *Repeat) Inputs() []Node { return []Node{r.Input} }

// Window adds to each row the results of window functions over the rows of its partition. Its input is divided by
// Partition in this order; without one all rows are on one shard.
type Window struct {
	Props
	Input     Node
	Partition []int
	Order     []OrderKey
	// Ties order the rows that Order holds equal, which are peers all the same; rows equal in both are ordered by
	// their bytes.
	Ties  []OrderKey
	Calls []WindowCall
	// Limit keeps only rows of some ranks; nil keeps all.
	Limit *RankLimit
	Life  Lifetime
	// Why tells what the node is for, where the query does not say it.
	Why string
}

// Inputs implements Node.
func (w *Window) Inputs() []Node { return []Node{w.Input} }

// RankLimit keeps the rows of a partition whose rank is from Lo to Hi, both included. Hi 0 is no end.
type RankLimit struct {
	Kind   expr.WindowKind // WindowRowNumber, WindowRank or WindowDenseRank
	Lo, Hi int64
}

// WindowCall is a call of a window function over the input's columns.
type WindowCall struct {
	Kind expr.WindowKind
	// Arg is the argument's column, and Default that of LAG's and LEAD's third argument; −1 for none.
	Arg, Default int
	// N is the distance of LAG and LEAD, and NTILE's number of parts.
	N     int64
	Frame expr.Frame
	// Aggregate is the call of WindowAggregate.
	Aggregate *AggCall
}
