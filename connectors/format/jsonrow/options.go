package jsonrow

import (
	"fmt"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/text"
)

// Options declares the options that every JSON format has, with Flink's names and defaults, without the
// format's prefix. (Flink's documentation, "JSON Format" and "Debezium Format".)
func Options() []spi.Option {
	return []spi.Option{
		{Name: "fail-on-missing-field", Kind: spi.BoolOption, Default: "false",
			Help: "whether a column that a message has no field for is an error; otherwise it is NULL"},
		spi.ParseErrorsOption(),
		{Name: "timestamp-format.standard", Kind: spi.EnumOption, Values: []string{"SQL", "ISO-8601"},
			Help: "SQL (2024-02-29 12:34:56.789) or ISO-8601 (2024-02-29T12:34:56.789); when not set, both are read and SQL is written"},
		{Name: "map-null-key.mode", Kind: spi.EnumOption, Default: "FAIL", Values: []string{"FAIL", "DROP", "LITERAL"},
			Help: "what writing a MAP with a NULL key does: fail, drop the entry, or write map-null-key.literal"},
		{Name: "map-null-key.literal", Kind: spi.StringOption, Default: "null",
			Help: "the key written for a NULL key"},
		{Name: "encode.decimal-as-plain-number", Kind: spi.BoolOption, Default: "false",
			Help: "whether DECIMAL is never written with an exponent (0.00000001 rather than 1E-8)"},
		{Name: "encode.ignore-null-fields", Kind: spi.BoolOption, Default: "false",
			Help: "whether NULL columns are left out of the messages written"},
	}
}

// RulesOf are the rules of reading that o asks of the format of the given name.
func RulesOf(format string, o spi.Options) (r Rules, err error) {
	r.Format = format
	if r.FailOnMissing, err = o.Bool("fail-on-missing-field", false); err != nil {
		return r, err
	}
	ignore, err := spi.SkipsErrors(o)
	if err != nil {
		return r, err
	}
	if ignore && r.FailOnMissing {
		return r, &spi.OptionError{Name: "fail-on-missing-field",
			Msg: fmt.Sprintf("options %q and %q cannot both be true", "fail-on-missing-field", spi.IgnoreParseErrors)}
	}
	standard, err := o.Enum("timestamp-format.standard", "", "SQL", "ISO-8601")
	switch standard {
	case "SQL":
		r.Layout = text.SQLLayout
	case "ISO-8601":
		r.Layout = text.ISOLayout
	}
	return r, err
}

// StyleOf is the style of writing that o asks of the format of the given name.
func StyleOf(format string, o spi.Options) (s Style, err error) {
	s.Format = format
	standard, err := o.Enum("timestamp-format.standard", "SQL", "SQL", "ISO-8601")
	if err != nil {
		return s, err
	}
	s.ISO = standard == "ISO-8601"
	if s.PlainDecimals, err = o.Bool("encode.decimal-as-plain-number", false); err != nil {
		return s, err
	}
	if s.OmitNulls, err = o.Bool("encode.ignore-null-fields", false); err != nil {
		return s, err
	}
	mode, err := o.Enum("map-null-key.mode", "FAIL", "FAIL", "DROP", "LITERAL")
	switch mode {
	case "DROP":
		s.NullKeys = DropNullKeys
	case "LITERAL":
		s.NullKeys = NameNullKeys
	}
	s.NullKey = o.Get("map-null-key.literal", "null")
	return s, err
}
