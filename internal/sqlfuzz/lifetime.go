package sqlfuzz

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/memconn"
	"github.com/sluicesql/sluice/internal/oracle"
)

// forgetting makes the case of a seed whose state has a time to live: a join of some kind, a grouping or a window.
func forgetting(seed uint64) *oracle.Case {
	g := &generator{rng: rand.New(rand.NewPCG(seed, 2))}
	c := &oracle.Case{
		Seed: seed, Events: map[string][][]memconn.Event{},
		Lifetime: &oracle.Lifetime{TTL: 1000, Hints: map[string]int64{}, Used: map[string][]int{}},
	}
	g.execution(c)
	if g.chance(50) {
		c.Durable, c.Budget, c.Checkpoint = true, 1<<20, time.Duration(pick(g, 1, 1000))*time.Millisecond
		c.Shards = append(c.Shards, pick(g, 1, 2), pick(g, 1, 3))
	}
	tables := 1
	query := pick(g, g.grouping, g.window)
	if g.chance(60) {
		tables, query = 2+g.rng.IntN(2), g.forgetfulJoin
	}
	for i := range tables {
		t := oracle.Table{Name: fmt.Sprintf("t%d", i+1), Key: []int{0}}
		for _, n := range []string{"k", "g", "x", "s"} {
			t.Columns = append(t.Columns, oracle.Column{Name: n, Type: types.Of(pick(g, types.Int, types.BigInt))})
		}
		t.Columns[3].Type = types.String()
		o := oracle.HistoryOptions{
			Changes: 10 + g.rng.IntN(30), Partitions: 1 + g.rng.IntN(2), Redeliver: true, IntValues: 3 + g.rng.IntN(4), Steps: 2 + g.rng.IntN(9), Strings: []string{"a", "b"},
		}
		if g.chance(30) {
			o.Bag, o.Redeliver = true, false
		}
		c.Events[t.Name] = oracle.Generate(t, seed, o)
		if o.Bag {
			t.Key = nil
		}
		c.Tables = append(c.Tables, t)
		c.Lifetime.Used[t.Name] = []int{0, 1, 2, 3}
	}
	query(c)
	g.sink(c)
	g.hint(c)
	return c
}

// sink writes some of the results of which the first column is a unique key, that of the one table that they show, to a
// table with that key.
func (g *generator) sink(c *oracle.Case) {
	t := &c.Tables[0]
	rest, keyed := strings.CutPrefix(c.Query, "SELECT k, g, x, s")
	if !keyed || len(t.Key) == 0 || g.chance(30) {
		return
	}
	columns := slices.Clone(t.Columns)
	if !strings.HasPrefix(rest, " FROM") {
		columns = append(columns, oracle.Column{Name: "n", Type: types.Of(types.BigInt)})
	}
	c.Lifetime.Sink = &oracle.Table{Name: "result", Columns: columns, Key: []int{0}}
	c.Lifetime.Upsert = g.chance(50)
}

// hint gives some of the state another time to live. That of groups is no shorter than that of the rows below them, so
// that no row is taken away from a group that does not know it.
func (g *generator) hint(c *oracle.Case) {
	if strings.Contains(c.Query, "EXISTS") || strings.Contains(c.Query, "OVER") {
		return // hints name inputs of joins, and what is grouped
	}
	var hints []string
	for _, t := range c.Tables {
		if ms := int64(300 + g.rng.IntN(2000)); g.chance(40) && (c.Lifetime.Group == nil || ms >= c.Lifetime.TTL) {
			c.Lifetime.Hints[t.Name] = ms
			hints = append(hints, fmt.Sprintf("'%s' = '%d ms'", t.Name, ms))
		}
	}
	if hints != nil {
		c.Reference.Query = c.Query
		c.Query = "SELECT /*+ STATE_TTL(" + strings.Join(hints, ", ") + ") */ " + strings.TrimPrefix(c.Query, "SELECT ")
	}
}

// forgetfulJoin joins the tables by one key, so that one operator does it all.
func (g *generator) forgetfulJoin(c *oracle.Case) {
	if len(c.Tables) > 2 {
		on := pick(g, "g", "x")
		c.Query = fmt.Sprintf("SELECT t1.k, t1.g, t1.x, t1.s, t2.k AS k2, t2.g AS g2, t2.x AS x2, t2.s AS s2, t3.k AS k3, t3.g AS g3, t3.x AS x3, t3.s AS s3 "+
			"FROM t1 JOIN t2 ON t1.%[1]s = t2.%[1]s JOIN t3 ON t1.%[1]s = t3.%[1]s", on)
		return
	}
	left, right := pick(g, "k", "g", "x"), pick(g, "k", "g", "x")
	on := fmt.Sprintf("t1.%s = t2.%s", left, right)
	if g.chance(30) {
		on += " AND t1.x <= t2.x"
	}
	switch g.rng.IntN(4) {
	case 0:
		words := pick(g, "EXISTS", "NOT EXISTS")
		c.Query = fmt.Sprintf("SELECT k, g, x, s FROM t1 WHERE %s (SELECT 1 FROM t2 WHERE %s)", words, on)
		used := []int{columnPlace(right)}
		if strings.Contains(on, "AND") {
			used = append(used, 2)
		}
		c.Lifetime.Used["t2"] = used
	default:
		c.Query = fmt.Sprintf("SELECT t1.k, t1.g, t1.x, t1.s, t2.k AS k2, t2.g AS g2, t2.x AS x2, t2.s AS s2 FROM t1 %s t2 ON %s", pick(g, "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"), on)
	}
}

// columnPlace is the place of a column by its name.
func columnPlace(name string) int { return strings.Index("kgxs", name) }

// grouping groups the one table. Its aggregates see every column, and it has a key: what a group counts that was taken
// away before it came is no group's.
func (g *generator) grouping(c *oracle.Case) {
	t := &c.Tables[0]
	if len(t.Key) == 0 {
		g.window(c)
		return
	}
	if g.chance(25) {
		c.Query = "SELECT DISTINCT g, s FROM t1"
		c.Lifetime.Group, c.Lifetime.Used["t1"] = []int{1, 3}, []int{1, 3}
		return
	}
	c.Lifetime.Group = []int{1}
	c.Query = "SELECT g, COUNT(*) AS n, " + pick(g, "SUM(k) AS a", "MIN(k) AS a", "COUNT(DISTINCT k) AS a") + ", " +
		pick(g, "SUM(x) AS b", "MAX(x) AS b", "COUNT(DISTINCT x) AS b") + ", " + pick(g, "MIN(s) AS d", "COUNT(s) AS d") + " FROM t1 GROUP BY g"
}

// window numbers or sums up the rows of each group of the one table.
func (g *generator) window(c *oracle.Case) {
	c.Lifetime.Group = []int{1}
	over := "OVER (PARTITION BY g ORDER BY " + pick(g, "x, k, s", "x DESC, k, s", "s, k, x") + ")"
	switch g.rng.IntN(3) {
	case 0:
		c.Query = "SELECT k, g, x, s, SUM(x) " + strings.TrimSuffix(over, ")") + " ROWS UNBOUNDED PRECEDING) AS n FROM t1"
	case 1:
		c.Query = "SELECT k, g, x, s FROM (SELECT *, ROW_NUMBER() " + over + " AS n FROM t1) AS w WHERE n = 1"
	default:
		c.Query = "SELECT k, g, x, s, n FROM (SELECT *, ROW_NUMBER() " + over + " AS n FROM t1) AS w WHERE n <= 2"
	}
}
