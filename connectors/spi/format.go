package spi

import (
	"fmt"
	"time"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/fault"
)

// Format turns message bytes into changes and back. Connectors that carry bytes (kafka, filesystem) find
// formats in the registry by the 'format' options.
type Format interface {
	// Name is the identifier in the 'format' options, such as debezium-json.
	Name() string
	// Help is one line that says what the format is.
	Help() string
	// Options declares the format's options without the prefix NAME + ".".
	Options() []Option
	// Metadata lists the metadata keys the format can read, without the connector's prefix "value.".
	Metadata() []Column
	// Decodes is what decoded messages mean: AppendOnly (json), Retract (debezium-json). CanUpsert says
	// that Upsert can be asked for instead.
	Decodes() (native Mode, canUpsert bool)
	// Encodes is what the format can express: AppendOnly (json) or Retract (debezium-json).
	Encodes() Mode
	// NewDecoder checks options and schema and returns a decoder for one goroutine. o holds the format's own
	// options without their prefix.
	NewDecoder(s DecodeSpec, o Options) (Decoder, error)
	// NewEncoder likewise.
	NewEncoder(s EncodeSpec, o Options) (Encoder, error)
}

// PartialFormat is a Format whose messages may leave out values that did not change.
type PartialFormat interface {
	Format
	// Partial is SourceTraits.Partial, by the format's options without their prefix. prefix is that prefix; keyed says that
	// the table has a primary key, without which an option that means nothing then is an *OptionError.
	Partial(o Options, prefix string, keyed bool) (*Partial, error)
}

// DecodeSpec is what a decoder delivers.
type DecodeSpec struct {
	// Columns are the columns wanted, in the order of the output row. Those with a Metadata key are the
	// format's own ("source.timestamp", without the connector's prefix); columns of Skip are left NULL
	// for the connector to fill.
	Columns []Column
	// Skip marks columns that the decoder leaves alone.
	Skip []bool
	// Fields are all fields that the table declares for the message, in its order, of which Columns wants some: formats
	// without names need them, and Unknown tells of others. nil says that the columns that are not skipped are all.
	Fields []Column
	// Key are positions of the primary key within Columns; set in mode Upsert.
	Key  []int
	Mode Mode
	// Partial is Scan.Partial.
	Partial  []int
	TimeZone *time.Location
	// Warn takes a warning and Unknown the name of a field that the table does not declare, once each; the connector
	// adds the place of the message at hand. Both may be nil.
	Warn    func(msg string)
	Unknown func(field string)
}

// Message is one message: raw key and value. Nil is a null, which is not empty.
type Message struct {
	Key, Value []byte
}

// Decoder decodes messages of one stream in order. It may learn from them (the order of keys, an
// embedded schema). One goroutine uses it.
type Decoder interface {
	// Decode appends every change in m to out, in order. A message that carries no change (a tombstone, a
	// heartbeat) emits nothing. On an error,
	// which is a *DecodeError for bad input, nothing of m has been appended.
	Decode(m Message, out *Out) error
}

// KindCounter is a Decoder that counts messages without a change.
type KindCounter interface {
	Decoder
	// NoChange calls f with the number of messages so far that carried no change, by kind: a short fixed name.
	NoChange(f func(kind string, n int64))
}

// Out takes the rows of a decoder.
type Out struct {
	Batch *changelog.Batch
	// Row builds the rows; the decoder and Fill use it.
	Row row.Builder
	// Phys are the physical forms of the output columns.
	Phys []types.Phys
	// Fill sets the columns that the decoder was told to skip; nil without such columns.
	Fill func(b *row.Builder)
}

// NewOut returns an Out for rows of the given columns.
func NewOut(cols []Column) *Out {
	o := &Out{Phys: make([]types.Phys, len(cols))}
	for i, c := range cols {
		o.Phys[i] = c.Type.Phys()
	}
	return o
}

// Begin starts a row.
func (o *Out) Begin() *row.Builder {
	o.Row.Begin(o.Batch.Buf(), len(o.Phys))
	return &o.Row
}

// Commit ends the row begun, with its operation.
func (o *Out) Commit(op changelog.Op) {
	if o.Fill != nil {
		o.Fill(&o.Row)
	}
	o.Batch.Commit(op, o.Row.Finish(o.Phys))
}

// DecodeError says what is wrong with a message. The connector adds topic, partition and offset.
type DecodeError struct {
	// Field is the path of the field at fault, such as "after.id"; empty when it is the whole message.
	Field string
	// Offset is the byte offset in the message; −1 when unknown.
	Offset int
	// Code is the kind of the fault, by which messages that are left out are counted.
	Code fault.Code
	Msg  string
	// Fix says what to do.
	Fix string
}

// Fault implements fault.Coded.
func (e *DecodeError) Fault() (fault.Code, string) { return e.Code, e.Fix }

func (e *DecodeError) Error() string {
	s := e.Msg
	if e.Field != "" {
		s = "field " + e.Field + ": " + s
	}
	if e.Offset >= 0 {
		s += fmt.Sprintf(" (at byte %d)", e.Offset)
	}
	if e.Fix != "" {
		s += "; " + e.Fix
	}
	return s
}

// EncodeSpec is what an encoder is handed.
type EncodeSpec struct {
	Columns  []Column
	Mode     Mode
	TimeZone *time.Location
}

// Encoder encodes rows of one schema. One goroutine uses it.
type Encoder interface {
	// Encode appends the message for one change to buf; nil is a null message. For an update, before and after are both given when
	// the format can express them in one message (Updates); otherwise one of them is nil.
	Encode(buf []byte, before, after row.Row) ([]byte, error)
	// Updates reports whether one message can carry an update's row before and row after.
	Updates() bool
}
