package infer

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// value is a JSON value. Numbers keep their text, and objects the order of their members.
type value struct {
	kind    kind
	text    string // of a string, unescaped, and of a number
	elems   []value
	members []member
}

type kind uint8

const (
	null kind = iota
	boolean
	number
	str
	array
	object
)

type member struct {
	name  string
	value value
}

// get is a member's value; of equal names the last one counts. A nil is a member that is not there.
func (v *value) get(name string) *value {
	for i := len(v.members) - 1; i >= 0; i-- {
		if v.members[i].name == name {
			return &v.members[i].value
		}
	}
	return nil
}

// is reports whether v is there and of a kind.
func (v *value) is(k kind) bool { return v != nil && v.kind == k }

// maxDepth bounds the nesting that is looked into.
const maxDepth = 64

var errDepth = errors.New("the value is nested too deeply")

func parse(text []byte) (value, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := parseNext(d, 0)
	if errors.Is(err, io.EOF) {
		err = errors.New("the JSON ends too early")
	}
	if err != nil {
		return v, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return v, errors.New("something follows the value")
	}
	return v, nil
}

func parseNext(d *json.Decoder, depth int) (v value, err error) {
	t, err := d.Token()
	if err != nil {
		return v, err
	}
	if depth > maxDepth {
		return v, errDepth
	}
	switch t := t.(type) {
	case bool:
		v.kind = boolean
	case json.Number:
		v.kind, v.text = number, t.String()
	case string:
		v.kind, v.text = str, t
	case json.Delim:
		v.kind = array
		if t == '{' {
			v.kind = object
		}
		for d.More() {
			var m member
			if v.kind == object {
				name, err := d.Token()
				if err != nil {
					return v, err
				}
				m.name, _ = name.(string) // the decoder lets nothing else stand there
			}
			if m.value, err = parseNext(d, depth+1); err != nil {
				return v, err
			}
			if v.kind == object {
				v.members = append(v.members, m)
			} else {
				v.elems = append(v.elems, m.value)
			}
		}
		_, err = d.Token()
	}
	return v, err
}
