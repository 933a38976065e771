// Package fault gives errors one form: what is wrong and where, a code by which it is looked up, and what to do. It is a
// leaf that every room may import.
package fault

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// Coded is an error that knows its code and its remedy. Mistakes in SQL are, and messages that cannot be read.
type Coded interface {
	error
	// Fault returns the code, which may be empty, and the remedy, which may be empty and else ends the error's text
	// after "; ".
	Fault() (code Code, hint string)
}

// Error gives a code and a remedy to an error that says what is wrong, and where.
type Error struct {
	Code Code
	Err  error
	// Hint is what to do: a near name, an option, a command. It may be empty.
	Hint string
	// Place is the file:line:column of the SQL at fault, with which Err's text begins; empty for what has no such place.
	Place string
}

// Error gives what is wrong and the remedy.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Err.Error()
	}
	return e.Err.Error() + "; " + e.Hint
}

// Unwrap gives what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// Fault implements Coded.
func (e *Error) Fault() (Code, string) { return e.Code, e.Hint }

// Errorf makes an error of a code, as fmt.Errorf does.
func Errorf(c Code, format string, args ...any) *Error {
	return &Error{Code: c, Err: fmt.Errorf(format, args...)}
}

// Fix adds what to do.
func (e *Error) Fix(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Or gives err the code c unless it has one. A nil err stays nil.
func Or(c Code, err error) error {
	if err == nil || Of(err) != "" {
		return err
	}
	return &Error{Code: c, Err: err}
}

// Of is the code of err: that of the outermost error that has one; empty without any.
func Of(err error) Code {
	c, _ := of(err)
	return c
}

// of finds the outermost code and the outermost remedy.
func of(err error) (c Code, hint string) {
	for {
		e, ok := errors.AsType[Coded](err)
		if !ok {
			return c, hint
		}
		code, fix := e.Fault()
		c, hint = cmp.Or(c, code), cmp.Or(hint, fix)
		err = errors.Unwrap(e)
	}
}

// Place is where in the SQL the fault lies, as file:line:column; empty when it has no such place.
func Place(err error) string {
	for e := (*Error)(nil); errors.As(err, &e); err = e.Err {
		if e.Place != "" {
			return e.Place
		}
	}
	return ""
}

// Split takes err apart: what is wrong and where, in one or more lines; its code; and its remedy, where that ends the text.
// Code and remedy may be empty.
func Split(err error) (msg string, c Code, hint string) {
	msg = err.Error()
	c, hint = of(err)
	rest, ok := strings.CutSuffix(msg, "; "+hint)
	if hint == "" || !ok {
		return msg, c, ""
	}
	return rest, c, hint
}

// Text is err on one line, with its code.
func Text(err error) string {
	msg, c, hint := Split(err)
	if c != "" {
		msg += " [" + string(c) + "]"
	}
	if hint != "" {
		msg += "; " + hint
	}
	return msg
}
