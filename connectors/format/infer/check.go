package infer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/connectors/format/jsonrow"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

// Report is how a declared table fits a sample of its topic.
type Report struct {
	Messages   string // what they are, counted
	Rows       int
	Columns    []ColumnReport
	Undeclared []string // fields of the rows that no column reads
}

// ColumnReport is how a column fits.
type ColumnReport struct {
	Name string
	Type types.Type
	// Present counts rows that have the field, Null those of them whose value is null, Unsent those where Debezium
	// left it out because it did not change.
	Present, Null, Unsent int
	// Failing counts messages whose value does not fit the type, and First is the first such error.
	Failing int
	First   error
	// Near is the field of the messages that an absent column probably means; empty for none.
	Near string
	// Unit says that the values, as they are read, are unlikely points in time, or that they are such; empty for no doubt.
	Unit string
}

// Check holds the columns that a table reads from its messages' values against a sample. spec are those columns, with the
// format's own options.
func Check(format spi.Format, spec spi.DecodeSpec, o spi.Options, messages []spi.Message) (*Report, error) {
	v := surveyOf(messages)
	r := &Report{Messages: v.counts(), Rows: v.rows}
	var names []string
	for _, p := range v.fields {
		names = append(names, p.name)
		declared := slices.ContainsFunc(spec.Fields, func(c spi.Column) bool { return c.Name == p.name })
		if !declared && (v.data() == formEvent || !isAdded(p.name)) {
			r.Undeclared = append(r.Undeclared, p.name)
		}
	}
	for i, c := range spec.Columns {
		one, at := oneColumn(spec, i)
		cr := ColumnReport{Name: c.Name, Type: c.Type}
		var err error
		if cr.Failing, cr.First, err = try(format, one, o, messages, c.Name); err != nil {
			return nil, err
		}
		if k := slices.Index(names, c.Name); k >= 0 {
			p := v.fields[k]
			cr.Present, cr.Null, cr.Unsent = p.present, p.nulls, p.unsent
			cr.Unit = p.suspicious(c.Type, format, one, at, o, messages)
		} else {
			cr.Near = jsonrow.NearField(c.Name, r.Undeclared)
		}
		r.Columns = append(r.Columns, cr)
	}
	return r, nil
}

// suspicious says that no value of a date or timestamp is in the years 1980 to 2100, or that those of an integer all look like
// such times.
func (p *profile) suspicious(t types.Type, format spi.Format, spec spi.DecodeSpec, column int, o spi.Options, messages []spi.Message) string {
	best := p.numbers.unit()
	seen := p.numbers.n - p.numbers.zeros
	switch {
	case t.IsInteger() && best > 0 && p.numbers.recent[best] == seen:
		return fmt.Sprintf("the numbers look like %s since 1970: TIMESTAMP(%d)", units[best].name, units[best].precision)
	case t.Kind != types.Date && t.Kind != types.Timestamp && t.Kind != types.TimestampLTZ, seen == 0:
		return ""
	}
	example, recent := "", false
	err := decodeEach(format, spec, o, messages, func(b *changelog.Batch, err error) {
		if err != nil {
			return // it is counted elsewhere
		}
		for i := range b.Len() {
			r := b.Row(i)
			if b.Op(i).Negative() || r.IsNull(column) {
				continue
			}
			read := string(text.Append(nil, t, r.Get(column, t.Phys()), nil))
			recent = recent || len(read) > 4 && read[:4] >= "1980" && read[:4] < "2100" && read[4] == '-'
			if !strings.HasPrefix(read, "1970-01-01") || example == "" {
				example = read
			}
		}
	})
	switch {
	case err != nil, recent, example == "":
		return ""
	case best > 0 && p.numbers.recent[best] > 0:
		return fmt.Sprintf("no value is read as a time from 1980 to 2100, but such as %s; the numbers look like %s: %s(%d)", example, units[best].name, t.Kind, units[best].precision)
	}
	return fmt.Sprintf("no value is read as a time from 1980 to 2100, but such as %s; is the unit right?", example)
}
