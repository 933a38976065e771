package infer

import (
	"errors"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/internal/fault"
)

// try decodes messages and returns how many fail for a value of the given column, and the first such error. Other
// failures, which concern the whole message or a value that was not sent, are not the column's.
func try(format spi.Format, spec spi.DecodeSpec, o spi.Options, messages []spi.Message, column string) (failed int, first, err error) {
	err = decodeEach(format, spec, o, messages, func(_ *changelog.Batch, err error) {
		var e *spi.DecodeError
		if !errors.As(err, &e) || e.Code == fault.MessageUnavailable || !ofColumn(e.Field, column) {
			return
		}
		failed++
		if first == nil {
			first = e
		}
	})
	return failed, first, err
}

// decodeEach decodes messages, and calls f with what comes of each; its own error is that there is no such decoder.
func decodeEach(format spi.Format, spec spi.DecodeSpec, o spi.Options, messages []spi.Message, f func(*changelog.Batch, error)) error {
	d, err := format.NewDecoder(spec, o)
	if err != nil {
		return err
	}
	out := spi.NewOut(spec.Columns)
	out.Batch = &changelog.Batch{}
	for _, m := range messages {
		out.Batch.Reset()
		err := d.Decode(m, out)
		f(out.Batch, err)
	}
	return nil
}

// oneColumn is spec with one of its columns alone, beside those of the key; at is where it is then.
func oneColumn(spec spi.DecodeSpec, column int) (one spi.DecodeSpec, at int) {
	one = spi.DecodeSpec{Mode: spec.Mode, TimeZone: spec.TimeZone}
	for i, c := range spec.Columns {
		isKey := slices.Contains(spec.Key, i)
		if isKey {
			one.Key = append(one.Key, len(one.Columns))
		}
		if i == column {
			at = len(one.Columns)
		}
		if isKey || i == column {
			one.Columns = append(one.Columns, c)
		}
	}
	return one, at
}

// ofColumn reports whether a decoder's path of a field is within the column.
func ofColumn(path, column string) bool {
	for _, prefix := range []string{"before.", "after.", "payload.before.", "payload.after.", "payload.", "(message key).", ""} {
		rest, ok := strings.CutPrefix(path, prefix)
		if !ok {
			continue
		}
		if within, ok := strings.CutPrefix(rest, column); ok && (within == "" || within[0] == '.' || within[0] == '[') {
			return true
		}
	}
	return false
}
