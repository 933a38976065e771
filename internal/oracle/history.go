package oracle

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/memconn"
)

// Users, Domains and Orders are the tables of the generated histories.
var (
	Users = Table{"users", []Column{
		{"id", types.Of(types.Int)}, {"firstname", types.String()}, {"age", types.Of(types.BigInt)},
	}, []int{0}}
	Domains = Table{"domains", []Column{
		{"id", types.Of(types.Int)}, {"user_id", types.Of(types.Int)}, {"domain_name", types.String()},
	}, []int{0}}
	Orders = Table{"orders", []Column{
		{"region", types.String()}, {"no", types.Of(types.Int)}, {"domain_id", types.Of(types.BigInt)}, {"amount", types.Of(types.Int)},
	}, []int{0, 1}}
)

// Tables are all of them.
func Tables() []Table { return []Table{Users, Domains, Orders} }

// HistoryOptions says what a generated history may hold.
type HistoryOptions struct {
	Changes    int
	Partitions int
	// Redeliver repeats stretches of a partition, as at-least-once delivery and second snapshots do, sends
	// deletes of keys that are not there, and leaves out or invents rows before.
	Redeliver bool
	// DeleteAll ends with the deletion of every row.
	DeleteAll bool
	// Bag drops the primary key of the tables' declaration: events then have complete rows before, and rows may
	// be equal.
	Bag bool
	// Steps divides the changes among so many epochs, the first of which is the largest; 0 leaves the cuts to the
	// job.
	Steps int
	// IntValues is the number of integers that values are taken from, from 0 on, and Strings and Dates (YYYY-MM-DD)
	// are texts to choose from; zero values for a dozen and four letters.
	IntValues int
	Strings   []string
	Dates     []string
}

// generator makes the history of one table.
type generator struct {
	t     Table
	o     HistoryOptions
	rng   *rand.Rand
	live  map[string][]row.Datum
	order []string // keys of live, in a fixed order
	parts [][]memconn.Event
	now   int // the present step
}

// Generate returns a history of the table: events by partition, each key in one partition.
func Generate(t Table, seed uint64, o HistoryOptions) [][]memconn.Event {
	g := &generator{t: t, o: o, rng: rand.New(rand.NewPCG(seed, uint64(len(t.Name)))), live: map[string][]row.Datum{}, parts: make([][]memconn.Event, o.Partitions)}
	if o.IntValues == 0 {
		g.o.IntValues, g.o.Strings = 12, []string{"a", "b", "c", "d"}
	}
	for i := range o.Changes {
		if o.Steps > 0 {
			g.now = max(1, i*(o.Steps+1)/o.Changes)
		}
		g.step()
	}
	if o.DeleteAll {
		for len(g.order) > 0 {
			g.delete(g.order[0])
		}
	}
	return g.parts
}

func (g *generator) step() {
	switch n := g.rng.IntN(100); {
	case len(g.order) == 0 || n < 35:
		g.insert(g.fresh())
	case n < 65: // an update: of some columns, of the join key among them
		k := g.pick()
		before := g.live[k]
		after := g.vary(before)
		g.live[k] = after
		g.emit(k, memconn.Event{Before: before, After: after})
	case n < 75: // an update of the primary key: a delete and an insert, as Debezium writes it
		k := g.pick()
		v := g.fresh()
		if _, taken := g.live[g.key(v)]; taken && !g.o.Bag {
			return
		}
		row := append([]row.Datum(nil), g.live[k]...)
		for _, c := range g.t.Key {
			row[c] = v[c]
		}
		g.delete(k)
		g.insert(row)
	case n < 90 || !g.o.Redeliver:
		g.delete(g.pick())
	default:
		g.accident()
	}
}

// accident is what goes wrong between a database and a consumer.
func (g *generator) accident() {
	p := g.rng.IntN(len(g.parts))
	events := g.parts[p]
	switch g.rng.IntN(3) {
	case 0: // the last stretch comes again
		if n := len(events); n > 0 {
			for _, e := range events[n-1-g.rng.IntN(min(n, 6)):] {
				e.Step = g.now
				g.parts[p] = append(g.parts[p], e)
			}
		}
	case 1: // a delete of a key that is not there
		v := g.fresh()
		if k := g.key(v); g.live[k] == nil {
			g.emit(k, memconn.Event{Before: v})
		}
	case 2: // a snapshot row of a key that is
		if len(g.order) > 0 {
			k := g.pick()
			g.emit(k, memconn.Event{After: g.live[k]})
		}
	}
}

func (g *generator) pick() string { return g.order[g.rng.IntN(len(g.order))] }

func (g *generator) key(v []row.Datum) string {
	if g.o.Bag {
		return fmt.Sprint(g.rng.Uint64()) // no key: every row is its own
	}
	s := ""
	for _, c := range g.t.Key {
		s += fmt.Sprintf("%d|%s|", v[c].I, v[c].B)
	}
	return s
}

func (g *generator) insert(v []row.Datum) {
	k := g.key(v)
	if _, ok := g.live[k]; ok {
		return
	}
	g.live[k] = v
	g.order = append(g.order, k)
	g.emit(k, memconn.Event{After: v})
}

func (g *generator) delete(k string) {
	before := g.live[k]
	delete(g.live, k)
	for i, o := range g.order {
		if o == k {
			g.order = append(g.order[:i], g.order[i+1:]...)
			break
		}
	}
	g.emit(k, memconn.Event{Before: before})
}

func (g *generator) emit(key string, e memconn.Event) {
	p := int(keyenc.Hash([]byte(key)) % uint64(len(g.parts)))
	e.Step = g.now
	g.parts[p] = append(g.parts[p], e)
}

// fresh makes a row with values from small ranges, so that keys meet.
func (g *generator) fresh() []row.Datum {
	v := make([]row.Datum, len(g.t.Columns))
	for i := range v {
		v[i] = g.value(i)
	}
	return v
}

func (g *generator) vary(before []row.Datum) []row.Datum {
	v := append([]row.Datum(nil), before...)
	for i := range v {
		if !g.isKey(i) && g.rng.IntN(2) == 0 {
			v[i] = g.value(i)
		}
	}
	return v
}

func (g *generator) isKey(c int) bool {
	for _, k := range g.t.Key {
		if k == c {
			return true
		}
	}
	return false
}

func (g *generator) value(c int) row.Datum {
	if !g.isKey(c) && g.rng.IntN(8) == 0 {
		return row.NullDatum
	}
	switch t := g.t.Columns[c].Type; {
	case t.IsString():
		return row.String(pick(g.rng, g.o.Strings))
	case t.Kind == types.Boolean:
		return row.Bool(g.rng.IntN(2) == 0)
	case t.Kind == types.Decimal: // in quarters and halves, which are exact in every engine
		return row.Int(25 * int64(g.rng.IntN(20)-5))
	case t.Kind == types.Double:
		return row.Float(float64(g.rng.IntN(10)-3) / 2)
	case t.Kind == types.Date:
		d, err := time.Parse(time.DateOnly, pick(g.rng, g.o.Dates))
		if err != nil {
			panic(err)
		}
		return row.Int(d.Unix() / 86400)
	}
	return row.Int(int64(g.rng.IntN(g.o.IntValues)))
}

func pick(rng *rand.Rand, list []string) string { return list[rng.IntN(len(list))] }
