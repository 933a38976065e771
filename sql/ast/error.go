package ast

import (
	"cmp"
	"strings"

	"github.com/sluicesql/sluice/internal/fault"
)

// Error is a user's mistake at a place, with its remedy. The parser and the
// planner report all mistakes in SQL as *Error or ErrorList.
type Error struct {
	Pos Pos
	// Msg names the offending word and what is wrong, in lower case.
	Msg string
	// Hint is the remedy: a near name, a rewrite. It may be empty.
	Hint string
	// Code names the kind of the mistake, or of the lint. It may be empty.
	Code Code
}

// Coded gives e the code c.
func (e *Error) Coded(c Code) *Error {
	e.Code = c
	return e
}

// Placed is err as a mistake at a place in the text, of the code c unless it has one of its own.
func Placed(at Pos, err error, c Code) *Error {
	msg, own, hint := fault.Split(err)
	return &Error{Pos: at, Msg: msg, Hint: hint, Code: cmp.Or(own, c)}
}

// Fault implements fault.Coded.
func (e *Error) Fault() (Code, string) { return e.Code, e.Hint }

// Error gives one line, file:line:col: message; hint.
func (e *Error) Error() string {
	s := e.Msg
	if p := e.Pos.String(); p != "" {
		s = p + ": " + s
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// ErrorList is several mistakes in the order of the text.
type ErrorList []*Error

// Error gives one line for each mistake.
func (l ErrorList) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find a single *Error.
func (l ErrorList) Unwrap() []error {
	errs := make([]error, len(l))
	for i, e := range l {
		errs[i] = e
	}
	return errs
}

// Err is nil for an empty list, else the list.
func (l ErrorList) Err() error {
	if len(l) == 0 {
		return nil
	}
	return l
}
