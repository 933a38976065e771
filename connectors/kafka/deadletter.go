package kafka

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/fault"
)

const (
	deadLetterTopic  = "dead-letter.topic"
	deadLetterPrefix = "dead-letter."
	// deadLetterName is what a table's dead letters are called after its own name.
	deadLetterName = ".dead-letter"
)

// The headers of a dead letter, beside those that the message came with.
const (
	headerTopic     = "sluice.topic"
	headerPartition = "sluice.partition"
	headerOffset    = "sluice.offset"
	headerTimestamp = "sluice.timestamp" // the message's, in milliseconds since 1970
	headerReason    = "sluice.reason"    // the code of the error
	headerError     = "sluice.error"     // the whole error
)

// deadLetterColumns are the columns of a dead letter.
var deadLetterColumns = []spi.Column{
	{Name: "key", Type: types.Bytes()},
	{Name: "value", Type: types.Bytes()},
	{Name: "headers", Metadata: "headers", Type: headersType},
}

// deadLetters is the table that takes what cannot be read of t: a topic of the same cluster whose records are the
// messages as they came. It is nil where t names no such topic.
func (c *connector) deadLetters(t *spi.Table) (*spi.Table, error) {
	topic, ok := t.Options[deadLetterTopic]
	if !ok {
		for _, name := range t.Options.Names() {
			if strings.HasPrefix(name, deadLetterPrefix) {
				return nil, &spi.OptionError{Name: name, Msg: fmt.Sprintf("option %q has no effect without option '%s'", name, deadLetterTopic)}
			}
		}
		return nil, nil
	}
	d := &spi.Table{Name: t.Name + deadLetterName, Columns: deadLetterColumns, Options: spi.Options{
		"connector": "kafka", "topic": topic, "key.format": "raw", "key.fields": "key", "value.format": "raw", "value.fields-include": "EXCEPT_KEY",
		"sink.parallelism": "1",
	}}
	for _, name := range t.Options.Names() {
		if rest, ok := strings.CutPrefix(name, deadLetterPrefix); ok && name != deadLetterTopic {
			d.Options["sink."+rest] = t.Options[name]
		} else if strings.HasPrefix(name, propertyPrefix) {
			d.Options[name] = t.Options[name]
		}
	}
	_, err := (&connector{registry: c.registry, name: "kafka", options: kafkaOptions}).sinkConfig(d)
	var oe *spi.OptionError
	if errors.As(err, &oe) { // it blames the name that the option has in d
		if rest, ok := strings.CutPrefix(oe.Name, "sink."); ok {
			return nil, &spi.OptionError{Name: deadLetterPrefix + rest, Value: oe.Value, Msg: strings.ReplaceAll(oe.Msg, "sink.", deadLetterPrefix)}
		}
		if oe.Name == "topic" {
			return nil, &spi.OptionError{Name: deadLetterTopic, Value: true, Msg: fmt.Sprintf("option '%s' wants the name of one topic", deadLetterTopic)}
		}
	}
	if err != nil {
		return nil, err
	}
	if slices.Contains(Topics(t.Options), d.Options["topic"]) {
		return nil, &spi.OptionError{Name: deadLetterTopic, Value: true, Msg: fmt.Sprintf("option '%s' names the topic that the table reads: it would read its dead letters again for ever", deadLetterTopic)}
	}
	return d, nil
}

// deadLetterNames gives the options in an error about the sink of dead letters the names that people wrote.
func deadLetterNames(t *spi.Table, err error) error {
	if !strings.HasSuffix(t.Name, deadLetterName) {
		return err
	}
	return renamedError{err}
}

type renamedError struct{ error }

func (e renamedError) Error() string {
	return strings.ReplaceAll(e.error.Error(), "'sink.", "'"+deadLetterPrefix)
}
func (e renamedError) Unwrap() error { return e.error }

// deadLetterBox gathers the messages that a reader puts aside.
type deadLetterBox struct {
	batch   changelog.Batch
	out     *spi.Out
	headers headerPacker
}

func newDeadLetterBox() *deadLetterBox {
	b := &deadLetterBox{out: spi.NewOut(deadLetterColumns)}
	b.out.Batch = &b.batch
	return b
}

// put adds a record of p.
func (d *deadLetterBox) put(p *partition, rec *record, code fault.Code, err error) {
	d.headers.read(rec.headers)
	for _, h := range [...][2]string{
		{headerTopic, p.topic.name}, {headerPartition, strconv.Itoa(int(p.id))}, {headerOffset, strconv.FormatInt(rec.offset, 10)},
		{headerTimestamp, strconv.FormatInt(rec.timestamp, 10)}, {headerReason, string(code)}, {headerError, err.Error()},
	} {
		d.headers.set([]byte(h[0]), row.String(h[1]))
	}
	b := d.out.Begin()
	if rec.key != nil {
		b.Bytes(0, rec.key)
	}
	if rec.value != nil {
		b.Bytes(1, rec.value)
	}
	b.Append(2, d.headers.appendTo)
	d.out.Commit(changelog.Insert)
}

// DeadLetters implements spi.DeadLetterReader.
func (r *reader) DeadLetters(b *changelog.Batch) {
	if r.dead == nil {
		return
	}
	letters := &r.dead.batch
	for i := range letters.Len() {
		b.AppendRow(letters.Op(i), letters.Row(i))
	}
	letters.Reset()
}
