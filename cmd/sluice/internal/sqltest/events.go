package sqltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/connectors/format/debezium"
	jsonformat "github.com/sluicesql/sluice/connectors/format/json"
	"github.com/sluicesql/sluice/connectors/kafka"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/embed"
	"github.com/sluicesql/sluice/internal/near"
	"github.com/sluicesql/sluice/planner"
)

// events writes the events of a push as records of a table's topic.
type events struct {
	table *planner.Table
	topic string
	// debezium says that values are Debezium's envelopes; wrapped that they lie in a payload.
	debezium, wrapped bool
	// upsert says that a delete is a null value.
	upsert       bool
	columns      []spi.Column // of a row as it is written in a test
	values, keys []field
}

// field is a field of a record's value or key, and the column that it holds.
type field struct{ name, column string }

func newEvents(r *spi.Registry, t *planner.Table) (*events, error) {
	names := kafka.Topics(t.Spec.Options)
	if len(names) != 1 {
		return nil, fmt.Errorf("the table %s is not one topic; write its records with the directive records", t.Name)
	}
	l, err := kafka.ReadLayout(r, t.Spec)
	if err != nil {
		return nil, err
	}
	e := &events{table: t, topic: names[0], upsert: t.Connector.Name() == "upsert-kafka"}
	switch format := l.ValueFormat.Name(); format {
	case debezium.Name:
		e.debezium = true
		if e.wrapped, err = l.ValueOptions.Bool("schema-include", false); err != nil {
			return nil, err
		}
	case jsonformat.Name:
	default:
		return nil, fmt.Errorf("the table %s has the format %s; write its records with the directive records", t.Name, format)
	}
	keys := l.KeyFields
	switch {
	case l.KeyFormat != nil && l.KeyFormat.Name() != jsonformat.Name:
		return nil, fmt.Errorf("the table %s has keys of the format %s; write its records with the directive records", t.Name, l.KeyFormat.Name())
	case l.KeyFormat == nil && e.debezium:
		keys = t.Spec.PrimaryKey // as Debezium writes them, whether they are read or not
	}
	for _, c := range t.Spec.Columns {
		if c.Metadata == "" {
			e.columns = append(e.columns, c)
		}
	}
	for _, c := range l.ValueFields() {
		e.values = append(e.values, field{c.Name, c.Name})
	}
	for _, i := range keys {
		e.keys = append(e.keys, field{l.KeyColumn(i).Name, t.Spec.Columns[i].Name})
	}
	return e, nil
}

// image is a row of an event: JSON by column.
type image map[string]json.RawMessage

// records are those of one line: "c ROW", "r ROW", "u ROW", "u ROW -> ROW", "d ROW", or "ROW" where rows are only added.
func (e *events) records(line string) ([]embed.Record, error) {
	op, rest, _ := strings.Cut(line, " ")
	if len(op) != 1 || !strings.Contains("crud", op) {
		if e.debezium || e.upsert {
			return nil, fmt.Errorf("%q is no operation; write c, r, u or d and the row", op)
		}
		op, rest = "c", line
	}
	if !e.debezium && !e.upsert && op != "c" {
		return nil, fmt.Errorf("rows of the table %s are only added; write c and the row", e.table.Name)
	}
	var before, after image
	var err error
	switch op {
	case "d":
		before, err = e.row(rest, true)
	case "u":
		if b, a, ok := splitArrow(rest); ok {
			if before, err = e.row(b, true); err != nil {
				return nil, err
			}
			rest = a
		}
		fallthrough
	default:
		after, err = e.row(rest, false)
	}
	if err != nil {
		return nil, err
	}
	if e.upsert {
		return e.upserts(before, after), nil
	}
	return e.changes(op, before, after), nil
}

// changes are the records of a change. As Debezium does, a changed key is a delete and an insert, and a tombstone
// follows a delete.
func (e *events) changes(op string, before, after image) []embed.Record {
	if !e.debezium {
		return []embed.Record{{Topic: e.topic, Key: e.key(after), Value: object(e.values, after)}}
	}
	if op == "u" && before != nil && !bytes.Equal(e.key(before), e.key(after)) {
		out := e.gone(before)
		return append(out, embed.Record{Topic: e.topic, Key: e.key(after), Value: e.envelope("c", nil, after)})
	}
	if op == "d" {
		return e.gone(before)
	}
	return []embed.Record{{Topic: e.topic, Key: e.key(after), Value: e.envelope(op, before, after)}}
}

func (e *events) gone(before image) []embed.Record {
	out := []embed.Record{{Topic: e.topic, Key: e.key(before), Value: e.envelope("d", before, nil)}}
	if len(e.keys) > 0 {
		out = append(out, embed.Record{Topic: e.topic, Key: e.key(before)})
	}
	return out
}

func (e *events) upserts(before, after image) []embed.Record {
	var out []embed.Record
	if before != nil && (after == nil || !bytes.Equal(e.key(before), e.key(after))) {
		out = append(out, embed.Record{Topic: e.topic, Key: e.key(before)})
	}
	if after != nil {
		out = append(out, embed.Record{Topic: e.topic, Key: e.key(after), Value: object(e.values, after)})
	}
	return out
}

func (e *events) key(row image) []byte {
	if len(e.keys) == 0 {
		return nil
	}
	return object(e.keys, row)
}

func (e *events) envelope(op string, before, after image) []byte {
	part := func(row image) []byte {
		if row == nil {
			return []byte("null")
		}
		return object(e.values, row)
	}
	b := fmt.Appendf(nil, `{"before":%s,"after":%s,"source":{"version":"test","connector":"test","name":"test","ts_ms":0,"snapshot":"false","db":"test","table":%q},"op":%q,"ts_ms":0,"transaction":null}`,
		part(before), part(after), e.table.Name, op)
	if e.wrapped {
		return fmt.Appendf(nil, `{"schema":{"type":"struct","optional":false},"payload":%s}`, b)
	}
	return b
}

// object writes the fields that a row has.
func object(fields []field, row image) []byte {
	b := []byte{'{'}
	for _, f := range fields {
		v, ok := row[f.column]
		if !ok {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, quoteJSON(f.name)...), ':'), v...)
	}
	return append(b, '}')
}

func quoteJSON(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string has JSON
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// row reads a row: a JSON object by column, or the values of all columns in order, separated by commas. Of a row that
// is gone those of the primary key are enough.
func (e *events) row(s string, gone bool) (image, error) {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "{") {
		return e.named(s)
	}
	values, err := split(s)
	if err != nil {
		return nil, err
	}
	columns := e.columns
	if len(values) != len(columns) && gone && len(values) == len(e.table.Spec.PrimaryKey) {
		columns = nil
		for _, i := range e.table.Spec.PrimaryKey {
			columns = append(columns, e.table.Spec.Columns[i])
		}
	}
	if len(values) != len(columns) {
		var names []string
		for _, c := range columns {
			names = append(names, c.Name)
		}
		return nil, fmt.Errorf("the row has %d values and the table %s the columns %s", len(values), e.table.Name, strings.Join(names, ", "))
	}
	out := image{}
	for i, c := range columns {
		if out[c.Name], err = jsonOf(values[i], c.Type); err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	return out, nil
}

func (e *events) named(s string) (image, error) {
	var out image
	d := json.NewDecoder(strings.NewReader(s))
	if err := d.Decode(&out); err != nil {
		return nil, fmt.Errorf("the row is no JSON object: %w", err)
	}
	if d.InputOffset() != int64(len(s)) {
		return nil, errors.New("something follows the row's JSON object")
	}
	var names []string
	for _, c := range e.columns {
		names = append(names, c.Name)
	}
	for name := range out {
		if !slices.Contains(names, name) {
			if known := near.Name(name, names); known != "" {
				return nil, fmt.Errorf("the table %s has no column %q; did you mean %q?", e.table.Name, name, known)
			}
			return nil, fmt.Errorf("the table %s has no column %q", e.table.Name, name)
		}
	}
	return out, nil
}

// value is a value as written in a test.
type value struct {
	text   string
	quoted bool
}

// split divides values at their commas. One within '…' holds what it likes, a quote twice.
func split(s string) ([]value, error) {
	var out []value
	for {
		s = strings.TrimLeft(s, " ")
		v, rest, err := next(s)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		if rest == "" {
			return out, nil
		}
		s = rest[1:]
	}
}

// next is the value that s begins with, and what follows, from a comma on.
func next(s string) (value, string, error) {
	switch {
	case strings.HasPrefix(s, "'"):
		var b strings.Builder
		for i := 1; i < len(s); i++ {
			switch {
			case s[i] != '\'':
				b.WriteByte(s[i])
			case i+1 < len(s) && s[i+1] == '\'':
				b.WriteByte('\'')
				i++
			default:
				rest := strings.TrimLeft(s[i+1:], " ")
				if rest != "" && rest[0] != ',' {
					return value{}, "", fmt.Errorf("a comma is missing behind %s", s[:i+1])
				}
				return value{b.String(), true}, rest, nil
			}
		}
		return value{}, "", fmt.Errorf("%s has no closing quote", s)
	case strings.HasPrefix(s, "{"), strings.HasPrefix(s, "["):
		d := json.NewDecoder(strings.NewReader(s))
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return value{}, "", fmt.Errorf("a value that begins with %c is JSON: %w", s[0], err)
		}
		rest := strings.TrimLeft(s[d.InputOffset():], " ")
		if rest != "" && rest[0] != ',' {
			return value{}, "", fmt.Errorf("a comma is missing behind %s", raw)
		}
		return value{text: string(raw)}, rest, nil
	}
	if i := strings.IndexByte(s, ','); i >= 0 {
		return value{text: strings.TrimSpace(s[:i])}, s[i:], nil
	}
	return value{text: strings.TrimSpace(s)}, "", nil
}

// splitArrow divides an update at its arrow, which does not lie within quotes.
func splitArrow(s string) (before, after string, ok bool) {
	var quote byte // that ends the text at the current place, or 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote == '"' && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case strings.HasPrefix(s[i:], " -> "):
			return s[:i], s[i+4:], true
		}
	}
	return "", "", false
}

// jsonOf is a value of a type as Debezium and JSON formats write it.
func jsonOf(v value, t types.Type) (json.RawMessage, error) {
	if v.text == "NULL" && !v.quoted {
		return json.RawMessage("null"), nil
	}
	switch {
	case v.quoted:
	case t.Kind == types.Boolean:
		switch text := strings.ToLower(v.text); text {
		case "true", "false":
			return json.RawMessage(text), nil
		}
		return nil, fmt.Errorf("%q is no BOOLEAN", v.text)
	case t.Kind == types.Array || t.Kind == types.Map || t.Kind == types.Row:
		if !json.Valid([]byte(v.text)) {
			return nil, fmt.Errorf("%q is no JSON, as a value of type %s is written", v.text, t)
		}
		return json.RawMessage(v.text), nil
	case t.IsNumeric():
		if !json.Valid([]byte(v.text)) {
			return nil, fmt.Errorf("%q is no number; put it in quotes to have it written as a string", v.text)
		}
		return json.RawMessage(v.text), nil
	}
	return quoteJSON(v.text), nil
}
