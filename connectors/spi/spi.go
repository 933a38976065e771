// Package spi is what connectors and formats implement, and what the planner and the runtime know of them.
package spi

import (
	"context"
	"fmt"
	"time"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/types"
)

// Column is a column of a table that a connector reads or writes. Computed columns never reach connectors.
type Column struct {
	Name string
	Type types.Type
	// Metadata is the metadata key of a METADATA column ("offset", "value.source.timestamp"); empty for a
	// physical column.
	Metadata string
	// Virtual says that a METADATA column is read only, so that no sink writes it.
	Virtual bool
}

// Table is a table as declared, with its options checked against the connector's declarations.
type Table struct {
	Name string
	// Columns are the physical and metadata columns in declared order.
	Columns []Column
	// PrimaryKey holds indexes into Columns; empty without one.
	PrimaryKey []int
	// Options are those of the WITH clause, variables replaced.
	Options Options
}

// Mode says which changes a stream may hold.
type Mode uint8

const (
	// AppendOnly holds inserts alone.
	AppendOnly Mode = iota
	// Retract holds inserts and deletes of whole rows, updates as both.
	Retract
	// Upsert holds, per primary key, new rows (UpdateAfter) and deletes of which only the key is known.
	Upsert
)

// String is the mode's name in EXPLAIN.
func (m Mode) String() string { return [...]string{"append-only", "retract", "upsert"}[m] }

// Connector is one kind of table, such as kafka. Its methods other than Open* neither connect nor block.
type Connector interface {
	// Name is the identifier of the 'connector' option.
	Name() string
	// Help is one line that says what the connector is for.
	Help() string
	// Options declares every option the connector knows. They drive checking, documentation and
	// completion. Options of formats are declared by the formats.
	Options() []Option
	// Metadata lists the connector's own metadata keys with their types.
	Metadata() []Column
	// CheckSource checks that t can be read, and tells how. It returns an *OptionError where one option is
	// to blame, and ErrNotSource (wrapped) where the connector has no source.
	CheckSource(t *Table) (SourceTraits, error)
	// CheckSink checks that t can be written, and tells how; ErrNotSink (wrapped) where there is no sink.
	CheckSink(t *Table) (SinkTraits, error)
	// OpenSource connects and resolves what the scan reads. The caller closes the Source.
	OpenSource(ctx context.Context, s Scan) (Source, error)
	// OpenSink connects. The caller closes the Sink.
	OpenSink(ctx context.Context, s SinkSpec) (Sink, error)
}

// ErrNotSource and ErrNotSink say that a connector cannot be read or written.
var (
	ErrNotSource = fmt.Errorf("the connector cannot be read from")
	ErrNotSink   = fmt.Errorf("the connector cannot be written to")
)

// SourceTraits is what the planner needs to know of a source.
type SourceTraits struct {
	// Native is what the events themselves say: AppendOnly, Retract, or Upsert.
	Native Mode
	// CanUpsert says that the scan can also deliver Upsert, given a primary key, which spares it the
	// rows before.
	CanUpsert bool
	// Bounded says that the source ends.
	Bounded bool
	// Notes are what the table's author should know of its options.
	Notes []Note
	// Parallelism is the number of readers asked for (scan.parallelism), or 0 for the job's.
	Parallelism int
	// Metadata are the metadata keys that t can declare, those of its format included, with their types.
	Metadata []Column
	// Partial says that in mode Upsert events may leave out values that did not change; nil that they do not.
	Partial *Partial
	// DeadLetters is the table that takes the messages the source cannot read; nil where it keeps none. The same
	// connector writes it, its changes are inserts alone, and the source's readers are DeadLetterReaders.
	DeadLetters *Table
	// CheckScan checks, without connecting, that the source can be opened as a planned scan asks: its mode, its key and
	// its columns. It returns errors as CheckSource does; nil where nothing depends on the plan.
	CheckScan func(Scan) error
}

// Partial is how events are to be completed that leave out values that did not change: from the rows that the job
// keeps.
type Partial struct {
	// Null makes a value NULL that no row kept has; otherwise that is an error.
	Null bool
	// Keep asks for the rows to be kept whole before anything reads them.
	Keep bool
	// OneOrder names the option that has all events of the table come in one order, which those of several partitions
	// do not; empty for none.
	OneOrder string
	// Fix says in errors what to do about a value that no row kept has.
	Fix string
}

// SinkTraits is what the planner needs to know of a sink.
type SinkTraits struct {
	// Accepts is what the sink takes: AppendOnly, Retract or Upsert. A Retract or Upsert sink takes
	// append-only changes too.
	Accepts Mode
	// Notes are what the table's author should know of its options.
	Notes []Note
	// Parallelism is the number of writers asked for (sink.parallelism), or 0 for the job's.
	Parallelism int
	// Metadata are the metadata keys that can be written.
	Metadata []Column
	// Route are columns, as indexes into Table.Columns, that the sink keys its output by although they are no
	// primary key: changes that agree in them go through one writer, so that they keep their order. Nil for none.
	Route []int
	// Transactional says that OpenSink gives a TransactionalSink, which needs a state directory.
	Transactional bool
}

// Scan asks for a source of a table.
type Scan struct {
	Table *Table
	// Columns are the columns in use, as indexes into Table.Columns: the schema of the rows delivered.
	Columns []int
	// Key are the positions, within Columns, of the primary key; set in mode Upsert.
	Key []int
	// Mode is AppendOnly, Retract or Upsert, as the planner chose among what SourceTraits allows.
	Mode Mode
	// Partial are the columns, as positions within Columns, for which a row may hold row.UnavailableDatum: nothing
	// reads them before the rows are completed. A value left out for another column is an error.
	Partial []int
	// DeadLetters is SourceTraits.DeadLetters; nil makes a message that cannot be read an error, or skips it where
	// that was asked for.
	DeadLetters *Table
	// Readers is the number of readers that will be asked for.
	Readers int
	// Memory is how many bytes may wait to be read; the source goes over it rather than stand still. 0 leaves it to
	// the source, which may also take less.
	Memory int64
	// Start are the positions to start at, from a checkpoint; nil on the first start.
	Start []Position
	// TimeZone is the session's, for formats that read local times.
	TimeZone *time.Location
	// Warn takes warnings for people: one sentence each. It may be called from any goroutine.
	Warn func(msg string)
}

// Position says how far one partition was read. Offsets are opaque: gaps are normal.
type Position struct {
	Topic     string
	TopicID   string // the broker's id of the topic, where it has one: another id is another topic
	Partition int32
	Offset    int64 // the next record to read
	Epoch     int32 // leader epoch, −1 when unknown
}

// Source is an open scan: readers, each with partitions of its own.
type Source interface {
	// Positions are the resolved start positions of all partitions. The runtime makes them durable before
	// the first Read.
	Positions() []Position
	// Reader returns reader i of Scan.Readers. Called once for each i, before the first Read.
	Reader(i int) Reader
	// Committed tells that everything before the positions is durable, for the source's own books (consumer
	// group offsets). Errors are the source's to warn about.
	Committed(ctx context.Context, pos []Position)
	// Stats is a snapshot of counters; safe from any goroutine.
	Stats() SourceStats
	// Close ends all reading and waits for the source's goroutines. No Read may be under way.
	Close() error
}

// Skipper is a Source of messages with offsets, which can leave some of them out.
type Skipper interface {
	Source
	// Skip has the readers leave out the messages at these positions, counted as skipped. An empty Topic is any. It
	// is called at most once, before the first Read.
	Skip(at []Position)
}

// SourceStats counts since the start.
type SourceStats struct {
	Records int64 `json:"records"` // records consumed, tombstones and the like included
	Events  int64 `json:"events"`  // records that carried a change
	Skipped int64 `json:"skipped"` // records skipped by an option such as ignore-parse-errors, dead letters included
	// SkippedFor divides Skipped by reason: the code of an error, or "by name". Nil when nothing was skipped.
	SkippedFor map[string]int64 `json:"skipped_for,omitempty"`
	// NoChange are the records that carried no change, by kind, such as "heartbeat"; nil without any.
	NoChange map[string]int64 `json:"no_change,omitempty"`
	// Unknown are fields of the records that the table does not declare, with the place where each came first.
	Unknown map[string]string `json:"unknown_fields,omitempty"`
	Bytes   int64             `json:"bytes"`
	Lag     int64             `json:"lag"` // records known to be waiting; −1 when unknown
	// Errors counts failed attempts to reach the outside that are being tried again.
	Errors int64 `json:"errors"`
}

// Reader delivers the changes of its partitions, in order within each. One goroutine uses it.
type Reader interface {
	// Read appends changes from records that have arrived to b, from at most maxRecords records (all
	// changes of a record, or none), and returns the number of records consumed. It never waits: 0 says
	// that nothing is there at the moment. On an error the changes appended belong to the records before
	// the one at fault, and the position points at that record.
	Read(b *changelog.Batch, maxRecords int) (records int, err error)
	// Ready is signalled when Read may have something, after a Read that returned 0. It has room for one
	// signal; a spurious one is harmless.
	Ready() <-chan struct{}
	// Positions appends the present positions of the reader's partitions: all that Read has consumed lies
	// before them.
	Positions(dst []Position) []Position
	// Limit makes Read stop before the given positions (those of partitions the reader does not have are
	// ignored), as if nothing more were there, until the next call of Limit; nil lifts the limit. AtLimit
	// then says that every partition named has got there.
	Limit(pos []Position)
	AtLimit() bool
	// Done reports that the bounded end was reached in all partitions, and that there will never be more.
	Done() bool
	// Barrier tells the reader that an epoch was cut after its last Read: the moment at which partitions
	// found since may join.
	Barrier()
}

// DeadLetterReader is a Reader that puts aside what it cannot read.
type DeadLetterReader interface {
	Reader
	// DeadLetters appends to b an insert, in the columns of Scan.DeadLetters, for each message that Read has put aside
	// since the last call, and forgets them. It is called after every Read, so that they belong to the same epoch.
	DeadLetters(b *changelog.Batch)
}

// SinkSpec asks for a sink of a table.
type SinkSpec struct {
	Table *Table
	// Name tells the sinks of a job apart: the table's name, with a number when the job writes it more than once.
	Name string
	// Columns are the columns written, as indexes into Table.Columns: the schema of the rows handed over.
	// All physical and persisted metadata columns, in declared order.
	Columns []int
	// Key are the positions, within Columns, of the primary key; empty without one.
	Key []int
	// Order is how the rows of a SELECT's result are sorted where they are shown as a table; empty for any order. The
	// rows hold, behind Columns, those that the order alone needs.
	Order []keyenc.OrderColumn
	// Mode is what the sink will be handed: AppendOnly, Retract or Upsert. In mode Upsert a delete carries
	// the whole row as it was last shown, and UpdateBefore is left out.
	Mode    Mode
	Writers int
	// Memory is how many bytes may wait to be acknowledged; the sink goes over it rather than stand still. 0 leaves it
	// to the sink, which may also take less.
	Memory int64
	// Pin is what PinnedSink.Pin gave when the job opened the sink before; empty at the first time, and without a
	// state directory.
	Pin string
	// TimeZone is the session's.
	TimeZone *time.Location
	Warn     func(msg string)
}

// Sink is an open sink.
type Sink interface {
	// Writer returns writer i of SinkSpec.Writers. Called once for each i.
	Writer(i int) Writer
	// Stats is a snapshot of counters; safe from any goroutine.
	Stats() SinkStats
	// Close flushes nothing: it lets go. Every acknowledged change is out by then.
	Close() error
}

// PinnedSink is a Sink that has to treat the outside at later starts as it did at the first: a topic, say, among
// whose partitions it divides keys.
type PinnedSink interface {
	Sink
	// Pin is what to keep for the next start; never empty. It is made durable before the first Write.
	Pin() string
}

// SinkStats counts since the start.
type SinkStats struct {
	Rows  int64 `json:"rows"`
	Bytes int64 `json:"bytes"`
}

// Writer writes the consolidated changes of one shard. One goroutine uses it.
type Writer interface {
	// Write borrows b: changes of the present epoch, deletes before inserts, an UpdateBefore directly
	// before its UpdateAfter. It may block while the outside is slow, until ctx ends.
	Write(ctx context.Context, b *changelog.Batch) error
	// Barrier ends an epoch. ack is called exactly once, from any goroutine, possibly before Barrier
	// returns: when all that was written before is acknowledged by the outside, or with the error that
	// prevents it.
	Barrier(ctx context.Context, epoch uint64, ack func(error))
	// Close ends the writer; unacknowledged changes may be lost.
	Close() error
}
