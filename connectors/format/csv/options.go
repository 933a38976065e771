package csv

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluicesql/sluice/connectors/spi"
)

const (
	fieldDelimiter   = "field-delimiter"
	disableQuote     = "disable-quote-character"
	quoteCharacter   = "quote-character"
	allowComments    = "allow-comments"
	elementDelimiter = "array-element-delimiter"
	escapeCharacter  = "escape-character"
	nullLiteral      = "null-literal"
	scientific       = "write-bigdecimal-in-scientific-notation"
)

// Options implements spi.Format, with Flink's names and defaults. (Flink's documentation, "CSV Format".)
func (Format) Options() []spi.Option {
	return []spi.Option{
		{Name: fieldDelimiter, Kind: spi.StringOption, Default: ",",
			Help: `the character between fields; \t is a tab`},
		{Name: disableQuote, Kind: spi.BoolOption, Default: "false",
			Help: "whether no character quotes fields; quote-character must not be set then"},
		{Name: quoteCharacter, Kind: spi.StringOption, Default: `"`,
			Help: "the character around fields that hold a delimiter, a quote or a line break; twice, it stands for itself"},
		{Name: allowComments, Kind: spi.BoolOption, Default: "false",
			Help: "whether lines that begin with # are passed over"},
		spi.ParseErrorsOption(),
		{Name: elementDelimiter, Kind: spi.StringOption, Default: ";",
			Help: "the characters between the elements of an ARRAY and the fields of a ROW"},
		{Name: escapeCharacter, Kind: spi.StringOption,
			Help: "the character that takes the meaning of the one after it; none when not set"},
		{Name: nullLiteral, Kind: spi.StringOption,
			Help: "the text of NULL, where it is not quoted; when not set, an empty field is NULL in all types but STRING, where it is the empty string, and ARRAY, where it is the empty array if it is quoted"},
		{Name: scientific, Kind: spi.BoolOption, Default: "true",
			Help: "whether a DECIMAL is written without the zeros at its end, 1E+5 for 100000; otherwise with all its digits"},
	}
}

// syntax is how records look.
type syntax struct {
	field      byte
	quote      byte // 0 is none
	escape     byte // 0 is none
	comments   bool
	element    string
	null       string
	hasNull    bool
	scientific bool
}

func syntaxOf(o spi.Options) (s syntax, err error) {
	if s.field, err = character(o, fieldDelimiter, ","); err != nil {
		return s, err
	}
	if s.escape, err = character(o, escapeCharacter, ""); err != nil {
		return s, err
	}
	unquoted, err := o.Bool(disableQuote, false)
	if err != nil {
		return s, err
	}
	if !unquoted {
		if s.quote, err = character(o, quoteCharacter, `"`); err != nil {
			return s, err
		}
	} else if _, set := o[quoteCharacter]; set {
		return s, &spi.OptionError{Name: quoteCharacter, Msg: fmt.Sprintf("option %q excludes %q = true", quoteCharacter, disableQuote)}
	}
	if s.comments, err = o.Bool(allowComments, false); err != nil {
		return s, err
	}
	if s.scientific, err = o.Bool(scientific, true); err != nil {
		return s, err
	}
	if s.element = o.Get(elementDelimiter, ";"); s.element == "" {
		return s, &spi.OptionError{Name: elementDelimiter, Value: true, Msg: fmt.Sprintf("option %q is empty", elementDelimiter)}
	}
	s.null, s.hasNull = o[nullLiteral]
	if strings.ContainsAny(s.null, "\r\n"+string([]byte{s.field, s.quote, s.escape})) || strings.Contains(s.null, s.element) {
		return s, &spi.OptionError{Name: nullLiteral, Value: true, Msg: fmt.Sprintf("option %q holds a delimiter, the quote or escape character, or a line break: %q", nullLiteral, s.null)}
	}
	if _, err := spi.SkipsErrors(o); err != nil {
		return s, err
	}
	for _, c := range []struct {
		a, b         byte
		name, second string
	}{{s.quote, s.field, quoteCharacter, fieldDelimiter}, {s.escape, s.field, escapeCharacter, fieldDelimiter}, {s.escape, s.quote, escapeCharacter, quoteCharacter}} {
		if c.a != 0 && c.a == c.b {
			return s, &spi.OptionError{Name: c.name, Value: true, Msg: fmt.Sprintf("options %q and %q name the same character %q", c.name, c.second, c.a)}
		}
	}
	return s, nil
}

// character is the one character that an option names, as it is or as an escape such as \t; 0 for none.
func character(o spi.Options, name, def string) (byte, error) {
	v, set := o[name]
	if !set {
		v = def
	}
	if v == "" && !set {
		return 0, nil
	}
	c := v
	if strings.HasPrefix(v, `\`) && len(v) > 1 {
		if u, err := strconv.Unquote(`"` + v + `"`); err == nil {
			c = u
		}
	}
	if len(c) != 1 || c[0] >= utf8.RuneSelf || c == "\n" || c == "\r" || c == "\x00" || c[0]-'0' <= 9 || c[0]|0x20 >= 'a' && c[0]|0x20 <= 'z' {
		return 0, &spi.OptionError{Name: name, Value: true, Msg: fmt.Sprintf(`option %q wants one ASCII character, or an escape such as \t or \u0001, that is no letter, digit or line break; got %q`, name, v)}
	}
	return c[0], nil
}
