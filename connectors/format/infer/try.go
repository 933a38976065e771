package infer

import (
	"errors"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
)

// try decodes messages and returns how many fail for a value of the given column, and the first such error. Other
// failures, which concern the whole message or a value that was not sent, are not the column's.
func try(format spi.Format, spec spi.DecodeSpec, o spi.Options, messages []spi.Message, column string) (failed int, first, err error) {
	d, err := format.NewDecoder(spec, o)
	if err != nil {
		return 0, nil, err
	}
	out := spi.NewOut(spec.Columns)
	out.Batch = &changelog.Batch{}
	for _, m := range messages {
		out.Batch.Reset()
		err := d.Decode(m, out)
		var e *spi.DecodeError
		if !errors.As(err, &e) || e.Reason == unsent || !ofColumn(e.Field, column) {
			continue
		}
		failed++
		if first == nil {
			first = e
		}
	}
	return failed, first, nil
}

// unsent is the reason that decoders give for Debezium's placeholder.
const unsent = "unavailable"

// ofColumn reports whether a decoder's path of a field is within the column.
func ofColumn(path, column string) bool {
	for _, prefix := range []string{"before.", "after.", "payload.before.", "payload.after.", "payload.", "(message key).", ""} {
		if rest, ok := cutPath(path, prefix); ok && (rest == column || len(rest) > len(column) && rest[:len(column)] == column && (rest[len(column)] == '.' || rest[len(column)] == '[')) {
			return true
		}
	}
	return false
}

func cutPath(path, prefix string) (string, bool) {
	if len(path) < len(prefix) || path[:len(prefix)] != prefix {
		return "", false
	}
	return path[len(prefix):], true
}
