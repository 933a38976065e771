package spi

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/sluicesql/sluice/internal/fault"
)

// OptionKind is the type of an option's value.
type OptionKind uint8

// The kinds of options.
const (
	StringOption OptionKind = iota
	IntOption
	BoolOption
	DurationOption // Flink's form: "5 min", "100ms", "1 s"
	EnumOption
	MemoryOption // Flink's form: "256 mb"
)

// Option declares one option: the single source for checking, documentation and completion.
type Option struct {
	// Name is the key; a trailing ".*" declares a family, "fields.#.kind" has # for a column's name.
	Name    string
	Kind    OptionKind
	Default string   // shown and used when not set; empty for none
	Values  []string // of an EnumOption
	// Unlisted are further values of an EnumOption that documentation leaves out: other spellings, accepted with a
	// hint at the right one, and values that are refused with a reason of their own.
	Unlisted []string
	// Required says that a table without it is refused.
	Required bool
	// Secret values never appear in logs, EXPLAIN or errors. Names for which secret.Named holds need not say so.
	Secret bool
	// Unsupported says why a known name is refused; empty for options that work.
	Unsupported string
	Help        string
}

// Options are an option list as written, by name.
type Options map[string]string

// OptionError blames one option; the planner adds its place in the SQL text.
type OptionError struct {
	Name string // the option's key
	// Value says that the value is wrong rather than the key.
	Value bool
	Msg   string
}

func (e *OptionError) Error() string { return e.Msg }

// Fault implements fault.Coded.
func (e *OptionError) Fault() (fault.Code, string) {
	if e.Value {
		return fault.OptionValue, ""
	}
	return fault.Option, ""
}

// Note is what an author should know of an option that works.
type Note struct {
	Option string
	// Value says that it concerns the value rather than the key.
	Value bool
	// Spelling says that there is a better spelling, which Msg names; otherwise the option has no effect, or not the one
	// that its name promises, and Msg says why.
	Spelling bool
	Msg      string
}

// ColumnError blames the declaration of one column of a table; the planner adds its place in the SQL text.
type ColumnError struct {
	Column string
	Msg    string
}

func (e *ColumnError) Error() string { return fmt.Sprintf("column %q: %s", e.Column, e.Msg) }

// Get is the value of name, or def.
func (o Options) Get(name, def string) string {
	if v, ok := o[name]; ok {
		return v
	}
	return def
}

// Int is the integer value of name, or def.
func (o Options) Int(name string, def int64) (int64, error) {
	v, ok := o[name]
	if !ok {
		return def, nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
	if err != nil {
		return 0, &OptionError{name, true, fmt.Sprintf("option %q wants an integer, got %q", name, v)}
	}
	return n, nil
}

// Bool is the boolean value of name, or def.
func (o Options) Bool(name string, def bool) (bool, error) {
	v, ok := o[name]
	if !ok {
		return def, nil
	}
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, &OptionError{name, true, fmt.Sprintf("option %q wants true or false, got %q", name, v)}
}

// Duration is the duration of name, or def.
func (o Options) Duration(name string, def time.Duration) (time.Duration, error) {
	v, ok := o[name]
	if !ok {
		return def, nil
	}
	d, err := ParseDuration(v)
	if err != nil {
		return 0, &OptionError{name, true, fmt.Sprintf("option %q: %v", name, err)}
	}
	return d, nil
}

// Enum is the value of name in lower case, checked against values, or def.
func (o Options) Enum(name, def string, values ...string) (string, error) {
	v, ok := o[name]
	if !ok {
		return def, nil
	}
	for _, w := range values {
		if strings.EqualFold(v, w) {
			return w, nil
		}
	}
	return "", &OptionError{name, true, fmt.Sprintf("option %q wants one of %s, got %q", name, strings.Join(values, ", "), v)}
}

// Names are the keys in order.
func (o Options) Names() []string {
	n := make([]string, 0, len(o))
	for k := range o {
		n = append(n, k)
	}
	sort.Strings(n)
	return n
}
