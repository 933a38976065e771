package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/internal/near"
	"github.com/sluicesql/sluice/sql/ast"
)

// optionsHint is the one hint that stands behind a table's name.
const optionsHint = "OPTIONS"

// foreignHints are Flink's hints that have no meaning here, with the reason.
var foreignHints = map[string]string{
	"BROADCAST":     "both sides of a join are kept divided by its key",
	"SHUFFLE_HASH":  "every join by a key is one over hashed shards already",
	"SHUFFLE_MERGE": "no join of changing tables sorts its inputs; every join by a key is one over hashed shards",
	"NEST_LOOP":     "a join without an equality is asked for by CROSS JOIN and WHERE",
	"LOOKUP":        "there are no lookup joins in this version; a plain join follows every change of both sides",
	"MULTI_JOIN":    "adjacent inner joins by one key are one operator without a hint",
}

// refuseHint refuses a hint that cannot be obeyed where it stands.
func refuseHint(h ast.Hint, known ...string) error {
	name := strings.ToUpper(h.Name.Name)
	if why := foreignHints[name]; why != "" {
		return hint(errAt(h.Pos, "the hint %s cannot be obeyed: it is about how Flink runs a join", name), "leave it out: %s", why)
	}
	if name == optionsHint {
		return hint(errAt(h.Pos, "the hint OPTIONS cannot stand here").Coded(ast.CodeMisplaced), "write it right after the name of a table")
	}
	e := notAvailable(h.Pos, "the hint "+h.Name.Name, "")
	if n := near.Name(name, known); n != "" {
		e = hint(e, "did you mean %s?", n)
	}
	return e
}

// hintedTable is t with the options that hints behind its name give it, for this reference alone. References with the
// same options are to the same table, so that it is read once.
func (b *binder) hintedTable(t *Table, hints []ast.Hint) (*Table, error) {
	var given []ast.Option
	for _, h := range hints {
		if !strings.EqualFold(h.Name.Name, optionsHint) {
			return nil, refuseHint(h, optionsHint)
		}
		if len(h.Args) == 0 {
			return nil, hint(errAt(h.Pos, "the hint OPTIONS names no option"), "write OPTIONS('key' = 'value', …)")
		}
		for _, a := range h.Args {
			if !a.HasValue {
				return nil, hint(errAt(a.Pos, "the option %q of the hint has no value", a.Key), "write '%s' = 'value'", a.Key)
			}
			if slices.ContainsFunc(given, func(o ast.Option) bool { return o.Key == a.Key }) {
				return nil, errAt(a.Pos, "the hint gives the option %q twice", a.Key).Coded(ast.CodeDuplicateName)
			}
			given = append(given, ast.Option{Key: a.Key, KeyPos: a.Pos, Value: a.Value, ValuePos: a.ValuePos})
		}
	}
	if len(given) == 0 {
		return t, nil
	}
	key := hintedKey{table: t, options: optionsText(given)}
	if known := b.hinted[key]; known != nil {
		return known, nil
	}
	ct := *t.stmt
	ct.Options = slices.Clone(given)
	for _, o := range t.stmt.Options {
		if !slices.ContainsFunc(given, func(g ast.Option) bool { return g.Key == o.Key }) {
			ct.Options = append(ct.Options, o)
		}
	}
	out, err := b.s.bindTable(t.Name, &ct)
	if err != nil {
		return nil, err
	}
	if b.hinted == nil {
		b.hinted = map[hintedKey]*Table{}
	}
	b.hinted[key] = out
	return out, nil
}

// hintedKey tells tables with hinted options apart.
type hintedKey struct {
	table   *Table
	options string
}

func optionsText(options []ast.Option) string {
	var parts []string
	for _, o := range options {
		parts = append(parts, fmt.Sprintf("%q=%q", o.Key, o.Value))
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

// noHints refuses hints behind the name of something that is no table.
func noHints(hints []ast.Hint, what string) error {
	if len(hints) == 0 {
		return nil
	}
	if h := hints[0]; !strings.EqualFold(h.Name.Name, optionsHint) {
		return refuseHint(h, optionsHint)
	}
	return hint(errAt(hints[0].Pos, "the hint OPTIONS cannot stand behind %s, which has no options", what), "write it behind the tables in its query")
}
