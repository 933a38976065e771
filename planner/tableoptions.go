package planner

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/near"
	"github.com/sluicesql/sluice/sql/ast"
)

// formatKeys are the options that name a format, with the prefix that goes before the format's name in the
// names of its own options.
var formatKeys = []struct{ key, prefix string }{
	{"format", ""},
	{"key.format", "key."},
	{"value.format", "value."},
}

// bindTableOptions checks the WITH clause of t against the declarations of its connector and its formats.
func (s *Session) bindTableOptions(t *Table, ct *ast.CreateTable) error {
	t.options, t.secret = map[string]ast.Option{}, map[string]bool{}
	for _, o := range ct.Options {
		t.options[o.Key] = o
		t.Spec.Options[o.Key] = o.Value
	}
	co, ok := t.options["connector"]
	if !ok {
		return hint(errAt(ct.Name.Base().Pos, "table %q has no option 'connector'", t.Name).Coded(ast.CodeMissingOption),
			"known connectors: %s", strings.Join(s.registry.Connectors(), ", "))
	}
	t.Connector = s.registry.Connector(co.Value)
	if t.Connector == nil {
		return suggest(errAt(co.ValuePos, "unknown connector %q", co.Value).Coded(ast.CodeUnknownConnector), co.Value, s.registry.Connectors(), "connectors")
	}
	decl := withConnectorOption(t.Connector.Options())
	formats, err := s.tableFormats(t, decl)
	if err != nil {
		return err
	}
	decl = append(decl, formats...)
	for _, o := range ct.Options {
		if err := t.checkOption(decl, o); err != nil {
			return err
		}
	}
	for i := range decl {
		d := &decl[i]
		if _, ok := t.options[d.Name]; !ok && d.Required && d.Default == "" {
			return hint(errAt(ct.Name.Base().Pos, "table %q: connector %s needs the option '%s'", t.Name, t.Connector.Name(), d.Name).Coded(ast.CodeMissingOption), "%s", d.Help)
		}
	}
	return nil
}

func withConnectorOption(decl []spi.Option) []spi.Option {
	for _, d := range decl {
		if d.Name == "connector" {
			return append([]spi.Option(nil), decl...)
		}
	}
	return append([]spi.Option{{Name: "connector"}}, decl...)
}

// otherFormats are formats of Flink's that nothing reads or writes yet.
var otherFormats = []string{"avro", "avro-confluent", "canal-json", "debezium-avro-confluent", "debezium-protobuf-confluent", "maxwell-json", "ogg-json", "orc", "parquet", "protobuf", "protobuf-confluent"}

// tableFormats are the declarations of the options of the formats that t names, with their prefixes.
func (s *Session) tableFormats(t *Table, decl []spi.Option) ([]spi.Option, error) {
	var out []spi.Option
	for _, fk := range formatKeys {
		o, ok := t.options[fk.key]
		if !ok || findOption(decl, fk.key) == nil {
			continue
		}
		f := s.registry.Format(o.Value)
		if f == nil && slices.Contains(otherFormats, o.Value) {
			return nil, hint(errAt(o.ValuePos, "the format %q is not supported yet", o.Value).Coded(ast.CodeUnknownConnector), "known formats: %s", strings.Join(s.registry.Formats(), ", "))
		}
		if f == nil {
			return nil, suggest(errAt(o.ValuePos, "unknown format %q", o.Value).Coded(ast.CodeUnknownConnector), o.Value, s.registry.Formats(), "formats")
		}
		for _, d := range f.Options() {
			d.Name = fk.prefix + f.Name() + "." + d.Name
			out = append(out, d)
		}
	}
	return out, nil
}

// checkOption checks one option as written.
func (t *Table) checkOption(decl []spi.Option, o ast.Option) error {
	d := findOption(decl, o.Key)
	if d == nil {
		if e := t.formatOptionWithoutFormat(o); e != nil {
			return e
		}
		known := make([]string, 0, len(decl))
		for i := range decl {
			known = append(known, decl[i].Name)
		}
		e := errAt(o.KeyPos, "unknown option %q for connector %s", o.Key, t.Connector.Name()).Coded(ast.CodeUnknownOption)
		if n := near.Name(o.Key, known); n != "" {
			return hint(e, "did you mean %q?", n)
		}
		return hint(e, "known options: %s", strings.Join(known, ", "))
	}
	t.secret[o.Key] = d.Secret
	if d.Unsupported != "" {
		return errAt(o.KeyPos, "the option %q of connector %s is not supported: %s", o.Key, t.Connector.Name(), d.Unsupported).Coded(ast.CodeUnsupported)
	}
	if col, ok := familyColumn(d.Name, o.Key); ok && t.columnIndex(col) < 0 {
		return suggest(errAt(o.KeyPos, "the option %q names the unknown column %q", o.Key, col).Coded(ast.CodeUnknownColumn), col, t.columnNames(), "columns")
	}
	if err := checkValue(d, o.Key, o.Value); err != nil {
		return placeOption(err, o.KeyPos, o.ValuePos)
	}
	return nil
}

// formatOptionWithoutFormat explains an option of a format that the table doesn't name.
func (t *Table) formatOptionWithoutFormat(o ast.Option) error {
	for _, fk := range formatKeys {
		rest, ok := strings.CutPrefix(o.Key, fk.prefix)
		if !ok {
			continue
		}
		for _, other := range formatKeys {
			f, ok := t.options[other.key]
			if !ok || other.prefix == fk.prefix || !strings.HasPrefix(rest, f.Value+".") {
				continue
			}
			return hint(errAt(o.KeyPos, "the option %q belongs to no format of the table", o.Key).Coded(ast.CodeUnknownOption),
				"the format is named by '%s', so write '%s'", other.key, other.prefix+rest)
		}
	}
	return nil
}

// findOption finds the declaration of a key: by name, or by a family ("properties.*", "fields.#.kind").
func findOption(decl []spi.Option, key string) *spi.Option {
	for i := range decl {
		if decl[i].Name == key {
			return &decl[i]
		}
	}
	for i := range decl {
		name := decl[i].Name
		if p, ok := strings.CutSuffix(name, ".*"); ok {
			if strings.HasPrefix(key, p+".") && len(key) > len(p)+1 {
				return &decl[i]
			}
		} else if _, ok := familyColumn(name, key); ok {
			return &decl[i]
		}
	}
	return nil
}

// familyColumn is the column that a key of the family "fields.#.kind" names.
func familyColumn(family, key string) (string, bool) {
	before, after, ok := strings.Cut(family, "#")
	if !ok || len(key) <= len(before)+len(after) || !strings.HasPrefix(key, before) || !strings.HasSuffix(key, after) {
		return "", false
	}
	return key[len(before) : len(key)-len(after)], true
}

// connectorError gives an error of the connector's its place: that of the option it blames, or ref.
func (t *Table) connectorError(err error, ref ast.Pos) error {
	if oe, ok := errors.AsType[*spi.OptionError](err); ok {
		if o, ok := t.options[oe.Name]; ok {
			return placeOption(err, o.KeyPos, o.ValuePos)
		}
		// The option was not written: the table as a whole lacks it.
		return &ast.Error{Pos: t.stmt.Name.Base().Pos, Msg: fmt.Sprintf("table %q: %s", t.Name, oe.Msg), Code: ast.CodeMissingOption}
	}
	if ce, ok := errors.AsType[*spi.ColumnError](err); ok {
		return &ast.Error{Pos: t.astColumn(ce.Column).Name.Pos, Msg: err.Error(), Code: ast.CodeColumn}
	}
	return &ast.Error{Pos: ref, Msg: fmt.Sprintf("table %q: %s", t.Name, err), Code: ast.CodeInvalid}
}
