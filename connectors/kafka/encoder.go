package kafka

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/fault"
)

// runSize is how much goes to one partition in a row when any would do.
const runSize = 256 << 10

// placing is how an encoder finds a record's partition.
type placing uint8

const (
	byKey   placing = iota // Java's hash of the record's key
	byRow                  // hash of the primary key, or of the row, where the record has no key
	inRuns                 // any, many in a row
	inTurn                 // the next one
	onlyOne                // always the same
)

// encoder makes framed records of changes and stages them by partition. One goroutine uses it.
type encoder struct {
	t *outTopic
	// stage is how much is staged for a partition before full is called for it, which is to empty it.
	stage  int
	full   func(ctx context.Context, partition int) error
	upsert bool
	where  placing
	zone   *time.Location

	value, key   spi.Encoder // key is nil for records without one
	valueOf      projection
	keyOf        projection
	hashOf       []keyenc.Column // byRow; empty for the whole row
	timestampCol int             // −1 without
	headersCol   int
	types        []types.Type
	names        []string
	named        []int // columns that name a row to people: its key, or all where it has none

	staged []staged
	run    int // inRuns: bytes since the partition changed
	turn   int

	// present is the key of the record at hand, in keyBuf; nil is null.
	present                           []byte
	keyBuf, otherKey, valBuf, hashBuf []byte // keyBuf and valBuf are never nil, which means null
	rows, bytes                       int64
}

// projection takes columns of a row; the zero value takes the row as it is.
type projection struct {
	cols []int
	phys []types.Phys
	b    row.Builder
	buf  []byte
}

func (p *projection) of(r row.Row) row.Row {
	if p.cols == nil || r == nil {
		return r
	}
	p.b.Begin(p.buf[:0], len(p.cols))
	for i, c := range p.cols {
		p.b.Copy(i, r, c, p.phys[i])
	}
	p.buf = p.b.Finish(p.phys)
	return row.Row(p.buf)
}

// both projects two rows, which a projection's one buffer cannot hold at once.
func (p *projection) both(before, after row.Row) (row.Row, row.Row) {
	if p.cols == nil {
		return before, after
	}
	kept := append(row.Row(nil), p.of(before)...)
	return kept, p.of(after)
}

// newEncoder returns the encoder of writer number index. Its stage and full are the caller's to set.
func newEncoder(t *outTopic, spec spi.SinkSpec, index int) (encoder, error) {
	l := t.cfg.layout
	w := encoder{t: t, upsert: l.upsert, zone: spec.TimeZone, timestampCol: -1, headersCol: -1, turn: index, keyBuf: []byte{}, valBuf: []byte{}}
	w.staged = make([]staged, t.use)
	position := map[int]int{} // in the rows handed over, by index into the table
	valueSpec := spi.EncodeSpec{Mode: spec.Mode, TimeZone: spec.TimeZone}
	if l.upsert {
		valueSpec.Mode = spi.AppendOnly
	}
	var valueCols []int
	for i, c := range spec.Columns {
		col := spec.Table.Columns[c]
		position[c] = i
		w.types, w.names = append(w.types, col.Type), append(w.names, col.Name)
		switch {
		case col.Metadata == "timestamp":
			w.timestampCol = i
		case col.Metadata == "headers":
			w.headersCol = i
		case col.Metadata != "":
			return w, fmt.Errorf("metadata column %q: %q cannot be written; declare the column VIRTUAL", col.Name, col.Metadata)
		case l.inValueToo(c):
			valueCols = append(valueCols, i)
			valueSpec.Columns = append(valueSpec.Columns, col)
		}
	}
	w.named = spec.Key
	for _, c := range l.KeyFields {
		if len(spec.Key) == 0 {
			w.named = append(w.named, position[c])
		}
	}
	if len(w.named) == 0 {
		w.named = valueCols
	}
	w.valueOf = projectionOf(valueCols, w.types)
	var err error
	if w.value, err = l.ValueFormat.NewEncoder(valueSpec, l.ValueOptions); err != nil {
		return w, err
	}
	if l.KeyFormat != nil {
		keySpec := spi.EncodeSpec{Mode: spi.AppendOnly, TimeZone: spec.TimeZone}
		var keyCols []int
		for _, c := range l.KeyFields {
			keySpec.Columns = append(keySpec.Columns, l.KeyColumn(c))
			keyCols = append(keyCols, position[c])
		}
		w.keyOf = projectionOf(keyCols, w.types)
		if w.key, err = l.KeyFormat.NewEncoder(keySpec, l.KeyOptions); err != nil {
			return w, err
		}
	}
	switch {
	case t.cfg.partitioner == "fixed":
		w.where, w.turn = onlyOne, index%t.use
	case t.cfg.partitioner == "round-robin":
		w.where = inTurn
	case w.key != nil:
		w.where = byKey
	case spec.Mode == spi.AppendOnly && len(spec.Key) == 0:
		w.where = inRuns
	default:
		// A row and its later deletion must stay in order, which only one partition can promise.
		w.where, w.hashOf = byRow, keyenc.Columns(w.types, spec.Key)
	}
	return w, nil
}

// projectionOf takes cols of rows of the given types; it does nothing when these are all columns in order.
func projectionOf(cols []int, ts []types.Type) projection {
	same := len(cols) == len(ts)
	p := projection{cols: cols}
	for i, c := range cols {
		same = same && c == i
		p.phys = append(p.phys, ts[c].Phys())
	}
	if same {
		return projection{}
	}
	if p.cols == nil {
		p.cols = []int{}
	}
	return p
}

// encode stages the changes of b, which it borrows.
func (w *encoder) encode(ctx context.Context, b *changelog.Batch) error {
	now := time.Now().UnixMilli()
	for i := range w.staged {
		w.staged[i].now = now
	}
	for i := 0; i < b.Len(); i++ {
		r := b.Row(i)
		var err error
		switch op := b.Op(i); {
		case op == changelog.UpdateBefore && w.upsert:
			continue // its UpdateAfter replaces it
		case op == changelog.UpdateBefore && i+1 < b.Len() && b.Op(i+1) == changelog.UpdateAfter && w.value.Updates():
			i++
			err = w.update(ctx, r, b.Row(i))
		case op.Negative():
			err = w.change(ctx, r, nil)
		default:
			err = w.change(ctx, nil, r)
		}
		if err != nil {
			return err
		}
	}
	w.t.rows.Add(w.rows)
	w.t.bytes.Add(w.bytes)
	w.rows, w.bytes = 0, 0
	return nil
}

// epochEnds lets the next epoch begin in another partition, where any would do.
func (w *encoder) epochEnds() {
	if w.where == inRuns && w.run > 0 {
		w.run = 0
		w.turn++
	}
}

// update writes an update as one message when both rows belong to one key, and as two otherwise.
func (w *encoder) update(ctx context.Context, before, after row.Row) error {
	one := w.where == inRuns || w.where == inTurn || w.where == onlyOne
	switch {
	case w.key != nil:
		k, err := w.key.Encode(w.otherKey[:0], nil, w.keyOf.of(before))
		if err != nil {
			return fault.Or(fault.RowFormat, err)
		}
		w.otherKey = k
		if k, err = w.key.Encode(w.keyBuf[:0], nil, w.keyOf.of(after)); err != nil {
			return fault.Or(fault.RowFormat, err)
		}
		one = string(k) == string(w.otherKey)
	case len(w.hashOf) > 0:
		w.otherKey = keyenc.Append(w.otherKey[:0], before, w.hashOf)
		w.hashBuf = keyenc.Append(w.hashBuf[:0], after, w.hashOf)
		one = string(w.hashBuf) == string(w.otherKey)
	}
	if one {
		return w.change(ctx, before, after)
	}
	if err := w.change(ctx, before, nil); err != nil {
		return err
	}
	return w.change(ctx, nil, after)
}

// change stages the message for one change. after is nil for a delete, before for an insert.
func (w *encoder) change(ctx context.Context, before, after row.Row) (err error) {
	r := after
	if r == nil {
		r = before
	}
	if w.key != nil {
		if w.present, err = w.key.Encode(w.keyBuf[:0], nil, w.keyOf.of(r)); err != nil {
			return fault.Or(fault.RowFormat, err)
		}
		if w.present != nil {
			w.keyBuf = w.present
		}
	}
	var value []byte
	switch {
	case w.upsert && after == nil: // a null value deletes
	case w.upsert:
		value, err = w.value.Encode(w.valBuf[:0], nil, w.valueOf.of(after))
	case before != nil && after != nil:
		x, y := w.valueOf.both(before, after)
		value, err = w.value.Encode(w.valBuf[:0], x, y)
	case after == nil:
		value, err = w.value.Encode(w.valBuf[:0], w.valueOf.of(before), nil)
	default:
		value, err = w.value.Encode(w.valBuf[:0], nil, w.valueOf.of(after))
	}
	if err != nil {
		return fault.Or(fault.RowFormat, err)
	}
	if value != nil {
		w.valBuf = value
	}
	at := w.partition(r)
	s := &w.staged[at]
	start := len(s.buf)
	buf := append(s.buf, 0, 0, 0, 0)
	buf = appendLengthed(buf, w.present)
	buf = appendLengthed(buf, value)
	if w.headersCol >= 0 && !r.IsNull(w.headersCol) {
		if buf, err = appendHeaders(buf, r.Bytes(w.headersCol)); err != nil {
			return fault.Errorf(fault.RowFormat, "kafka %s: %w", w.t.cfg.topic, err).Fix("give the column of headers another value, or leave it out")
		}
	} else {
		buf = append(buf, 0)
	}
	size := len(buf) - start - 4
	if size+batchHead+24 > w.t.maxRecord {
		return w.tooLarge(size, r)
	}
	binary.LittleEndian.PutUint32(buf[start:], uint32(size))
	s.buf = buf
	s.n++
	if w.timestampCol >= 0 {
		ms := s.now
		if !r.IsNull(w.timestampCol) {
			ms = millisOf(r, w.timestampCol, w.types[w.timestampCol], w.zone)
		}
		s.times = append(s.times, ms)
	}
	w.rows++
	w.bytes += int64(size)
	w.run += size
	if len(s.buf) >= w.stage {
		return w.full(ctx, at)
	}
	return nil
}

// partition is the partition for a row whose key is present.
func (w *encoder) partition(r row.Row) int {
	n := len(w.staged)
	where := w.where
	if where == byKey && w.present == nil {
		where = inRuns
	}
	switch where {
	case byKey:
		return keyPartition(w.present, n)
	case byRow:
		if len(w.hashOf) == 0 {
			return int(keyenc.Hash(r) % uint64(n))
		}
		w.hashBuf = keyenc.Append(w.hashBuf[:0], r, w.hashOf)
		return int(keyenc.Hash(w.hashBuf) % uint64(n))
	case inRuns:
		if w.run >= runSize {
			w.run = 0
			w.turn++
		}
		return w.turn % n
	case inTurn:
		w.turn++
		return w.turn % n
	}
	return w.turn
}

// tooLarge names a row whose record no batch may hold.
func (w *encoder) tooLarge(size int, r row.Row) error {
	b := []byte("(")
	for i, c := range w.named {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(append(b, w.names[c]...), ": "...)
		v := text.Append(nil, w.types[c], r.Get(c, w.types[c].Phys()), w.zone)
		if len(v) > 60 {
			v = append(bytes.ToValidUTF8(v[:60], nil), "…"...)
		}
		b = append(b, v...)
	}
	t := w.t.cfg.topic
	return fault.Errorf(fault.KafkaRecordSize, "kafka topic %s at %s: the row %s) makes a record of %d bytes, and the topic's max.message.bytes is %d", t, w.t.c.seeds, b, size, w.t.maxRecord).
		Fix("raise that (kafka-configs.sh --bootstrap-server %s --topic %s --alter --add-config max.message.bytes=%d), or write less of the row", w.t.c.seeds, t, 2*size)
}
