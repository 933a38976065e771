package spi

import "fmt"

// Parallelism is the number of readers or writers that option name asks for, or 0 where it is not set.
func Parallelism(o Options, name string) (int, error) {
	n, err := o.Int(name, 0)
	if _, set := o[name]; err == nil && set && (n < 1 || n > 1<<15) {
		err = &OptionError{Name: name, Value: true, Msg: fmt.Sprintf("option %q wants a positive number, got %q", name, o[name])}
	}
	return int(n), err
}
