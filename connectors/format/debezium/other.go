package debezium

import (
	"fmt"
	"strings"

	"github.com/sluicesql/sluice/connectors/format/jsonrow"
	"github.com/sluicesql/sluice/connectors/format/jsonscan"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/fault"
)

// noOp handles a message without an op of one letter: one of the kinds that carry no change, or an error.
// Debezium writes them to topics of their own, from where transforms may route them into any.
func (d *Decoder) noOp(m spi.Message, e *envelope, t *jsonscan.Token) error {
	if e.op.Kind != jsonscan.Absent {
		return d.unknownOp(e)
	}
	names := map[string]bool{}
	err := d.Members(m.Value, d.object(e, t), nil, func(name, _ *jsonscan.Token) error {
		names[string(jsonscan.AppendUnescaped(nil, name.Bytes(m.Value)))] = true
		return nil
	})
	switch {
	case err != nil:
		return err
	case len(names) == 1 && names["ts_ms"]:
		d.counts.Heartbeats++
		return nil
	case names["status"] && names["id"] && names["event_count"]:
		d.counts.Transactions++
		return nil
	case names["databaseName"] && (names["ddl"] || names["tableChanges"]):
		d.counts.SchemaChanges++
		return nil
	}
	fix := "declare the table's PRIMARY KEY, by which rows without an envelope (ExtractNewRecordState) are read, or read them as events with the format json, " + skipFix
	if d.upsert {
		fix = "a row without an envelope (ExtractNewRecordState) must have the columns of the PRIMARY KEY; correct the producer, " + skipFix
	}
	if d.form == bare && names["payload"] {
		fix = fmt.Sprintf("the message embeds its schema: leave out the option '%s.%s', or set it to true", Name, schemaInclude)
	}
	return &spi.DecodeError{Field: "op", Offset: -1, Code: fault.MessageOp, Msg: "the message has no op: it is no change event of Debezium", Fix: fix}
}

const skipFix = "or skip such messages with '" + Name + "." + spi.IgnoreParseErrors + "' = 'true'"

// unknownOp is the error of an op that is none.
func (d *Decoder) unknownOp(e *envelope) error {
	op := string(d.Raw(e.op))
	err := &spi.DecodeError{Field: "op", Offset: e.op.Offset(), Code: fault.MessageOp,
		Msg: "wants one of c, r, u and d, found " + op, Fix: "correct the producer, " + skipFix}
	if op == `"t"` {
		err.Msg = "the table was truncated (op t)"
		err.Fix = fmt.Sprintf("set '%s.%s' = 'ignore' to keep the rows, or 'clear' to empty the table, which wants a PRIMARY KEY and 'table.exec.source.cdc-events-duplicate' at true", Name, truncate)
	}
	return err
}

// noRow is the error of a row that must be an object.
func (d *Decoder) noRow(t *jsonscan.Token, name, event string) error {
	if t.IsNull() {
		return d.missing(t, name, event)
	}
	return jsonrow.Within(d.NoObject(t), name)
}

func (d *Decoder) missing(t *jsonscan.Token, name, event string) *spi.DecodeError {
	code := fault.MessageBefore
	if name == "after" {
		code = fault.MessageAfter
	}
	e := &spi.DecodeError{Field: name, Offset: -1, Code: code, Msg: "is missing from the event of " + event, Fix: "correct the producer, " + skipFix}
	switch t.Kind {
	case jsonscan.Null:
		e.Offset, e.Msg = t.Offset(), "is null in the event of "+event
	case jsonscan.Object:
		e.Offset, e.Msg = t.Offset(), "does not hold the whole primary key in the event of "+event
	}
	return e
}

// noBefore is the error of an event whose row before is needed and not there. It says how to make the
// source database send it.
func (d *Decoder) noBefore(m spi.Message, e *envelope, event string) error {
	err := d.missing(e.before, "before", event)
	err.Msg += ", so that the row that goes is unknown"
	connector, table := d.origin(m, e)
	switch connector {
	case "mongodb":
		err.Fix = "set capture.mode=change_streams_update_full_with_pre_image in Debezium's connector, and changeStreamPreAndPostImages for the collection"
	case "mysql", "mariadb":
		err.Fix = "set binlog_row_image=FULL on the server"
	default:
		err.Fix = fmt.Sprintf("run ALTER TABLE %s REPLICA IDENTITY FULL in the source database", table)
	}
	if !d.upsert {
		err.Fix += ", or declare the table's PRIMARY KEY and leave 'table.exec.source.cdc-events-duplicate' at true"
	}
	return err
}

// origin is the connector and the table that the event comes from, as its source says.
func (d *Decoder) origin(m spi.Message, e *envelope) (connector, table string) {
	source := jsonscan.NewShape([]jsonscan.Member{{Name: "connector"}, {Name: "schema"}, {Name: "table"}})
	member := jsonscan.Member{Name: "source", Sub: source}
	if e == d.msg.wrapped {
		member = jsonscan.Member{Name: "payload", Sub: jsonscan.NewShape([]jsonscan.Member{member})}
	}
	var s jsonscan.Scanner
	var t jsonscan.Token
	if err := s.Scan(m.Value, jsonscan.NewShape([]jsonscan.Member{member}), &t); err != nil {
		return "", "T" // the message was scanned before, so there is none
	}
	var text [3]string
	for i := range text {
		if v := source.Token(i); v.IsString() {
			text[i] = string(jsonscan.AppendUnescaped(nil, v.Bytes(m.Value)))
		}
	}
	if text[2] == "" {
		return text[0], "<the table>"
	}
	var name []string
	for _, part := range text[1:] {
		if part != "" {
			name = append(name, quoteName(part))
		}
	}
	return text[0], strings.Join(name, ".")
}

// quoteName writes a name of PostgreSQL, in quotes where it needs them.
func quoteName(s string) string {
	for i, c := range s {
		if c >= 'a' && c <= 'z' || c == '_' || i > 0 && c >= '0' && c <= '9' {
			continue
		}
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}
