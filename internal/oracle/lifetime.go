package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/internal/memconn"
)

// Lifetime is the state of a query that forgets: that of one join, whose tables' rows are forgotten one by one, or that of
// one grouping or window over one table, whose groups are forgotten as a whole. What it has to give is modelled so: an
// epoch begins with dropping all that nothing has changed for the time to live, which says nothing, and gives the
// difference that its changes make to the query over what is left.
type Lifetime struct {
	// TTL is how long it lives, in milliseconds, and Hints how long what the query's hints name does: a table's rows in a
	// join, its groups elsewhere.
	TTL   int64
	Hints map[string]int64
	// Used are the columns that the query reads of each table: a change of others is none.
	Used map[string][]int
	// Group are the columns of the one table that make a group; nil for a join.
	Group []int
	// Sink is the table that the result is written to; nil for the result of a SELECT. Its PRIMARY KEY is the first
	// column, and Upsert says that it takes upserts.
	Sink   *Table
	Upsert bool
}

// statements write the query's result to the sink.
func (l *Lifetime) statements(query string) string {
	if l.Sink == nil {
		return query
	}
	ddl := l.Sink.DDL()
	if l.Upsert {
		ddl = strings.TrimSuffix(ddl, ")") + ", 'accepts' = 'upsert')"
	}
	// The query's key is the sink's, so that nothing is kept above it that the model does not know.
	return "SET 'table.exec.sink.upsert-materialize' = 'NONE';\n" + ddl + ";\nINSERT INTO " + l.Sink.Name + " " + query
}

// chosen is what a sink with a key gets of the changes that the model wants: of several of one key and sign one, which
// may be any, and so is the one that it got.
func (l *Lifetime) chosen(want, got map[string]int) map[string]int {
	type place struct {
		key   string
		minus bool
	}
	placeOf := func(text string) place {
		key, _, _ := strings.Cut(text, "|")
		return place{key, want[text] < 0}
	}
	choice := map[place]string{}
	for _, text := range slices.Sorted(maps.Keys(want)) {
		p := placeOf(text)
		if _, ok := choice[p]; !ok || want[text]*got[text] > 0 {
			choice[p] = text
		}
	}
	out := map[string]int{}
	for p, text := range choice {
		_, replaced := choice[place{key: p.key}]
		switch {
		case !p.minus:
			out[text] = 1
		case !l.Upsert || !replaced:
			out[text] = -1
		}
	}
	return out
}

// of is how long the rows, and the groups, of a table live.
func (l *Lifetime) of(table string) (rows, groups int64) {
	rows, groups = l.TTL, l.TTL
	if hint, ok := l.Hints[table]; ok && l.Group == nil {
		rows = hint
	} else if ok {
		groups = hint
	}
	return rows, groups
}

func (r *run) now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.UnixMilli(r.clock)
}

func (r *run) ended(n uint64, millis int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends[n] = millis
}

// kept are rows with their number, in units that are forgotten as one.
type kept map[string]*unit

type unit struct {
	rows    map[string]*copies
	changed int64 // when an epoch ended that changed it
}

type copies struct {
	row []row.Datum
	n   int
}

func (k kept) expire(begin, ttl int64) {
	maps.DeleteFunc(k, func(_ string, u *unit) bool { return begin-u.changed >= ttl })
}

// apply makes changes, of which those that take away more than there is come to nothing.
func (k kept) apply(changes []copies, unitOf func([]row.Datum) string, end int64) {
	was := map[string]map[string]int{}
	for _, c := range changes {
		id, text := unitOf(c.row), fmt.Sprint(c.row)
		u := k[id]
		if u == nil {
			u = &unit{rows: map[string]*copies{}}
			k[id] = u
		}
		if was[id] == nil {
			was[id] = u.counts()
		}
		if u.rows[text] == nil {
			u.rows[text] = &copies{row: c.row}
		}
		u.rows[text].n += c.n
	}
	for id, before := range was {
		u := k[id]
		maps.DeleteFunc(u.rows, func(_ string, c *copies) bool { return c.n <= 0 })
		if !maps.Equal(before, u.counts()) {
			u.changed = end
		}
		if len(u.rows) == 0 {
			delete(k, id)
		}
	}
}

func (u *unit) counts() map[string]int {
	n := map[string]int{}
	for text, c := range u.rows {
		n[text] = c.n
	}
	return n
}

// content is the table of the rows that are kept.
func (k kept) content(t Table) Content {
	c := Content{Table: t}
	for _, id := range slices.Sorted(maps.Keys(k)) {
		for _, text := range slices.Sorted(maps.Keys(k[id].rows)) {
			for range k[id].rows[text].n {
				c.Rows = append(c.Rows, k[id].rows[text].row)
			}
		}
	}
	return c
}

// forgetful is the model of a table whose rows are forgotten.
type forgetful struct {
	Table
	used   []int
	rows   kept
	groups kept // of a query that groups them
}

// events applies an epoch's events to the rows, and returns what they change.
func (f *forgetful) events(events []memconn.Event, end int64) []copies {
	if len(f.Key) == 0 {
		var changes []copies
		for _, e := range events {
			if e.Before != nil {
				changes = append(changes, copies{f.seen(e.Before), -1})
			}
			if e.After != nil {
				changes = append(changes, copies{f.seen(e.After), +1})
			}
		}
		f.rows.apply(changes, func(r []row.Datum) string { return fmt.Sprint(r) }, end)
		return changes
	}
	// A map from key to row: the last event of a key says what is there.
	last := map[string][]row.Datum{}
	for _, e := range events {
		if e.Before != nil {
			last[f.keyOf(e.Before)] = nil
		}
		if e.After != nil {
			last[f.keyOf(e.After)] = f.seen(e.After)
		}
	}
	var changes []copies
	for _, k := range slices.Sorted(maps.Keys(last)) {
		if u := f.rows[k]; u != nil {
			for _, c := range u.rows {
				changes = append(changes, copies{c.row, -1})
			}
		}
		if last[k] != nil {
			changes = append(changes, copies{last[k], +1})
		}
	}
	f.rows.apply(changes, f.keyOf, end)
	return changes
}

// seen is a row as the table's state keeps it.
func (f *forgetful) seen(r []row.Datum) []row.Datum { return only(r, slices.Concat(f.used, f.Key)) }

// only is a row with NULL in other columns.
func only(r []row.Datum, cols []int) []row.Datum {
	out := make([]row.Datum, len(r))
	for i := range r {
		out[i] = row.NullDatum
		if slices.Contains(cols, i) {
			out[i] = r[i]
		}
	}
	return out
}

func (f *forgetful) keyOf(r []row.Datum) string { return texts(r, f.Key) }

func texts(r []row.Datum, cols []int) string {
	var parts []string
	for _, c := range cols {
		parts = append(parts, fmt.Sprint(r[c]))
	}
	return strings.Join(parts, "|")
}

// checkForgetting holds the changes of every epoch to the model's.
func (r *run) checkForgetting(engine Engine) error {
	l := r.Lifetime
	ref := r.Reference
	if ref.Query == "" {
		ref = Reference{r.Views, r.Query}
	}
	tables := make([]*forgetful, len(r.Tables))
	for i, t := range r.Tables {
		tables[i] = &forgetful{Table: t, used: l.Used[t.Name], rows: kept{}, groups: kept{}}
	}
	result := func() (map[string]int, error) {
		var contents []Content
		for _, f := range tables {
			of := f.rows
			if l.Group != nil {
				of = f.groups
			}
			contents = append(contents, of.content(f.Table))
		}
		rows, err := engine.Query(contents, ref.Views, ref.Query, r.types)
		if err != nil {
			err = &ReferenceError{err}
		}
		return rows, err
	}
	at := map[string]int64{}
	for n := uint64(1); n <= r.last; n++ {
		begin, end := r.ends[n-1], r.ends[n]
		for _, f := range tables {
			rows, groups := l.of(f.Name)
			f.rows.expire(begin, rows)
			f.groups.expire(begin, groups)
		}
		before, err := result()
		if err != nil {
			return err
		}
		for _, f := range tables {
			changes := f.events(r.eventsOf(f.Name, at, r.cuts[n]), end)
			if l.Group != nil {
				for i := range changes {
					changes[i].row = only(changes[i].row, f.used)
				}
				f.groups.apply(changes, func(v []row.Datum) string { return texts(v, l.Group) }, end)
			}
		}
		want, err := result()
		if err != nil {
			return err
		}
		for text, n := range before {
			want[text] -= n
		}
		got := map[string]int{}
		changes, _ := r.sink.Epoch(n)
		for _, ch := range changes {
			got[Text(ch.Row, r.types)] += ch.Op.Weight()
		}
		for _, m := range []map[string]int{want, got} {
			maps.DeleteFunc(m, func(_ string, n int) bool { return n == 0 })
		}
		if l.Sink != nil {
			want = l.chosen(want, got)
		}
		if !maps.Equal(got, want) {
			return &Difference{Epoch: n, Got: multiset(got), Want: multiset(want), Changes: fmt.Sprintf("of the time from %d to %d", begin, end)}
		}
	}
	return nil
}

// eventsOf are a table's events up to a cut, in the order of each partition.
func (r *run) eventsOf(name string, at map[string]int64, cut map[string][]spi.Position) []memconn.Event {
	var out []memconn.Event
	for _, positions := range cut {
		for _, p := range positions {
			if p.Topic != name {
				continue
			}
			key := fmt.Sprintf("%s/%d", p.Topic, p.Partition)
			for ; at[key] < p.Offset; at[key]++ {
				out = append(out, r.Events[name][p.Partition][at[key]])
			}
		}
	}
	return out
}
