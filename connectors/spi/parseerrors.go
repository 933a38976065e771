package spi

// IgnoreParseErrors is the option of formats that makes a connector count and skip the messages that its
// decoder refuses with a *DecodeError. The decoder itself returns the error in any case.
const IgnoreParseErrors = "ignore-parse-errors"

// ParseErrorsOption declares IgnoreParseErrors.
func ParseErrorsOption() Option {
	return Option{Name: IgnoreParseErrors, Kind: BoolOption, Default: "false",
		Help: "whether a message that cannot be decoded is counted and skipped; otherwise it ends the job"}
}

// SkipsErrors reads IgnoreParseErrors from a format's own options.
func SkipsErrors(format Options) (bool, error) { return format.Bool(IgnoreParseErrors, false) }
