package kafka

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"math/bits"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

var headersType = types.MapOf(types.String().Required(), types.Bytes()).Required()

// recordMetadata are the metadata keys of a Kafka record.
var recordMetadata = []spi.Column{
	{Name: "topic", Metadata: "topic", Type: types.String().Required(), Virtual: true},
	{Name: "partition", Metadata: "partition", Type: types.Of(types.Int).Required(), Virtual: true},
	{Name: "headers", Metadata: "headers", Type: headersType},
	{Name: "leader-epoch", Metadata: "leader-epoch", Type: types.Of(types.Int), Virtual: true},
	{Name: "offset", Metadata: "offset", Type: types.Of(types.BigInt).Required(), Virtual: true},
	{Name: "timestamp", Metadata: "timestamp", Type: types.TimestampLTZOf(3).Required()},
	{Name: "timestamp-type", Metadata: "timestamp-type", Type: types.String().Required(), Virtual: true},
}

func writableMetadata() []spi.Column {
	var w []spi.Column
	for _, c := range recordMetadata {
		if !c.Virtual {
			w = append(w, c)
		}
	}
	return w
}

// metadataFits reports whether the metadata column declared can hold the values of key: its own type, a
// wider integer, or a timestamp of another precision or without time zone.
func metadataFits(key, declared spi.Column) bool {
	k, d := key.Type, declared.Type
	switch k.Kind {
	case types.Int:
		return d.Kind == types.Int || d.Kind == types.BigInt
	case types.TimestampLTZ:
		return d.Kind == types.TimestampLTZ || d.Kind == types.Timestamp
	case types.Map:
		return d.Kind == types.Map && d.Key.IsString() && d.Elem.IsBinary()
	case types.Varchar:
		return d.Kind == types.Varchar
	}
	return k.Kind == d.Kind
}

// fillers returns, for each metadata column of the row, what sets it from the record at hand.
func (r *reader) fillers(cols []spi.Column, at []place) []func(b *row.Builder) {
	var fs []func(b *row.Builder)
	for i, c := range cols {
		if at[i] != inMetadata {
			continue
		}
		switch c.Metadata {
		case "topic":
			fs = append(fs, func(b *row.Builder) { b.String(i, r.cur.part.topic.name) })
		case "partition":
			fs = append(fs, func(b *row.Builder) { b.Int64(i, int64(r.cur.part.id)) })
		case "offset":
			fs = append(fs, func(b *row.Builder) { b.Int64(i, r.cur.rec.offset) })
		case "leader-epoch":
			fs = append(fs, func(b *row.Builder) {
				if e := r.cur.part.it.epoch; e >= 0 {
					b.Int64(i, int64(e))
				}
			})
		case "timestamp-type":
			fs = append(fs, func(b *row.Builder) {
				if r.cur.part.it.logAppendTime {
					b.String(i, "LogAppendTime")
				} else {
					b.String(i, "CreateTime")
				}
			})
		case "timestamp":
			fs = append(fs, timestampFiller(i, c.Type, r.zone, func() int64 { return r.cur.rec.timestamp }))
		case "headers":
			fs = append(fs, func(b *row.Builder) {
				b.Append(i, func(buf []byte) []byte { return r.headers.pack(buf, r.cur.rec.headers) })
			})
		default:
			panic("kafka: metadata key without a filler: " + c.Metadata)
		}
	}
	return fs
}

// timestampFiller sets column i of type t, a TIMESTAMP_LTZ or a TIMESTAMP in zone, from milliseconds.
func timestampFiller(i int, t types.Type, zone *time.Location, millis func() int64) func(b *row.Builder) {
	local := t.Kind == types.Timestamp && zone != nil && zone != time.UTC
	scale := int64(1)
	for p := t.Precision; p < 3; p++ {
		scale *= 10
	}
	return func(b *row.Builder) {
		ms := millis()
		if local {
			_, offset := time.UnixMilli(ms).In(zone).Zone()
			ms += int64(offset) * 1000
		}
		if m := ms % scale; m != 0 { // a coarser precision cuts digits off, towards the past
			if m < 0 {
				m += scale
			}
			ms -= m
		}
		if t.Phys() == types.PhysWide {
			hi, lo := bits.Mul64(uint64(max(ms, -ms)), 1_000_000)
			if ms < 0 {
				var borrow uint64
				lo, borrow = bits.Sub64(0, lo, 0)
				hi, _ = bits.Sub64(0, hi, borrow)
			}
			b.Wide(i, int64(hi), lo)
			return
		}
		b.Int64(i, ms*1000)
	}
}

// millisOf reads column i of type t back as milliseconds.
func millisOf(r row.Row, i int, t types.Type, zone *time.Location) int64 {
	var ms int64
	if t.Phys() == types.PhysWide {
		hi, lo := r.Wide(i)
		n := new(big.Int).Lsh(big.NewInt(hi), 64)
		n.Add(n, new(big.Int).SetUint64(lo))
		ms = n.Div(n, big.NewInt(1_000_000)).Int64()
	} else {
		us := r.Int64(i)
		ms = us / 1000
		if us%1000 < 0 {
			ms--
		}
	}
	if t.Kind == types.Timestamp && zone != nil && zone != time.UTC {
		u := time.UnixMilli(ms).UTC()
		ms = time.Date(u.Year(), u.Month(), u.Day(), u.Hour(), u.Minute(), u.Second(), u.Nanosecond(), zone).UnixMilli()
	}
	return ms
}

// headerPacker packs a record's headers as MAP<STRING, BYTES>. A key that comes twice keeps its last
// value, as in Flink.
type headerPacker struct {
	keys, values []row.Datum
}

func (h *headerPacker) pack(buf []byte, raw []byte) []byte {
	h.read(raw)
	return h.appendTo(buf)
}

// read takes up a record's headers.
func (h *headerPacker) read(raw []byte) {
	h.keys, h.values = h.keys[:0], h.values[:0]
	for n, raw := uvarint(raw); n > 0; n-- {
		var key, value []byte
		key, raw = lengthed(raw)
		value, raw = lengthed(raw)
		v := row.Bytes(value)
		if value == nil {
			v = row.NullDatum
		}
		h.set(key, v)
	}
}

// set adds a header, or replaces its value.
func (h *headerPacker) set(key []byte, v row.Datum) {
	for j := range h.keys {
		if string(h.keys[j].B) == string(key) {
			h.values[j] = v
			return
		}
	}
	h.keys, h.values = append(h.keys, row.Bytes(key)), append(h.values, v)
}

func (h *headerPacker) appendTo(buf []byte) []byte {
	return row.AppendMap(buf, types.PhysBytes, types.PhysBytes, h.keys, h.values)
}

// uvarint reads a zigzag varint that the batch walker has already checked.
func uvarint(b []byte) (int64, []byte) {
	v, n := binary.Varint(b)
	return v, b[n:]
}

// lengthed reads bytes with their length before them; nil for length −1.
func lengthed(b []byte) ([]byte, []byte) {
	n, b := uvarint(b)
	if n < 0 {
		return nil, b
	}
	return b[:n:n], b[n:]
}

// appendLengthed appends bytes with their length before them; nil as length −1.
func appendLengthed(buf, b []byte) []byte {
	if b == nil {
		return append(buf, 1)
	}
	return append(binary.AppendVarint(buf, int64(len(b))), b...)
}

// appendHeaders appends a packed MAP<STRING, BYTES> as a record's headers.
func appendHeaders(buf []byte, packed []byte) ([]byte, error) {
	ks, vs := row.MapArrays(packed)
	keys, values := row.ArrayRow(ks), row.ArrayRow(vs)
	n := row.ArrayLen(ks)
	buf = binary.AppendVarint(buf, int64(n))
	for i := range n {
		if keys.IsNull(i) {
			return nil, fmt.Errorf("a header's key is NULL")
		}
		k := keys.Bytes(i)
		buf = appendLengthed(buf, k)
		if values.IsNull(i) {
			buf = appendLengthed(buf, nil)
			continue
		}
		buf = appendLengthed(buf, values.Bytes(i))
	}
	return buf, nil
}
