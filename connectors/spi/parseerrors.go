package spi

// IgnoreParseErrors is the option of formats that makes a connector count and skip the messages that its
// decoder refuses with a *DecodeError. The decoder itself returns the error in any case.
const IgnoreParseErrors = "ignore-parse-errors"

// SkipsErrors reads IgnoreParseErrors from a format's own options.
func SkipsErrors(format Options) (bool, error) { return format.Bool(IgnoreParseErrors, false) }
