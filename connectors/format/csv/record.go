package csv

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/fault"
)

// field is a field of a record.
type field struct {
	text   []byte // without quotes and escapes
	at     int    // where it begins in the message
	quoted bool
}

// record takes messages apart. One goroutine uses it.
type record struct {
	syntax
	fields []field
	// memory holds texts that are not part of the message as they are.
	memory []byte
}

// split reads the fields of the one record of a message. They are valid until the next call. No fields are a
// message of nothing but comments and empty lines.
func (r *record) split(msg []byte) error {
	r.fields, r.memory = r.fields[:0], r.memory[:0]
	if !utf8.Valid(msg) {
		return malformed(invalidAt(msg), "invalid UTF-8")
	}
	i := r.nextLine(msg, 0)
	if i == len(msg) {
		return nil
	}
	for {
		f, end, err := r.field(msg, i)
		if err != nil {
			return err
		}
		r.fields = append(r.fields, f)
		if end < len(msg) && msg[end] == r.syntax.field {
			i = end + 1
			continue
		}
		if rest := r.nextLine(msg, end); rest < len(msg) {
			return malformed(rest, "a second record: a message is one")
		}
		return nil
	}
}

// nextLine passes over line breaks and comments from i on, which is the beginning or the end of a line.
func (r *record) nextLine(msg []byte, i int) int {
	for i < len(msg) {
		switch c := msg[i]; {
		case c == '\n' || c == '\r':
			i++
		case c == '#' && r.comments && (i == 0 || msg[i-1] == '\n' || msg[i-1] == '\r'):
			n := bytes.IndexAny(msg[i:], "\r\n")
			if n < 0 {
				return len(msg)
			}
			i += n
		default:
			return i
		}
	}
	return i
}

// field reads the field at i and returns it with the place after it.
func (r *record) field(msg []byte, i int) (field, int, error) {
	f := field{at: i}
	if r.quote != 0 && i < len(msg) && msg[i] == r.quote {
		return r.quoted(msg, i)
	}
	from := i
	for ; i < len(msg); i++ {
		switch c := msg[i]; {
		case c == r.syntax.field || c == '\n' || c == '\r':
			f.text = msg[from:i:i]
			return f, i, nil
		case c == r.escape && c != 0:
			return r.escaped(msg, from, i)
		}
	}
	f.text = msg[from:i:i]
	return f, i, nil
}

// escaped reads on at the escape character at i in the field that begins at from.
func (r *record) escaped(msg []byte, from, i int) (field, int, error) {
	start := len(r.memory)
	r.memory = append(r.memory, msg[from:i]...)
	for i < len(msg) && msg[i] != r.syntax.field && msg[i] != '\n' && msg[i] != '\r' {
		n, err := r.char(msg, i)
		if err != nil {
			return field{}, 0, err
		}
		i += n
	}
	return field{text: r.memory[start:len(r.memory):len(r.memory)], at: from}, i, nil
}

// quoted reads the field whose opening quote is at i.
func (r *record) quoted(msg []byte, i int) (field, int, error) {
	f := field{at: i, quoted: true}
	from := i
	i++
	// Most have neither quotes nor escapes within.
	if n := bytes.IndexByte(msg[i:], r.quote); n >= 0 && (i+n+1 == len(msg) || msg[i+n+1] != r.quote) && (r.escape == 0 || bytes.IndexByte(msg[i:i+n], r.escape) < 0) {
		f.text = msg[i : i+n : i+n]
		return f, i + n + 1, r.ends(msg, i+n+1)
	}
	start := len(r.memory)
	for i < len(msg) {
		if msg[i] != r.quote {
			n, err := r.char(msg, i)
			if err != nil {
				return f, 0, err
			}
			i += n
			continue
		}
		if i+1 < len(msg) && msg[i+1] == r.quote {
			r.memory = append(r.memory, r.quote)
			i += 2
			continue
		}
		f.text = r.memory[start:len(r.memory):len(r.memory)]
		return f, i + 1, r.ends(msg, i+1)
	}
	return f, 0, malformed(from, "a quoted field without end")
}

// char adds the character at i, or what the escape at i stands for, and returns its length in the message.
func (r *record) char(msg []byte, i int) (int, error) {
	c := msg[i]
	if c != r.escape || c == 0 {
		r.memory = append(r.memory, c)
		return 1, nil
	}
	if i+1 == len(msg) {
		return 0, malformed(i, "an escape character at the end")
	}
	c = msg[i+1]
	switch c {
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	}
	r.memory = append(r.memory, c)
	return 2, nil
}

// ends checks that a quoted field ends where its closing quote does.
func (r *record) ends(msg []byte, i int) error {
	if i == len(msg) || msg[i] == r.syntax.field || msg[i] == '\n' || msg[i] == '\r' {
		return nil
	}
	return malformed(i, fmt.Sprintf("%q after the quote that ends a field", msg[i]))
}

// isNull reports whether the field f is NULL: the literal, or what is empty in another type than a string's.
func (r *record) isNull(f field, isString bool) bool {
	if r.hasNull {
		return !f.quoted && string(f.text) == r.null
	}
	return len(f.text) == 0 && !isString
}

func malformed(at int, what string) error {
	return &spi.DecodeError{Offset: at, Code: fault.MessageSyntax, Msg: "the message is no record of separated values: " + what, Fix: skipFix}
}

const skipFix = "correct the producer or the options of the format, or skip such messages with '" + Name + "." + spi.IgnoreParseErrors + "' = 'true'"

func invalidAt(msg []byte) int {
	for i := 0; i < len(msg); {
		r, n := utf8.DecodeRune(msg[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(msg)
}
