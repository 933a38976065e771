package debezium

import (
	"github.com/sluicesql/sluice/connectors/format/jsonrow"
	"github.com/sluicesql/sluice/connectors/format/jsonscan"
)

// message is what is read of a message, in the forms it can have. The tokens belong to the shapes and
// change with every message.
type message struct {
	shape   *jsonscan.Shape
	bare    *envelope       // the message itself; nil when schema-include is true
	wrapped *envelope       // its payload; nil when schema-include is false
	payload *jsonscan.Token // nil likewise
	schema  *jsonscan.Token // of the payload; nil likewise
}

// envelope is what is read of {before, after, source, op, …}.
type envelope struct {
	beforeFields, afterFields *jsonrow.Fields
	before, after, op, source *jsonscan.Token
	meta                      []*jsonscan.Token // of the metadata columns
	row                       *unwrapped        // instead of the envelope; nil where that is an error
}

// members collects the members wanted of one object.
type members []jsonscan.Member

// add wants a member, once, and returns its position.
func (m *members) add(name string, sub *jsonscan.Shape) int {
	for i := range *m {
		if (*m)[i].Name == name {
			return i
		}
	}
	*m = append(*m, jsonscan.Member{Name: name, Sub: sub})
	return len(*m) - 1
}

// newMessage lays out what is read: the given columns of before and after, and metadata.
func newMessage(form include, before, after []jsonrow.Field, meta []metaColumn) (*message, error) {
	m := &message{}
	var top members
	var err error
	payload := -1
	if form != bare {
		var inner members
		var bind func(*jsonscan.Shape)
		if m.wrapped, bind, err = newEnvelope(&inner, before, after, meta); err != nil {
			return nil, err
		}
		sub := jsonscan.NewShape(inner)
		bind(sub)
		payload = top.add("payload", sub)
	}
	bind := func(*jsonscan.Shape) {}
	if form != wrapped {
		if m.bare, bind, err = newEnvelope(&top, before, after, meta); err != nil {
			return nil, err
		}
	}
	if payload >= 0 {
		top = append(top, jsonscan.Member{Name: "schema", Constant: true})
	}
	m.shape = jsonscan.NewShape(top)
	bind(m.shape)
	if payload >= 0 {
		m.payload = m.shape.Token(payload)
		m.schema = m.shape.Token(len(top) - 1)
		for i := range meta {
			if meta[i].holder == inMessage {
				m.wrapped.meta[i] = m.schema
			}
		}
	}
	return m, nil
}

// newEnvelope adds the members of an envelope to those of its object. bind is to be called with the
// object's shape.
func newEnvelope(in *members, before, after []jsonrow.Field, meta []metaColumn) (e *envelope, bind func(*jsonscan.Shape), err error) {
	e = &envelope{source: &absent, meta: make([]*jsonscan.Token, len(meta))}
	if e.beforeFields, err = jsonrow.NewFields(before); err != nil {
		return nil, nil, err
	}
	if e.afterFields, err = jsonrow.NewFields(after); err != nil {
		return nil, nil, err
	}
	atBefore := in.add("before", e.beforeFields.Shape())
	atAfter := in.add("after", e.afterFields.Shape())
	atOp := in.add("op", nil)
	atSource := -1
	var source members
	var sourceShape *jsonscan.Shape
	at := make([]int, len(meta))
	for i := range meta {
		if meta[i].holder == inSource {
			at[i] = source.add(meta[i].member, nil)
		}
	}
	if len(source) > 0 {
		sourceShape = jsonscan.NewShape(source)
		atSource = in.add("source", sourceShape)
	}
	for i := range meta {
		if meta[i].holder == inEnvelope {
			at[i] = in.add(meta[i].member, nil)
		}
	}
	return e, func(sh *jsonscan.Shape) {
		e.before, e.after, e.op = sh.Token(atBefore), sh.Token(atAfter), sh.Token(atOp)
		if atSource >= 0 {
			e.source = sh.Token(atSource)
		}
		for i := range meta {
			switch meta[i].holder {
			case inSource:
				e.meta[i] = sourceShape.Token(at[i])
			case inEnvelope:
				e.meta[i] = sh.Token(at[i])
			default:
				e.meta[i] = &absent
			}
		}
	}, nil
}
