// Package datagen holds the connector datagen, which makes rows up. The same position always gives the
// same row, so that a job that resumes sees what it would have seen.
package datagen

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/connectors/spi"
)

// Register adds the connector.
func Register(r *spi.Registry) { r.AddConnector(connector{}) }

type connector struct{}

func (connector) Name() string           { return "datagen" }
func (connector) Help() string           { return "Makes rows up, at random or in sequence" }
func (connector) Metadata() []spi.Column { return nil }

func (connector) Options() []spi.Option {
	return []spi.Option{
		{Name: "rows-per-second", Kind: spi.IntOption, Default: "10000", Help: "Rate of all readers together; 0 or less for as many as can be read"},
		{Name: "number-of-rows", Kind: spi.IntOption, Help: "Number of rows after which the table ends; without it, it ends where a sequence does, or never"},
		{Name: "fields.#.kind", Kind: spi.EnumOption, Default: "random", Values: []string{"random", "sequence"}, Help: "How the column is made up"},
		{Name: "fields.#.min", Help: "Smallest random number"},
		{Name: "fields.#.max", Help: "Largest random number"},
		{Name: "fields.#.length", Kind: spi.IntOption, Default: "100", Help: "Length of random strings"},
		{Name: "fields.#.start", Kind: spi.IntOption, Help: "First number of a sequence"},
		{Name: "fields.#.end", Kind: spi.IntOption, Help: "Last number of a sequence, with which the table ends"},
		{Name: "fields.#.null-rate", Unsupported: "is not available in this version"},
		{Name: "fields.#.max-past", Unsupported: "is not available in this version"},
		{Name: "fields.#.var-len", Unsupported: "is not available in this version"},
		{Name: "scan.parallelism", Kind: spi.IntOption, Help: "Number of readers"},
	}
}

func (connector) CheckSource(t *spi.Table) (spi.SourceTraits, error) {
	p, err := newPlan(t)
	if err != nil {
		return spi.SourceTraits{}, err
	}
	n, err := spi.Parallelism(t.Options, "scan.parallelism")
	return spi.SourceTraits{Native: spi.AppendOnly, Bounded: p.rows >= 0, Parallelism: n}, err
}

func (connector) CheckSink(*spi.Table) (spi.SinkTraits, error) {
	return spi.SinkTraits{}, fmt.Errorf("connector datagen: %w", spi.ErrNotSink)
}

func (connector) OpenSink(context.Context, spi.SinkSpec) (spi.Sink, error) {
	return nil, fmt.Errorf("connector datagen: %w", spi.ErrNotSink)
}

func (connector) OpenSource(_ context.Context, s spi.Scan) (spi.Source, error) {
	p, err := newPlan(s.Table)
	if err != nil {
		return nil, err
	}
	return newSource(p, s)
}

// plan says how each column of a table is made up.
type plan struct {
	fields []field
	rows   int64 // −1: no end
	rate   int64 // rows per second; 0 without a bound
}

func newPlan(t *spi.Table) (*plan, error) {
	o := t.Options
	p := &plan{rows: -1}
	var err error
	if p.rate, err = o.Int("rows-per-second", 10000); err != nil {
		return nil, err
	}
	p.rate = max(p.rate, 0)
	if _, ok := o["number-of-rows"]; ok {
		if p.rows, err = o.Int("number-of-rows", 0); err != nil {
			return nil, err
		}
		if p.rows < 0 {
			return nil, &spi.OptionError{Name: "number-of-rows", Value: true, Msg: fmt.Sprintf("option 'number-of-rows' must not be negative, got %d", p.rows)}
		}
	}
	if err := checkNames(t); err != nil {
		return nil, err
	}
	for i, c := range t.Columns {
		f, err := newField(o, c, i)
		if err != nil {
			return nil, err
		}
		if n := f.count(); n >= 0 && (p.rows < 0 || n < p.rows) {
			p.rows = n // the shortest sequence ends the table
		}
		p.fields = append(p.fields, f)
	}
	return p, p.checkKey(t)
}

// checkKey refuses a primary key that rows would repeat. What reads the table takes the key at its word, since no event
// takes a row back.
func (p *plan) checkKey(t *spi.Table) error {
	if len(t.PrimaryKey) == 0 || slices.ContainsFunc(t.PrimaryKey, func(i int) bool { return p.fields[i].sequence }) {
		return nil
	}
	name := t.Columns[t.PrimaryKey[0]].Name
	return &spi.OptionError{Name: "connector", Value: true, Msg: fmt.Sprintf("datagen makes up the columns of the PRIMARY KEY at random, so that rows repeat it; set 'fields.%s.kind' = 'sequence', or leave the key out", name)}
}

// checkNames refuses options for columns that the table does not have, and parts that no field has.
func checkNames(t *spi.Table) error {
	known := map[string]bool{"kind": true, "min": true, "max": true, "length": true, "start": true, "end": true}
	for _, name := range t.Options.Names() {
		rest, ok := strings.CutPrefix(name, "fields.")
		if !ok {
			continue
		}
		dot := strings.LastIndexByte(rest, '.')
		if dot < 0 {
			return &spi.OptionError{Name: name, Msg: fmt.Sprintf("unknown option %q; it looks like 'fields.COLUMN.kind'", name)}
		}
		column, part := rest[:dot], rest[dot+1:]
		switch part {
		case "null-rate", "max-past", "var-len":
			return &spi.OptionError{Name: name, Msg: fmt.Sprintf("option %q is not available in this version", name)}
		}
		if !known[part] {
			return &spi.OptionError{Name: name, Msg: fmt.Sprintf("unknown option %q; known are kind, min, max, length, start, end", name)}
		}
		found := false
		for _, c := range t.Columns {
			found = found || c.Name == column
		}
		if !found {
			return &spi.OptionError{Name: name, Msg: fmt.Sprintf("option %q names %q, which is no column of the table", name, column)}
		}
	}
	return nil
}
