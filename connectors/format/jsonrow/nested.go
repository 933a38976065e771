package jsonrow

import (
	"github.com/sluicesql/sluice/connectors/format/jsonscan"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// array packs an ARRAY into the scratch memory.
func (d *Decoder) array(n *node, t *jsonscan.Token) (row.Datum, error) {
	if t.Kind != jsonscan.Array {
		return d.embedded(n, t)
	}
	base := len(d.stack)
	defer func() { d.stack = d.stack[:base] }()
	i := 0
	err := d.Elements(d.msg, t, n.elem.shape(), func(e *jsonscan.Token) error {
		v, err := d.value(n.elem, e)
		if err != nil {
			return at(err, i)
		}
		d.stack = append(d.stack, v)
		i++
		return nil
	})
	if err != nil {
		return row.NullDatum, err
	}
	from := len(d.scratch)
	d.scratch = row.AppendArray(d.scratch, n.elem.phys, d.stack[base:])
	return d.packed(from), nil
}

// mapping packs a MAP into the scratch memory. Of equal keys the last one's value counts.
func (d *Decoder) mapping(n *node, t *jsonscan.Token) (row.Datum, error) {
	if t.Kind != jsonscan.Object {
		return d.embedded(n, t)
	}
	var keys []row.Datum
	seen := map[string]int{}
	base := len(d.stack)
	defer func() { d.stack = d.stack[:base] }()
	err := d.Members(d.msg, t, n.elem.shape(), func(name, e *jsonscan.Token) error {
		k, _ := d.scalar(name)
		v, err := d.value(n.elem, e)
		if err != nil {
			return within(err, string(k))
		}
		if i, ok := seen[string(k)]; ok {
			d.stack[base+i] = v
			return nil
		}
		seen[string(k)] = len(keys)
		keys = append(keys, row.Bytes(k))
		d.stack = append(d.stack, v)
		return nil
	})
	if err != nil {
		return row.NullDatum, err
	}
	from := len(d.scratch)
	d.scratch = row.AppendMap(d.scratch, types.PhysBytes, n.elem.phys, keys, d.stack[base:])
	return d.packed(from), nil
}

// nested packs a ROW, which was just scanned, into the scratch memory.
func (d *Decoder) nested(n *node, t *jsonscan.Token) (row.Datum, error) {
	if t.Kind != jsonscan.Object {
		return d.embedded(n, t)
	}
	base := len(d.stack)
	defer func() { d.stack = d.stack[:base] }()
	for i := range n.row.nodes {
		v, err := d.Value(n.row, i)
		if err != nil {
			return row.NullDatum, err
		}
		d.stack = append(d.stack, v)
	}
	// The inner values are ready and the scratch memory is ours again: they may lie in it, or in what it
	// was before it grew, and stay valid either way.
	from := len(d.scratch)
	var b row.Builder
	b.Begin(d.scratch, len(n.row.nodes))
	for i := range n.row.nodes {
		b.Datum(i, n.row.nodes[i].phys, d.stack[base+i])
	}
	d.scratch = b.Finish(nil) // columns were set in order
	return d.packed(from), nil
}

// packed is the value in the scratch memory from the given place on.
func (d *Decoder) packed(from int) row.Datum {
	return row.Bytes(d.scratch[from:len(d.scratch):len(d.scratch)])
}
