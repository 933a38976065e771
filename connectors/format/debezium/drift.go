package debezium

import (
	"fmt"
	"slices"

	"github.com/sluicesql/sluice/connectors/format/jsonrow"
	"github.com/sluicesql/sluice/connectors/format/jsonscan"
	"github.com/sluicesql/sluice/connectors/spi"
)

// drift watches which fields the rows of a stream have, and tells of those that the table does not declare, of columns
// in use that no row has, and of fields that come or go on the way: a column added, dropped or renamed upstream.
//
// It looks at a row only when its layout surprised the scanner, so that rows like the ones before cost nothing.
type drift struct {
	declared []spi.Column
	columns  []jsonrow.Field // those in use
	warn     func(string)
	unknown  func(string)
	misses   int             // of the shape, at the last look
	known    map[string]bool // the fields of the rows so far; true while rows have them
}

// looks is how many surprises are looked at each; of the later ones it is one in lookEvery.
const (
	looks     = 1024
	lookEvery = 256
)

func newDrift(s spi.DecodeSpec, columns []jsonrow.Field) *drift {
	d := &drift{declared: s.Fields, columns: columns, warn: s.Warn, unknown: s.Unknown}
	if s.Fields == nil {
		d.declared = s.Columns
	}
	if d.warn == nil {
		d.warn = func(string) {}
	}
	if d.unknown == nil {
		d.unknown = func(string) {}
	}
	return d
}

// look looks at the row t, scanned with the shape of f, when there may be something new. extra are the names of
// fields that are no columns.
func (w *drift) look(d *Decoder, msg []byte, t *jsonscan.Token, f *jsonrow.Fields, extra func(string) bool) error {
	n := f.Shape().Misses()
	if n == w.misses {
		return nil
	}
	w.misses = n
	if n > looks && n%lookEvery != 0 {
		return nil
	}
	var names []string
	err := d.Members(msg, t, nil, func(name, _ *jsonscan.Token) error {
		if s := string(jsonscan.AppendUnescaped(nil, name.Bytes(msg))); !extra(s) {
			names = append(names, s)
		}
		return nil
	})
	if err != nil {
		return err
	}
	w.compare(names)
	return nil
}

// compare tells what a row of the fields names has new.
func (w *drift) compare(names []string) {
	first := w.known == nil
	if first {
		w.known = map[string]bool{}
	}
	for _, name := range names {
		declared := slices.ContainsFunc(w.declared, func(c spi.Column) bool { return c.Name == name })
		_, old := w.known[name]
		if !declared && !old {
			w.unknown(name)
			if !first {
				w.warn(fmt.Sprintf("the field %q is new, and no column of the table: it is ignored", name))
			}
		}
		w.known[name] = true
	}
	for _, c := range w.columns {
		column := c.Name
		had, was := w.known[column]
		if slices.Contains(names, column) || was && !had {
			continue
		}
		w.known[column] = false
		if was {
			w.warn(fmt.Sprintf("the column %q is no longer among the fields, and reads as NULL", column))
			continue
		}
		msg := fmt.Sprintf("the column %q is not among the fields, and reads as NULL", column)
		if like := jsonrow.NearField(column, names); like != "" {
			msg += fmt.Sprintf("; there is a field %q", like)
		}
		w.warn(msg)
	}
}
