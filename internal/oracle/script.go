package oracle

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluicesql/sluice/engine/decimal"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/memconn"
)

// Script is a case that is kept as a text:
//
//	# what it showed
//	run seed=7 shards=2,1 batch=3 epoch-rows=0 durable budget=1048576 checkpoint=1ms trusted empties
//	table t1 (k INT, b STRING) key k
//	t1 0 1 insert ["1","a"]
//	t1 0 2 update ["1","a"] -> ["1",null]
//	t1 0 2 delete ["1",null]
//	sluice view v1: SELECT …
//	sluice query: SELECT …
//	sqlite query: SELECT …
//
// An event names its table, partition and step. Engines in whose words there is no query are not asked.
type Script struct {
	Comment string
	Case    Case
	// References are the queries by the engine's name.
	References map[string]Reference
}

// columnTypes are the types that a script's tables may have.
var columnTypes = []types.Type{
	types.Of(types.Int), types.Of(types.BigInt), types.String(), types.Of(types.Boolean), types.DecimalOf(8, 2),
	types.Of(types.Double), types.Of(types.Date),
}

// For is the case with its reference for an engine; false when the script has none.
func (s *Script) For(engine string) (*Case, bool) {
	c := s.Case
	ref, ok := s.References[engine]
	c.Reference = ref
	return &c, ok
}

// String writes the script.
func (s *Script) String() string {
	var b strings.Builder
	for _, l := range strings.Split(strings.TrimSpace(s.Comment), "\n") {
		b.WriteString("# " + l + "\n")
	}
	c := &s.Case
	var shards []string
	for _, n := range c.Shards {
		shards = append(shards, strconv.Itoa(n))
	}
	fmt.Fprintf(&b, "run seed=%d shards=%s batch=%d epoch-rows=%d", c.Seed, strings.Join(shards, ","), c.Batch, c.EpochRows)
	if c.Durable {
		fmt.Fprintf(&b, " durable budget=%d checkpoint=%s", c.Budget, c.Checkpoint)
	}
	for word, on := range map[string]bool{" trusted": c.Trusted, " empties": c.Empties} {
		if on {
			b.WriteString(word)
		}
	}
	b.WriteByte('\n')
	for _, t := range c.Tables {
		s.writeTable(&b, t)
	}
	writeSQL(&b, "sluice", c.Views, c.Query)
	for _, engine := range []string{"sqlite", "duckdb"} {
		if r, ok := s.References[engine]; ok {
			writeSQL(&b, engine, r.Views, r.Query)
		}
	}
	return b.String()
}

func writeSQL(b *strings.Builder, engine string, views []View, query string) {
	for _, v := range views {
		fmt.Fprintf(b, "%s view %s: %s\n", engine, v.Name, v.Query)
	}
	fmt.Fprintf(b, "%s query: %s\n", engine, query)
}

func (s *Script) writeTable(b *strings.Builder, t Table) {
	var cols, key []string
	for _, c := range t.Columns {
		cols = append(cols, c.Name+" "+c.Type.String())
	}
	for _, k := range t.Key {
		key = append(key, t.Columns[k].Name)
	}
	fmt.Fprintf(b, "table %s (%s)", t.Name, strings.Join(cols, ", "))
	if len(key) > 0 {
		b.WriteString(" key " + strings.Join(key, ","))
	}
	b.WriteByte('\n')
	for p, events := range s.Case.Events[t.Name] {
		for _, e := range events {
			fmt.Fprintf(b, "%s %d %d ", t.Name, p, e.Step)
			switch {
			case e.Before == nil:
				b.WriteString("insert " + rowJSON(t, e.After))
			case e.After == nil:
				b.WriteString("delete " + rowJSON(t, e.Before))
			default:
				b.WriteString("update " + rowJSON(t, e.Before) + " -> " + rowJSON(t, e.After))
			}
			b.WriteByte('\n')
		}
	}
}

func rowJSON(t Table, v []row.Datum) string {
	vals := make([]*string, len(v))
	for i, d := range v {
		if !d.Null {
			s := string(text.Append(nil, t.Columns[i].Type, d, nil))
			vals[i] = &s
		}
	}
	b, err := json.Marshal(vals)
	if err != nil {
		panic(err) // strings marshal
	}
	return string(b)
}

// RunScripts runs the script files that match a pattern, those that have a query for the engine, and returns what
// failed. No file at all is a failure.
func RunScripts(pattern string, e Engine) error {
	files, err := filepath.Glob(pattern)
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no file matches %s", pattern)
	}
	errs := []error{err}
	for _, f := range files {
		if err := runScript(f, e); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f, err))
		}
	}
	return errors.Join(errs...)
}

func runScript(file string, e Engine) error {
	src, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	s, err := ParseScript(string(src))
	if err != nil {
		return err
	}
	if c, ok := s.For(e.Name()); ok {
		return c.Run(e)
	}
	return nil
}

// ParseScript reads a script.
func ParseScript(src string) (*Script, error) {
	s := &Script{Case: Case{Events: map[string][][]memconn.Event{}}, References: map[string]Reference{}}
	for i, line := range strings.Split(src, "\n") {
		if err := s.line(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if s.Case.Query == "" || len(s.Case.Shards) == 0 {
		return nil, fmt.Errorf("a script has a line run and a line sluice query")
	}
	return s, nil
}

func (s *Script) line(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case word == "":
		return nil
	case word == "#":
		s.Comment += rest + "\n"
		return nil
	case word == "run":
		return s.run(strings.Fields(rest))
	case word == "table":
		return s.table(rest)
	case slices.Contains([]string{"sluice", "sqlite", "duckdb"}, word):
		return s.sql(word, rest)
	}
	i := slices.IndexFunc(s.Case.Tables, func(t Table) bool { return t.Name == word })
	if i < 0 {
		return fmt.Errorf("no table %q", word)
	}
	return s.event(s.Case.Tables[i], rest)
}

func (s *Script) run(words []string) (err error) {
	c := &s.Case
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "seed":
			c.Seed, err = strconv.ParseUint(value, 10, 64)
		case "shards":
			for _, n := range strings.Split(value, ",") {
				k, kerr := strconv.Atoi(n)
				c.Shards, err = append(c.Shards, k), kerr
			}
		case "batch":
			c.Batch, err = strconv.Atoi(value)
		case "epoch-rows":
			c.EpochRows, err = strconv.Atoi(value)
		case "budget":
			c.Budget, err = strconv.ParseInt(value, 10, 64)
		case "checkpoint":
			c.Checkpoint, err = time.ParseDuration(value)
		case "durable":
			c.Durable = true
		case "trusted":
			c.Trusted = true
		case "empties":
			c.Empties = true
		default:
			err = fmt.Errorf("unknown word %q", w)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Script) table(rest string) error {
	t := Table{}
	name, rest, _ := strings.Cut(rest, " (")
	cols, key, keyed := strings.Cut(rest, ") key ")
	t.Name = name
	if !keyed {
		cols = strings.TrimSuffix(cols, ")")
	}
	// A comma also stands within DECIMAL(8, 2).
	for _, c := range strings.Split(strings.ReplaceAll(cols, "(8, 2)", "(8; 2)"), ", ") {
		name, typ, _ := strings.Cut(strings.ReplaceAll(c, ";", ","), " ")
		i := slices.IndexFunc(columnTypes, func(t types.Type) bool { return t.String() == typ })
		if i < 0 {
			return fmt.Errorf("no type %q", typ)
		}
		t.Columns = append(t.Columns, Column{name, columnTypes[i]})
	}
	if keyed {
		for _, k := range strings.Split(key, ",") {
			t.Key = append(t.Key, slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == k }))
		}
	}
	s.Case.Tables = append(s.Case.Tables, t)
	return nil
}

func (s *Script) sql(engine, rest string) error {
	head, query, ok := strings.Cut(rest, ": ")
	view, isView := strings.CutPrefix(head, "view ")
	if !ok || !isView && head != "query" {
		return fmt.Errorf("no SQL: %q", rest)
	}
	ref := Reference{s.Case.Views, s.Case.Query}
	if engine != "sluice" {
		ref = s.References[engine]
	}
	if isView {
		ref.Views = append(ref.Views, View{view, query})
	} else {
		ref.Query = query
	}
	if engine == "sluice" {
		s.Case.Views, s.Case.Query = ref.Views, ref.Query
	} else {
		s.References[engine] = ref
	}
	return nil
}

func (s *Script) event(t Table, rest string) error {
	var e memconn.Event
	var part int
	var op string
	if _, err := fmt.Sscan(rest, &part, &e.Step, &op); err != nil {
		return err
	}
	before, after, _ := strings.Cut(rest[strings.Index(rest, op)+len(op)+1:], " -> ")
	if op == "insert" {
		before, after = "", before
	}
	var err error
	if e.Before, err = parseRow(t, before); err != nil {
		return err
	}
	if e.After, err = parseRow(t, after); err != nil {
		return err
	}
	parts := s.Case.Events[t.Name]
	for len(parts) <= part {
		parts = append(parts, nil)
	}
	parts[part] = append(parts[part], e)
	s.Case.Events[t.Name] = parts
	return nil
}

func parseRow(t Table, src string) ([]row.Datum, error) {
	if src == "" {
		return nil, nil
	}
	var vals []*string
	if err := json.Unmarshal([]byte(src), &vals); err != nil {
		return nil, err
	}
	if len(vals) != len(t.Columns) {
		return nil, fmt.Errorf("%s has not %d values", src, len(t.Columns))
	}
	r := make([]row.Datum, len(vals))
	for i, v := range vals {
		if v == nil {
			r[i] = row.NullDatum
			continue
		}
		var err error
		if r[i], err = parseDatum(t.Columns[i].Type, *v); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func parseDatum(t types.Type, s string) (row.Datum, error) {
	switch {
	case t.IsString():
		return row.String(s), nil
	case t.Kind == types.Boolean:
		return row.Bool(s == "TRUE"), nil
	case t.Kind == types.Double:
		f, err := strconv.ParseFloat(s, 64)
		return row.Float(f), err
	case t.Kind == types.Decimal:
		v, err := decimal.Parse([]byte(s), t.Precision, t.Scale, false)
		return v.Datum(t.Precision), err
	case t.Kind == types.Date:
		d, err := time.Parse(time.DateOnly, s)
		return row.Int(d.Unix() / 86400), err
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return row.Int(n), err
}
