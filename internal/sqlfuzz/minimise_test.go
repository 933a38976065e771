package sqlfuzz

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/memconn"
	"github.com/sluicesql/sluice/internal/oracle"
)

// contrary is an engine that disagrees with every query in which there are all of some words, and does not read others.
type contrary []string

func (contrary) Name() string { return "duckdb" }

func (c contrary) Query(_ []oracle.Content, _ []oracle.View, query string, _ []types.Type) (map[string]int, error) {
	for _, w := range c {
		if !strings.Contains(query, w) {
			return nil, errors.New("not read")
		}
	}
	return map[string]int{"other": 1}, nil
}

// What FROM holds is reduced as all else is: constant rows to one value, an array to one element, joins to what is
// needed.
func TestMinimise(t *testing.T) {
	for _, c := range []struct {
		needed contrary
		want   string
	}{
		{contrary{"VALUES"}, "SELECT 1 AS c FROM (VALUES (3)) AS v (a)"},
		{contrary{"UNNEST"}, "SELECT 1 AS c FROM UNNEST(ARRAY[1]) AS u (e)"},
		{contrary{"VALUES", "'b'"}, "SELECT CAST(NULL AS BIGINT) AS c FROM (VALUES ('b')) AS v (s)"},
		{contrary{"UNNEST", "VALUES"}, "SELECT 1 AS c FROM (VALUES (3)) AS v (a) CROSS JOIN UNNEST(ARRAY[1]) AS u (e)"},
	} {
		g := &generator{rng: rand.New(rand.NewPCG(1, 1))}
		number := func(n string) *expr { return &expr{kind: kindInt, form: literalForm, text: n} }
		word := func(s string) *expr { return &expr{kind: kindString, form: literalForm, text: "'" + s + "'"} }
		values := &from{
			alias: "v", cols: []column{{"a", kindInt, 9}, {"s", kindString, 0}},
			values: [][]*expr{{number("1"), word("a")}, {number("2"), word("b")}, {number("3"), word("c")}},
		}
		array := &expr{form: arrayForms[2], args: []*expr{number("1"), {kind: kindInt, form: columnForm, text: "v.a"}, number("3")}}
		all := &from{join: "CROSS JOIN", l: values, r: &from{unnest: array, alias: "u", cols: []column{{"e", kindInt, 9}}}}
		table := g.table("t")
		gen := &generated{Case: oracle.Case{Tables: []oracle.Table{table}, Events: map[string][][]memconn.Event{"t": {nil}}, Shards: []int{1}, Batch: 1}}
		gen.query = &query{sel: &selection{from: all, items: []item{{&expr{kind: kindInt, form: scalars[0], args: []*expr{{kind: kindInt, form: columnForm, text: "u.e"}, number("1")}}, "c"}}}}
		out, err := gen.run(c.needed)
		if out != Failed {
			t.Fatalf("the case does not fail: %v", err)
		}
		if got := (Result{Outcome: out, Err: err, c: gen, engine: c.needed}).Minimise(500).Case.Query; got != c.want {
			t.Errorf("with what needs %q\ngot  %s\nwant %s", c.needed, got, c.want)
		}
	}
}
