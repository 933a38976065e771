package infer

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/sluicesql/sluice/connectors/format/connect"
	"github.com/sluicesql/sluice/connectors/format/debezium"
	jsonformat "github.com/sluicesql/sluice/connectors/format/json"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/fault"
)

// Table is a declaration of a topic as a table.
type Table struct {
	Name    string
	Columns []Column
	Key     []string // names of columns; empty without a primary key
	Format  string
	Options []Setting // of the format
	Notes   []string  // what concerns the whole table
}

// Column is a column with what is doubtful about it.
type Column struct {
	Name   string
	Type   types.Type
	Doubts []string
}

// Setting is an option and its value.
type Setting struct{ Name, Value string }

// survey is what a sample showed.
type survey struct {
	messages []spi.Message
	sampled  []sampled
	forms    [formBroken + 1]int
	wrapped  int
	rows     int
	fields   []*profile
	tables   []string // that the events come from
	mysql    bool     // they come from a connector for MySQL or MariaDB
	broken   error    // of the first message that is none
}

// survey recognises messages and gathers what is in them.
func surveyOf(messages []spi.Message) *survey {
	v := &survey{messages: messages}
	for _, m := range messages {
		s := recognise(m)
		v.sampled = append(v.sampled, s)
		v.forms[s.form]++
		if s.wrapped {
			v.wrapped++
		}
		if s.form == formBroken && v.broken == nil {
			v.broken = s.err
		}
		if c := s.source; c != nil && c.get("connector").is(str) && (c.get("connector").text == "mysql" || c.get("connector").text == "mariadb") {
			v.mysql = true
		}
		if t := s.source; t != nil && t.get("table").is(str) && !slices.Contains(v.tables, t.get("table").text) {
			v.tables = append(v.tables, t.get("table").text)
		}
	}
	for i := range v.sampled {
		if s := &v.sampled[i]; s.form == v.data() {
			for j := range s.rows {
				v.rows++
				addRow(&v.fields, &s.rows[j], s.schemaOfRow())
			}
		}
	}
	return v
}

// schemaOfRow is the schema of the rows; of a row without one it is that of the key's columns.
func (s *sampled) schemaOfRow() *connect.Schema {
	if s.schema == nil {
		return s.keyed
	}
	return s.schema
}

// data is the form of the messages that carry rows: events, if there are any.
func (v *survey) data() form {
	if v.forms[formEvent] > 0 {
		return formEvent
	}
	return formRow
}

// Infer declares the table that a topic's messages hold, by a sample of them.
func Infer(topic string, messages []spi.Message) (*Table, error) {
	v := surveyOf(messages)
	if err := v.empty(); err != nil {
		return nil, err
	}
	t := &Table{Name: topic[strings.LastIndexByte(topic, '.')+1:], Format: debezium.Name}
	if len(v.tables) == 1 {
		t.Name = v.tables[0]
	}
	t.Notes = append(t.Notes, v.counts())
	v.key(t)
	if v.data() == formRow && len(t.Key) == 0 {
		if v.wrapped > 0 {
			return nil, fault.Errorf(fault.MessageKey, "the messages are rows in {schema, payload} with no message key that names one of their fields, so that nothing tells which row they replace").
				Fix("let the producer write a key, or no schema")
		}
		t.Format = jsonformat.Name
	}
	schemas := false
	var added []string
	for _, p := range v.fields {
		if v.data() == formRow && t.Format == debezium.Name && isAdded(p.name) {
			added = append(added, p.name)
			continue
		}
		schemas = schemas || p.schema != nil
		t.Columns = append(t.Columns, v.column(p, t))
	}
	if len(t.Columns) == 0 {
		return nil, fault.Errorf(fault.MessageNone, "of %s none shows a row with a field", some(len(messages), "message")).Fix(lookFix)
	}
	if len(added) > 0 {
		t.Notes = append(t.Notes, "added by ExtractNewRecordState, and no columns of the table: "+strings.Join(added, ", "))
	}
	if !schemas {
		t.Notes = append(t.Notes, "no embedded schemas: types are by what the values show, and integers, whose size they do not show, are BIGINT")
	}
	switch {
	case v.forms[formTruncate] == 0:
	case len(t.Key) > 0:
		t.Options = append(t.Options, Setting{debezium.Name + ".truncate", "clear"})
		t.Notes = append(t.Notes, "a TRUNCATE empties the table; a topic of several partitions is refused for that, and 'debezium-json.truncate' = 'ignore' leaves it out")
	default:
		t.Options = append(t.Options, Setting{debezium.Name + ".truncate", "ignore"})
		t.Notes = append(t.Notes, "a TRUNCATE is left out, since without a PRIMARY KEY nothing tells which rows it deletes")
	}
	if n := v.forms[formBroken]; n > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("what is no object in JSON ends a job; the first of %d here: %v", n, v.broken))
	}
	t.mend(messages)
	return t, nil
}

// lookFix is what to do where there may be rows further on.
const lookFix = "look at more messages: --messages N"

// empty is the error of a sample without rows.
func (v *survey) empty() error {
	switch {
	case len(v.messages) == 0:
		return fault.Errorf(fault.MessageNone, "there are no messages").Fix("see that the producer, such as a connector of Debezium, runs and writes to this topic")
	case v.forms[formEvent]+v.forms[formRow] > 0:
		if v.rows == 0 {
			return fault.Errorf(fault.MessageNone, "of %s none shows a row: all are deletes", some(len(v.messages), "message")).Fix(lookFix)
		}
		return nil
	case v.forms[formBroken] > 0:
		return fault.Errorf(fault.MessageNone, "of %s none holds a row: %w", some(len(v.messages), "message"), v.broken)
	}
	return fault.Errorf(fault.MessageNone, "no message holds a row (%s)", v.counts()).Fix("name the topic of a table: heartbeats, transactions and schema changes have topics of their own")
}

// counts says what the messages are.
func (v *survey) counts() string {
	var parts []string
	for _, c := range []struct {
		form form
		what string
	}{{formEvent, "change event"}, {formRow, "bare row"}, {formTombstone, "tombstone"}, {formTruncate, "TRUNCATE event"}, {formOther, "heartbeat, transaction or schema event"}, {formBroken, "other"}} {
		if n := v.forms[c.form]; n > 0 {
			parts = append(parts, some(n, c.what))
		}
	}
	s := fmt.Sprintf("%s: %s", some(len(v.messages), "message"), strings.Join(parts, ", "))
	if v.wrapped > 0 {
		s += ", with embedded schemas"
	}
	if len(v.tables) > 1 {
		s += "; of several tables: " + strings.Join(v.tables, ", ")
	}
	return s
}

// key finds the primary key: the fields of the message keys, or the column whose value a plain key is in all messages.
func (v *survey) key(t *Table) {
	var names []string // of the key, or with plain ones the columns that it may be
	keyed, others, plain := 0, 0, false
	for i := range v.sampled {
		s := &v.sampled[i]
		if s.form != v.data() || s.now == nil {
			continue
		}
		these := s.keyNames()
		isPlain := s.key != nil && s.key.kind != object
		if keyed > 0 && isPlain && plain {
			these = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !slices.Contains(these, n) })
		}
		switch {
		case len(these) == 0, keyed > 0 && isPlain != plain, keyed > 0 && !isPlain && !slices.Equal(names, these):
			others++
		default:
			names, plain = these, isPlain
			keyed++
		}
	}
	if plain {
		names = names[:1]
	}
	switch {
	case others == 0 && keyed > 0:
		t.Key = names
	case keyed > 0:
		t.Notes = append(t.Notes, fmt.Sprintf("no PRIMARY KEY: of %s only %d name (%s)", some(keyed+others, "message key"), keyed, strings.Join(names, ", ")))
	case v.data() == formEvent:
		t.Notes = append(t.Notes, "no PRIMARY KEY: the message keys name none of the columns; a table without one needs REPLICA IDENTITY FULL in PostgreSQL")
	}
	if len(t.Key) > 0 && v.data() == formRow {
		t.Notes = append(t.Notes, "each message is taken for what the row of its key is now; for events that only add, use 'format' = 'json' and no PRIMARY KEY")
	}
}

// keyNames are the columns that the message key is made of; of a plain key those that have its value.
func (s *sampled) keyNames() (names []string) {
	switch {
	case s.key == nil || s.key.kind == array:
	case s.key.kind == object:
		for _, m := range s.key.members {
			if s.now.get(m.name) == nil {
				return nil
			}
			names = append(names, m.name)
		}
	default:
		for _, m := range s.now.members {
			if m.value.kind == s.key.kind && m.value.text == s.key.text {
				names = append(names, m.name)
			}
		}
	}
	return names
}

// some counts things.
func some(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// column is the declaration of a field.
func (v *survey) column(p *profile, t *Table) Column {
	c := p.choose(t.Format == debezium.Name)
	if p.present < v.rows {
		c.doubts = append(slices.Clone(c.doubts), fmt.Sprintf("missing from %d of %d rows: added, dropped or renamed", v.rows-p.present, v.rows))
	}
	if p.unsent > 0 && p.values() > 0 {
		c.doubts = append(slices.Clone(c.doubts), fmt.Sprintf("not sent in %d of %d rows, where it did not change: REPLICA IDENTITY FULL sends it", p.unsent, v.rows))
	}
	if v.mysql && c.typ.Kind == types.BigInt && p.numbers.min != nil && p.numbers.min.Sign() < 0 {
		c.doubts = append(slices.Clone(c.doubts), "a BIGINT UNSIGNED shows its upper half as negative: for one declare DECIMAL(20, 0), with 'debezium-json.bigint-unsigned-handling-mode' = 'long'")
	}
	return Column{p.name, c.typ, c.doubts}
}

// mend tries the declaration on the messages themselves, and takes a wider type for each column whose values do not
// fit it.
func (t *Table) mend(messages []spi.Message) {
	for i := range t.Columns {
		c := &t.Columns[i]
		for tries := range 2 {
			n, err := t.trial(messages, i)
			if err == nil {
				break
			}
			wider := types.String()
			if c.Type.IsTemporal() && tries == 0 {
				wider = types.Of(types.BigInt)
			}
			if c.Type.SameIgnoringNull(wider) {
				c.Doubts = append(c.Doubts, fmt.Sprintf("%d values cannot be read: %s", n, reason(err)))
				break
			}
			c.Doubts = append(slices.Clone(c.Doubts), fmt.Sprintf("%d values cannot be read as %s: %s", n, c.Type, reason(err)))
			c.Type = wider
		}
	}
}

func reason(err error) string {
	if e, ok := err.(*spi.DecodeError); ok { //nolint:errorlint // decoders return it as it is
		return e.Msg
	}
	return err.Error()
}

// trial reads one column, beside the key, and returns how many messages fail for it, and the first error. A value that was not
// sent is no failure of its type.
func (t *Table) trial(messages []spi.Message, column int) (failed int, first error) {
	spec := spi.DecodeSpec{Mode: spi.Retract}
	for i, c := range t.Columns {
		if slices.Contains(t.Key, c.Name) {
			spec.Key = append(spec.Key, i)
		}
		spec.Columns = append(spec.Columns, spi.Column{Name: c.Name, Type: c.Type})
	}
	o := spi.Options{}
	for _, s := range t.Options {
		o[strings.TrimPrefix(s.Name, t.Format+".")] = s.Value
	}
	var format spi.Format = debezium.Format{}
	switch {
	case t.Format == jsonformat.Name:
		format, spec.Mode = jsonformat.Format{}, spi.AppendOnly
	case len(t.Key) > 0:
		spec.Mode = spi.Upsert
	}
	one, _ := oneColumn(spec, column)
	failed, first, err := try(format, one, o, messages, t.Columns[column].Name)
	if err != nil {
		return len(messages), err
	}
	return failed, first
}

// SQL is the statement that creates the table, with the doubts as comments. with are the options of its connector.
func (t *Table) SQL(with []Setting) string {
	var b strings.Builder
	for _, n := range t.Notes {
		fmt.Fprintf(&b, "-- %s\n", oneLine(n))
	}
	fmt.Fprintf(&b, "CREATE TABLE %s (\n", quoted(t.Name))
	for i, c := range t.Columns {
		fmt.Fprintf(&b, "  %s %s", quoted(c.Name), c.Type)
		if i < len(t.Columns)-1 || len(t.Key) > 0 {
			b.WriteByte(',')
		}
		if len(c.Doubts) > 0 {
			fmt.Fprintf(&b, " -- %s", oneLine(strings.Join(c.Doubts, "; ")))
		}
		b.WriteByte('\n')
	}
	if len(t.Key) > 0 {
		var key []string
		for _, k := range t.Key {
			key = append(key, quoted(k))
		}
		fmt.Fprintf(&b, "  PRIMARY KEY (%s) NOT ENFORCED\n", strings.Join(key, ", "))
	}
	b.WriteString(") WITH (\n")
	for i, s := range slices.Concat(with, []Setting{{"format", t.Format}}, t.Options) {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, "  %s = %s", literal(s.Name), literal(s.Value))
	}
	b.WriteString("\n);\n")
	return b.String()
}

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// quoted is a name in backquotes: reserved words and odd characters are names then too.
func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// oneLine keeps a comment on its line, whatever a message put into it.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}
