// Package debezium is the format debezium-json: messages are Debezium's change events, bare or with an
// embedded schema, and mean inserts, updates and deletes of rows.
package debezium

import (
	"fmt"
	"slices"

	"github.com/sluicesql/sluice/connectors/format/jsonrow"
	"github.com/sluicesql/sluice/connectors/spi"
)

// Name is the format's identifier in the 'format' options.
const Name = "debezium-json"

// Register adds the format to r.
func Register(r *spi.Registry) { r.AddFormat(Format{}) }

// Format implements spi.Format.
type Format struct{}

// Name implements spi.Format.
func (Format) Name() string { return Name }

// Help implements spi.Format.
func (Format) Help() string {
	return "Debezium's change events in JSON: inserts, updates and deletes"
}

const (
	schemaInclude = "schema-include"
	truncate      = "truncate"
	unavailable   = "unavailable-value"
)

// Options implements spi.Format.
func (Format) Options() []spi.Option {
	return slices.Concat(jsonrow.Options(), jsonrow.DebeziumOptions(), []spi.Option{
		{Name: schemaInclude, Kind: spi.BoolOption,
			Help: "whether messages have the form {schema, payload}; found out for each message when not set; a sink writes a schema only where it is true"},
		{Name: truncate, Kind: spi.EnumOption, Default: truncates[0], Values: truncates,
			Help: "what a TRUNCATE of the source table (op t) does: end the job, or be counted and skipped, or empty the table, whose rows are kept whole for that; the last wants a PRIMARY KEY and a topic of one partition"},
		{Name: unavailable, Kind: spi.EnumOption, Default: fromState, Values: []string{fromState, orNull, keepRows},
			Help: "where the value comes from that an event did not send because PostgreSQL stores it apart (TOAST) and it did not change: the row that the job keeps of the key, and an error where it keeps none; the same, but NULL where it keeps none; or rows that are kept whole for that before anything reads them"},
	})
}

// The values of the option truncate.
const (
	keepTruncated = "ignore"
	clearTable    = "clear"
)

var truncates = []string{"error", keepTruncated, clearTable}

func truncateMode(o spi.Options) (string, error) {
	return o.Enum(truncate, truncates[0], truncates...)
}

// The values of the option unavailable-value.
const (
	fromState = "stored"
	orNull    = "null"
	keepRows  = "keep-rows"
)

// Partial implements spi.PartialFormat.
func (Format) Partial(o spi.Options, prefix string, keyed bool) (*spi.Partial, error) {
	v, err := o.Enum(unavailable, fromState, fromState, orNull, keepRows)
	if err != nil {
		return nil, err
	}
	truncated, err := truncateMode(o)
	if err != nil {
		return nil, err
	}
	if !keyed {
		// A table without a key keeps no row by which a value could be completed, nor any to be taken back.
		switch _, set := o[unavailable]; {
		case set:
			return nil, needsKey(prefix+unavailable, v)
		case truncated == clearTable:
			return nil, needsKey(prefix+truncate, truncated)
		}
		return nil, nil
	}
	p := &spi.Partial{Null: v == orNull, Keep: v == keepRows || truncated == clearTable, Fix: "set REPLICA IDENTITY FULL for the table in PostgreSQL"}
	if truncated == clearTable {
		p.OneOrder = fmt.Sprintf("'%s%s' = '%s'", prefix, truncate, clearTable)
	}
	switch {
	case p.Keep && !p.Null:
		p.Fix += fmt.Sprintf(", or '%s%s' = '%s', which makes the value NULL", prefix, unavailable, orNull)
	case !p.Keep:
		p.Fix += fmt.Sprintf(", or '%s%s' = '%s', which keeps the table's rows, or '%s', which makes the value NULL", prefix, unavailable, keepRows, orNull)
	}
	return p, nil
}

// needsKey is the error of an option that a table without a primary key has.
func needsKey(option, value string) error {
	return &spi.OptionError{Name: option, Msg: fmt.Sprintf("'%s' = '%s' needs a PRIMARY KEY (…) NOT ENFORCED, by which the rows are known", option, value)}
}

// Metadata implements spi.Format.
func (Format) Metadata() []spi.Column {
	cols := make([]spi.Column, len(metadata))
	for i, m := range metadata {
		cols[i] = spi.Column{Name: m.key, Metadata: m.key, Type: m.typ, Virtual: true}
	}
	return cols
}

// Decodes implements spi.Format.
func (Format) Decodes() (native spi.Mode, canUpsert bool) { return spi.Retract, true }

// Encodes implements spi.Format.
func (Format) Encodes() spi.Mode { return spi.Retract }

// NewDecoder implements spi.Format. The decoder is a *Decoder.
func (Format) NewDecoder(s spi.DecodeSpec, o spi.Options) (spi.Decoder, error) {
	if s.Mode != spi.Retract && s.Mode != spi.Upsert {
		return nil, fmt.Errorf("the format %s reads changing tables, no %s streams; use the format json with the columns before, after and op to read the events themselves", Name, s.Mode)
	}
	rules, err := jsonrow.RulesOf(Name, o)
	if err != nil {
		return nil, err
	}
	if err := rules.SetDebezium(o); err != nil {
		return nil, err
	}
	rules.TimeZone = s.TimeZone
	rules.Unavailable = "set REPLICA IDENTITY FULL for the table in PostgreSQL"
	if s.Mode == spi.Upsert {
		rules.Unavailable += fmt.Sprintf(", or '%s.%s' = '%s', which keeps the table's rows before the value is read", Name, unavailable, keepRows)
	}
	include, err := parseInclude(o)
	if err != nil {
		return nil, err
	}
	d, err := newDecoder(s, rules, include)
	if err != nil {
		return nil, err
	}
	truncated, err := truncateMode(o)
	if err != nil {
		return nil, err
	}
	d.ignoreTruncate, d.clear = truncated == keepTruncated, truncated == clearTable && d.upsert
	return d, nil
}

// include says which form messages have.
type include uint8

const (
	detect include = iota
	wrapped
	bare
)

func parseInclude(o spi.Options) (include, error) {
	if _, ok := o[schemaInclude]; !ok {
		return detect, nil
	}
	yes, err := o.Bool(schemaInclude, false)
	if yes {
		return wrapped, err
	}
	return bare, err
}
