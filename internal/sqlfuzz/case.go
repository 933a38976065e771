package sqlfuzz

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/memconn"
	"github.com/sluicesql/sluice/internal/oracle"
)

// generated is a case with the syntax trees that its texts come from.
type generated struct {
	oracle.Case
	views []*cte
	query *query
}

// Values that columns hold. No letter outside of ASCII has two cases: SQLite leaves those alone.
var (
	stringValues = []string{"a", "b", "B", "ab", "", "a%", "7", "日b", " a"}
	dateValues   = []string{"2023-12-31", "2024-02-29", "2024-03-01", "1969-12-31"}
)

// generate makes the case of a seed.
func generate(seed uint64, has Features) *generated {
	g := &generator{rng: rand.New(rand.NewPCG(seed, 1)), has: has}
	c := &generated{Case: oracle.Case{Seed: seed, Events: map[string][][]memconn.Event{}}}
	c.Trusted = g.chance(15)
	o := oracle.HistoryOptions{
		Changes: 8 + g.rng.IntN(25), Partitions: 1 + g.rng.IntN(3), Redeliver: !c.Trusted && g.chance(70), DeleteAll: g.chance(30),
		IntValues: maxValue, Steps: 1 + g.rng.IntN(5),
		Strings: stringValues, Dates: dateValues,
	}
	if g.chance(60) {
		o.IntValues = 4
	}
	if g.chance(20) { // let the job cut
		o.Steps, c.EpochRows = 0, pick(g, 1, 7, 50)
	}
	c.Empties = o.DeleteAll
	for range 1 + g.rng.IntN(3) {
		t := g.table(fmt.Sprintf("t%d", len(c.Tables)+1))
		ho := o
		if g.chance(25) {
			ho.Bag, ho.Redeliver = true, false
		}
		c.Events[t.Name] = oracle.Generate(t, seed, ho)
		if ho.Bag {
			t.Key = nil
		}
		c.Tables = append(c.Tables, t)
		g.tables = append(g.tables, tableRelation(t))
	}
	g.budget = 3
	for range g.rng.IntN(3) {
		v := &cte{g.name("v"), g.query(1, nil, nil)}
		c.views = append(c.views, v)
		g.tables = append(g.tables, relation{v.name, v.q.cols})
	}
	g.budget = 2 + g.rng.IntN(4)
	c.query = g.query(2, nil, nil)
	g.execution(&c.Case)
	return c
}

// execution decides how a case is run.
func (g *generator) execution(c *oracle.Case) {
	c.Shards = []int{pick(g, 1, 2, 4)}
	c.Batch = pick(g, 1, 3, 1024)
	if g.chance(15) {
		c.Durable, c.Budget, c.Checkpoint = true, 1<<20, time.Duration(pick(g, 1, 1000))*time.Millisecond
		for range g.rng.IntN(3) {
			c.Shards = append(c.Shards, pick(g, 1, 2, 3, 4))
		}
	}
}

func (g *generator) table(name string) oracle.Table {
	t := oracle.Table{Name: name, Columns: []oracle.Column{{Name: "k", Type: types.Of(pick(g, types.Int, types.BigInt))}}, Key: []int{0}}
	if g.chance(15) {
		t.Columns[0].Type = pick(g, types.String(), types.DecimalOf(8, 2), types.Of(types.Date))
	}
	for i := range 2 + g.rng.IntN(4) {
		typ := pick(g, types.Of(types.Int), types.Of(types.BigInt), types.Of(types.BigInt), types.String(), types.String(),
			types.Of(types.Boolean), types.DecimalOf(8, 2), types.Of(types.Double), types.Of(types.Date))
		t.Columns = append(t.Columns, oracle.Column{Name: string(rune('b' + i)), Type: typ})
	}
	if g.chance(25) {
		t.Key = append(t.Key, 1)
	}
	return t
}

// write fills in the texts for a second engine.
func (c *generated) write(engine string) *oracle.Case {
	d := sqlite
	if engine == "duckdb" {
		d = duckdb
	}
	oc := c.Case
	oc.Views, oc.Reference = nil, oracle.Reference{}
	for _, v := range c.views {
		oc.Views = append(oc.Views, oracle.View{Name: v.name, Query: v.q.text(sluice)})
		oc.Reference.Views = append(oc.Reference.Views, oracle.View{Name: v.name, Query: v.q.text(d)})
	}
	oc.Query, oc.Reference.Query = c.query.text(sluice), c.query.text(d)
	return &oc
}
