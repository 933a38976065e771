package planner

import (
	"errors"
	"fmt"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/near"
	"github.com/sluicesql/sluice/internal/secret"
	"github.com/sluicesql/sluice/sql/ast"
)

// checkValue checks that a value has the form that an option's declaration asks for. Values of secret
// options are never repeated in the error.
func checkValue(o *spi.Option, name, value string) error {
	vals := spi.Options{name: value}
	var err error
	switch o.Kind {
	case spi.IntOption:
		_, err = vals.Int(name, 0)
	case spi.BoolOption:
		_, err = vals.Bool(name, false)
	case spi.DurationOption:
		_, err = vals.Duration(name, 0)
	case spi.EnumOption:
		if _, unlisted := vals.Enum(name, "", o.Unlisted...); unlisted != nil {
			_, err = vals.Enum(name, "", o.Values...)
			if meant := near.Name(value, o.Values); err != nil && meant != "" {
				err = &spi.OptionError{Name: name, Value: true, Msg: fmt.Sprintf("%s; did you mean %q?", err, meant)}
			}
		}
	case spi.MemoryOption:
		if _, merr := spi.ParseMemory(value); merr != nil {
			err = &spi.OptionError{Name: name, Value: true, Msg: fmt.Sprintf("option %q: %v", name, merr)}
		}
	}
	if err != nil && (o.Secret || secret.InValue(name, value) != nil) {
		return &spi.OptionError{Name: name, Value: true, Msg: fmt.Sprintf("the value of option %q has a wrong form", name)}
	}
	return err
}

// placeOption gives an error the place of the option that it blames. Errors that blame none stay at the
// key's place.
func placeOption(err error, key, value ast.Pos) *ast.Error {
	if placed, ok := errors.AsType[*ast.Error](err); ok {
		return placed
	}
	if oe, ok := errors.AsType[*spi.OptionError](err); ok && oe.Value {
		return &ast.Error{Pos: value, Msg: oe.Msg, Code: ast.CodeOptionValue}
	}
	return &ast.Error{Pos: key, Msg: err.Error(), Code: ast.CodeOption}
}
