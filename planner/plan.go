package planner

import (
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/sql/ast"
)

// Plan is one job as pure data: a DAG of nodes from scans to sinks. A node with several parents is
// computed once and shared.
type Plan struct {
	// Sinks are the roots; every node is reached from them.
	Sinks []*Sink
	// Options are the session options in force, by name, defaults included.
	Options map[string]string
	// Fingerprint identifies what state means: two plans with equal fingerprints can use each other's
	// state directory.
	Fingerprint string
}

// Node is an operator of the plan: *Scan, *DeadLetters, *Values, *Filter, *Project, *Normalise, *Exchange, *Join, *JoinMany,
// *Aggregate, *Union, *Unnest, *Repeat, *Window, *Sink.
type Node interface {
	// Out are the properties of the node's output.
	Out() *Props
	// Inputs are the nodes it reads, in port order.
	Inputs() []Node
}

// Column is an output column of a node.
type Column struct {
	Name string
	Type types.Type
}

// Props are the properties that the planner derives for every node's output.
type Props struct {
	// ID is a number unique in the plan, assigned in a fixed order: it names the node in EXPLAIN, metrics
	// and state.
	ID      int
	Columns []Column
	// Mode says which changes the output holds.
	Mode spi.Mode
	// Keys are the known unique keys of the output's rows, as sorted column indexes. An empty key (non-nil,
	// of length 0) says that there is at most one row.
	Keys [][]int
	// Bounded says that the output ends.
	Bounded bool
	// Pos is the place of the text that asks for the node: of a scan where the table is read, of a join where it is
	// joined, of a sink its name. It is invalid where no place is known.
	Pos ast.Pos
	// Dist are the columns by whose hash the rows are divided among shards, in hash order; nil when
	// nothing is known. Rows that are equal are then on the same shard.
	Dist []int
}

// Types are the types of the columns.
func (p *Props) Types() []types.Type {
	t := make([]types.Type, len(p.Columns))
	for i, c := range p.Columns {
		t[i] = c.Type
	}
	return t
}

// Out implements Node.
func (p *Props) Out() *Props { return p }

// Scan reads a table. Its output columns are Spec.Columns of the table.
type Scan struct {
	Props
	Connector spi.Connector
	// Table is the table's full name in the catalog.
	Table string
	// Spec is what the connector will be asked for, without the parts the runtime fills in (Start, Warn,
	// Readers when 0).
	Spec spi.Scan
	// Partial says how rows are completed in mode Upsert whose events leave out values; nil where they do not.
	Partial *spi.Partial
	// Why tells the reason for Spec.Mode, for EXPLAIN.
	Why string
}

// Inputs implements Node.
func (*Scan) Inputs() []Node { return nil }

// DeadLetters are the messages that a scan could not read. It runs in the scan's readers.
type DeadLetters struct {
	Props
	Input *Scan
}

// Inputs implements Node.
func (d *DeadLetters) Inputs() []Node { return []Node{d.Input} }

// Values delivers constant rows once.
type Values struct {
	Props
	Rows [][]row.Datum
}

// Inputs implements Node.
func (*Values) Inputs() []Node { return nil }

// Filter keeps the rows for which Cond is TRUE. On an Upsert input, a new row that fails becomes a Delete
// of its key (UpsertKey), since the row may have passed before.
type Filter struct {
	Props
	Input Node
	Cond  expr.Expr
	// UpsertKey is the primary key within the columns, for an input of mode Upsert; nil otherwise.
	UpsertKey []int
}

// Inputs implements Node.
func (f *Filter) Inputs() []Node { return []Node{f.Input} }

// Project computes one expression for each output column.
type Project struct {
	Props
	Input Node
	Exprs []expr.Expr
	// UpsertKey is the primary key within the *input's* columns, for an input of mode Upsert: a Delete has
	// only those, and expressions over other columns are not evaluated for it. Each key column is passed on
	// as a plain column. Nil otherwise.
	UpsertKey []int
}

// Inputs implements Node.
func (p *Project) Inputs() []Node { return []Node{p.Input} }

// Unnest has the columns Keep of each input row once for every element of List, an ARRAY or MAP, with the element's
// columns added, and with its number where Numbered is set. With KeepEmpty a row without elements is there once, with NULLs.
type Unnest struct {
	Props
	Input     Node
	Keep      []int
	List      expr.Expr
	Numbered  bool
	KeepEmpty bool
}

// Inputs implements Node.
func (u *Unnest) Inputs() []Node { return []Node{u.Input} }

// NormaliseKind tells the forms of Normalise that are operators of their own. The third form, where the
// join's own state is the normaliser, is JoinSide.Upsert.
type NormaliseKind uint8

const (
	// NormaliseRows keeps each row by its primary key, and turns Upsert into Retract.
	NormaliseRows NormaliseKind = iota
	// NormaliseIndex keeps, by primary key, only the columns by which the next exchange routes; its output
	// is of mode Upsert again, with a Delete sent first to where the row was, whenever Route changes. A row
	// with a NULL among Route becomes a Delete, unless KeepNull is set.
	NormaliseIndex
)

// Normalise makes a well-formed changelog of an Upsert stream whatever its events look like: redelivered,
// unknown deletes, several per key. Its input is divided by Key.
type Normalise struct {
	Props
	Input Node
	Kind  NormaliseKind
	Key   []int // the primary key within the input's columns
	Route []int // NormaliseIndex: the join key within the input's columns, each of them once
	// KeepNull keeps rows with a NULL among Route.
	KeepNull bool
	Life     Lifetime
	// Why tells the reason for the form, for EXPLAIN.
	Why string
}

// Inputs implements Node.
func (n *Normalise) Inputs() []Node { return []Node{n.Input} }

// Exchange divides its input among the shards of the next stage by the hash of the key columns, encoded
// by package keyenc. Order is kept between one producer and one consumer.
type Exchange struct {
	Props
	Input Node
	// Key are the columns that are hashed. Without any, Spread decides.
	Key []int
	// Spread: with an empty Key, rows stay with the shard of the same number (false: all rows go to one shard, that of
	// the hash of no columns).
	Spread bool
	// ByRow: rows are divided by the hash of all their bytes (for sinks without a key).
	ByRow bool
	// Nulls says what is done with rows that have a NULL in Key. NullsDropped is for a side of a join that
	// shows matches alone; on an Upsert input such rows never occur with a Key beyond the primary key, as
	// NormaliseIndex turned them into Deletes. NullsKept divides them by the hash of Key and Scatter, so that
	// they do not all go to one shard; Dist is then nil.
	Nulls   Nulls
	Scatter []int
	// Width is the number of consumers; 0 for the job's parallelism.
	Width int
}

// Inputs implements Node.
func (e *Exchange) Inputs() []Node { return []Node{e.Input} }

// JoinKind is the kind of a join. A right join is a left join of its inputs the other way round.
type JoinKind uint8

// The kinds of joins. Semi and anti joins have the left columns alone: of the rows with and without a match. A mark
// join has all left rows, each with a further column that says whether there is a match.
const (
	InnerJoin JoinKind = iota
	LeftJoin
	FullJoin
	SemiJoin
	AntiJoin
	MarkJoin
)

// String is the kind in EXPLAIN.
func (k JoinKind) String() string {
	return [...]string{"Join", "Left join", "Full join", "Semi join", "Anti join", "Mark join"}[k]
}

// Semi reports whether the kind has no right columns.
func (k JoinKind) Semi() bool { return k == SemiJoin || k == AntiJoin || k == MarkJoin }

// Alone says which rows of a join's side come out by themselves, with NULLs for the other side's columns where
// the join has those.
type Alone uint8

// The rows that come out alone: none, those without a match, those with one, all of them with a mark.
const (
	AloneNever Alone = iota
	AloneUnmatched
	AloneMatched
	AloneMarked
)

// Alone says which rows of the left (0) or right (1) side come out alone.
func (k JoinKind) Alone(port int) Alone {
	switch {
	case k == FullJoin, (k == LeftJoin || k == AntiJoin) && port == 0:
		return AloneUnmatched
	case k == SemiJoin && port == 0:
		return AloneMatched
	case k == MarkJoin && port == 0:
		return AloneMarked
	}
	return AloneNever
}

// Nulls says what is done with rows that have a NULL in a key, and so match nothing.
type Nulls uint8

const (
	// NullsNone says that there are none, or that a NULL is a value as any other.
	NullsNone Nulls = iota
	// NullsDropped says that they are dropped.
	NullsDropped
	// NullsKept says that they are kept, since they come out of the join alone.
	NullsKept
)

// Layout is the form of one side's join state, by what is known of its keys.
type Layout uint8

const (
	// LayoutOne says that the join key holds a unique key: at most one row per join key.
	LayoutOne Layout = iota
	// LayoutUnique says that the side has a unique key: rows by join key and unique key.
	LayoutUnique
	// LayoutBag says that no unique key is known: rows by join key, each with its number.
	LayoutBag
)

// String is the layout's name in EXPLAIN.
func (l Layout) String() string { return [...]string{"one", "unique", "bag"}[l] }

// JoinSide is how a join treats one of its inputs.
type JoinSide struct {
	// Key are the join key's columns within the side's columns; both sides' keys correspond in order and are
	// of the same physical form (the planner projects casts below where needed).
	Key []int
	// Layout is the state's layout.
	Layout Layout
	// Unique are the unique key's columns that are not in Key (LayoutUnique).
	Unique []int
	// Upsert says that the input is of mode Upsert, by Key and Unique together: the state is the
	// normaliser. Its Deletes carry the columns of Key and Unique only.
	Upsert bool
	// Nulls says what is done with rows that have a NULL in Key; Scatter are the columns by which those that
	// are kept are divided beside it.
	Nulls   Nulls
	Scatter []int
	Life    Lifetime
}

// Join is a keyed join. Its output is the left columns followed by the right ones, or the left ones alone.
// Both inputs are divided by their keys; with empty keys everything is on one shard.
type Join struct {
	Props
	Kind        JoinKind
	Left, Right Node
	L, R        JoinSide
	// Residual is a further condition over the columns of both sides; nil for none.
	Residual expr.Expr
	// Single is, of a left join of which a left row may have one match at most, what an error calls the right
	// input; empty otherwise.
	Single string

	early bool // see relJoin
}

// Alone says which rows of the left (0) or right (1) side come out alone.
func (j *Join) Alone(port int) Alone { return j.Kind.Alone(port) }

// Counts reports whether the matches of that side's rows are counted in the state.
func (j *Join) Counts(port int) bool { return j.Residual != nil && j.Alone(port) != AloneNever }

// Inputs implements Node.
func (j *Join) Inputs() []Node { return []Node{j.Left, j.Right} }

// JoinMany is an inner join of three inputs or more by one key, without state for what a join of some of them would
// give. Its output is the columns of all inputs in order.
type JoinMany struct {
	Props
	Parts []Node
	Sides []JoinSide
	// Residual is a further condition over the output's columns; nil for none.
	Residual expr.Expr
}

// Inputs implements Node.
func (j *JoinMany) Inputs() []Node { return j.Parts }

// Sink consolidates each epoch's changes and writes them. Equal rows, and rows of the same Spec.Key, are on
// one shard.
type Sink struct {
	Props
	Input Node
	// Connector is nil for the result of a top-level SELECT, which the runtime's caller receives.
	Connector spi.Connector
	// Table is the table's full name in the catalog; empty for the result of a SELECT.
	Table string
	// Transactional says that the sink takes its output in transactions (spi.TransactionalSink).
	Transactional bool
	// Spec is what the connector will be asked for (Name, Writers, Warn are the runtime's). For the result of a
	// SELECT it has Table.Columns, Columns, Order and Mode alone.
	Spec spi.SinkSpec
	// PairKey are columns that hold a unique key of the input: changes of equal PairKey in an epoch become
	// one update. Nil when no key is known; then the changes that an operator made as one update stay one.
	PairKey []int
	// Chooses says that an epoch may give several rows of one PairKey, since state below is forgotten: one of them counts.
	Chooses bool
	// NotNull are the columns whose NULL ends the job: those that the sink declares NOT NULL where the query
	// may give NULL (table.exec.sink.not-null-enforcer = ERROR).
	NotNull []int
	// Width is the number of writers; 0 for the job's parallelism.
	Width int
}

// Inputs implements Node.
func (s *Sink) Inputs() []Node { return []Node{s.Input} }
