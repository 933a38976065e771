package jsonrow

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluicesql/sluice/connectors/format/jsonscan"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/internal/near"
)

// Within returns err, which blames a field of an object, with the object's own name put before the field's.
func Within(err error, name string) error { return within(err, name) }

func within(err error, name string) error {
	var e *spi.DecodeError
	if errors.As(err, &e) {
		switch {
		case e.Field == "":
			e.Field = name
		case strings.HasPrefix(e.Field, "["):
			e.Field = name + e.Field
		default:
			e.Field = name + "." + e.Field
		}
	}
	return err
}

// at is within for element i of an array.
func at(err error, i int) error { return within(err, "["+strconv.Itoa(i)+"]") }

func (d *Decoder) skipFix() string {
	return fmt.Sprintf("correct the producer, or skip such messages with '%s.ignore-parse-errors' = 'true'", d.Format)
}

// registryHeader is the length of what serializers that use a schema registry write before a message: a byte 0 and the
// schema's number.
const registryHeader = 5

// notJSON is the error of a message that cannot be scanned.
func (d *Decoder) notJSON(msg []byte, e *jsonscan.SyntaxError) error {
	fix := d.skipFix()
	if len(msg) > registryHeader && msg[0] == 0 {
		fix = "it begins as messages do whose schema is in a registry (Avro, Protobuf, JSON Schema): have the connector write them with JsonConverter; or " + fix
	}
	return &spi.DecodeError{Offset: e.Offset, Code: fault.MessageSyntax, Msg: "the message is not valid JSON: " + e.Msg, Fix: fix}
}

// mismatch is the error of a value that is none of n's type.
func (d *Decoder) mismatch(n *node, t *jsonscan.Token) *spi.DecodeError {
	return &spi.DecodeError{Offset: t.Offset(), Code: fault.MessageType,
		Msg: fmt.Sprintf("wants %s, found %s", n.typ.Nullable(), d.describe(t)),
		Fix: "declare a type that takes it (STRING takes any), or skip such messages with '" + d.Format + ".ignore-parse-errors' = 'true'"}
}

// outOfRange is the error of a value that n's type cannot hold without loss.
func (d *Decoder) outOfRange(n *node, t *jsonscan.Token) *spi.DecodeError {
	wider := "a type that holds it"
	switch {
	case n.typ.IsInteger() && n.typ.Kind != types.BigInt:
		wider = "BIGINT"
	case n.typ.Kind == types.BigInt:
		wider = "DECIMAL(20, 0)"
	case n.typ.Kind == types.Decimal:
		wider = "a DECIMAL with more digits"
	case n.typ.Kind == types.Float:
		wider = "DOUBLE"
	}
	return &spi.DecodeError{Offset: t.Offset(), Code: fault.MessageRange,
		Msg: fmt.Sprintf("%s does not fit %s", d.describe(t), n.typ.Nullable()),
		Fix: "declare " + wider + ", or skip such messages with '" + d.Format + ".ignore-parse-errors' = 'true'"}
}

func (d *Decoder) notNull(n *node, t *jsonscan.Token) error {
	e := &spi.DecodeError{Offset: -1, Code: fault.MessageNull, Msg: fmt.Sprintf("is missing, but declared %s", n.typ),
		Fix: "declare the column without NOT NULL and outside of a PRIMARY KEY, or skip such messages with '" + d.Format + ".ignore-parse-errors' = 'true'"}
	if t.Kind == jsonscan.Null {
		e.Offset, e.Msg = t.Offset(), fmt.Sprintf("is null, but declared %s", n.typ)
	}
	return e
}

// Near returns err, which may blame a field that the object does not have, with the name of a field that was probably
// meant: one that f has no column for.
func (d *Decoder) Near(err error, f *Fields, object *jsonscan.Token) error {
	e, ok := errors.AsType[*spi.DecodeError](err)
	if !ok || e.Offset >= 0 || e.Code != fault.MessageNull && e.Code != fault.MessageMissing {
		return err
	}
	var names []string
	merr := d.Members(d.msg, object, nil, func(name, _ *jsonscan.Token) error {
		text := string(jsonscan.AppendUnescaped(nil, name.Bytes(d.msg)))
		if !slices.ContainsFunc(f.nodes, func(n node) bool { return n.name == text }) {
			names = append(names, text)
		}
		return nil
	})
	if like := NearField(e.Field, names); merr == nil && like != "" {
		e.Msg += fmt.Sprintf("; there is a field %q", like)
	}
	return err
}

// describe says what a token is, with its beginning.
func (d *Decoder) describe(t *jsonscan.Token) string {
	const most = 40
	s := t.Raw(d.msg)
	dots := ""
	if len(s) > most {
		s, dots = s[:most], "…"
		for len(s) > 0 && !utf8.Valid(s) {
			s = s[:len(s)-1]
		}
	}
	word := ""
	switch {
	case t.IsString():
		word = "the string "
	case t.IsNumber():
		word = "the number "
	case t.Kind == jsonscan.Object:
		word = "the object "
	case t.Kind == jsonscan.Array:
		word = "the array "
	}
	return word + string(s) + dots
}

// noOffset takes the offset out of an error that counts from within a copy of a part of the message.
func noOffset(err error) error {
	var e *spi.DecodeError
	if errors.As(err, &e) {
		e.Offset = -1
	}
	return err
}

// moved gives an error whose offset counts within the text of the string t the place of t.
func moved(err error, t *jsonscan.Token) error {
	var e *spi.DecodeError
	if errors.As(err, &e) {
		e.Offset = t.Offset()
	}
	return err
}

// notExtended is the error of a string that should hold JSON.
func (d *Decoder) notExtended(err error, t *jsonscan.Token) error {
	return &spi.DecodeError{Offset: t.Offset(), Code: fault.MessageSyntax, Msg: "the string is no extended JSON of MongoDB: " + err.Error() + " of the string", Fix: d.skipFix()}
}

// NoObject is the error of a message, or a field, that should be an object.
func (d *Decoder) NoObject(t *jsonscan.Token) *spi.DecodeError {
	return &spi.DecodeError{Offset: t.Offset(), Code: fault.MessageType, Msg: "wants an object, found " + d.describe(t), Fix: d.skipFix()}
}

// NearField is the field that a column was probably meant to be, "" for none: names that differ in case and
// underscores alone go first.
func NearField(column string, fields []string) string {
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }
	for _, f := range fields {
		if plain(f) == plain(column) {
			return f
		}
	}
	return near.Name(column, fields)
}
