package jsonrow

import (
	"fmt"

	"github.com/goccy/go-json"

	"github.com/sluicesql/sluice/connectors/format/jsonscan"
	"github.com/sluicesql/sluice/engine/row"
)

// Cold sets b's columns from a whole message, as Begin and Row do, but by go-json: for objects that are seldom
// read, such as the keys of messages, and have no place in a stream to learn from. What go-json is lax about
// cannot get through: the scanner checks the message first, for UTF-8, surrogates and depth, and a map keeps
// names exact. It reports whether the message is an object. Errors within it have no offset.
func (d *Decoder) Cold(f *Fields, msg []byte, b *row.Builder) (bool, error) {
	var t jsonscan.Token
	if err := d.Begin(msg, nil, &t); err != nil || t.Kind != jsonscan.Object {
		return false, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(msg, &members); err != nil {
		return false, fmt.Errorf("reading valid JSON: %w", err)
	}
	for i := range f.nodes {
		n := &f.nodes[i]
		v := row.NullDatum
		t = jsonscan.Token{}
		d.msg = members[n.name]
		var err error
		if d.msg != nil {
			err = d.Scan(d.msg, n.shape(), &t)
		}
		if err == nil {
			v, err = d.value(n, &t)
		}
		if err != nil {
			return true, within(noOffset(err), n.name)
		}
		b.Datum(n.out, n.phys, v)
	}
	return true, nil
}
