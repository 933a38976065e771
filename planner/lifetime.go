package planner

import (
	"slices"
	"strings"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/sql/ast"
)

// Lifetime is how long an operator's state lives.
type Lifetime struct {
	// Timed says that what is kept carries the time of its last change: it is forgotten some day, or it is made of
	// the changes of something that forgets, so that some may come a second time, or be missing.
	Timed bool
	// TTL is how long state lives that nothing changes; 0 is for ever.
	TTL time.Duration

	hint *time.Duration // what STATE_TTL says
}

// line is a line of EXPLAIN about the state, or none.
func (l *Lifetime) line() []string {
	if l.TTL == 0 {
		return nil
	}
	return []string{"state: forgotten when unchanged for " + l.TTL.String()}
}

// text is the end of a line of EXPLAIN about the state.
func (l *Lifetime) text() string {
	if l.TTL == 0 {
		return ""
	}
	return "; forgotten when unchanged for " + l.TTL.String()
}

// lifetimesOf are those of the node's states.
func lifetimesOf(n Node) []*Lifetime {
	switch n := n.(type) {
	case *Join:
		return []*Lifetime{&n.L.Life, &n.R.Life}
	case *JoinMany:
		var out []*Lifetime
		for i := range n.Sides {
			out = append(out, &n.Sides[i].Life)
		}
		return out
	case *Normalise:
		return []*Lifetime{&n.Life}
	case *Aggregate:
		return []*Lifetime{&n.Life}
	case *Window:
		return []*Lifetime{&n.Life}
	}
	return nil
}

// Forgets reports whether a node has state that is forgotten.
func Forgets(n Node) bool {
	return slices.ContainsFunc(lifetimesOf(n), func(l *Lifetime) bool { return l.TTL > 0 })
}

// ShortestTTL is the shortest time to live of the plan's state; 0 where nothing is forgotten.
func (p *Plan) ShortestTTL() time.Duration {
	var shortest time.Duration
	p.Walk(func(n Node) {
		for _, l := range lifetimesOf(n) {
			if l.TTL > 0 && (shortest == 0 || l.TTL < shortest) {
				shortest = l.TTL
			}
		}
	})
	return shortest
}

// settleLifetimes gives all state its time to live: that of its hint, or the session's.
func settleLifetimes(p *Plan) {
	all, err := parseTTL(p.Options[OptStateTTL])
	if err != nil {
		panic("planner: " + err.Error()) // it was checked when it was set
	}
	forgets := map[Node]bool{}
	p.Walk(func(n Node) {
		f := slices.ContainsFunc(n.Inputs(), func(in Node) bool { return forgets[in] })
		lives := lifetimesOf(n)
		a, global := n.(*Aggregate)
		global = global && a.Global
		for _, l := range lives {
			if l.TTL = all; global {
				l.TTL = 0 // it is one row, and there also over none
			}
			if l.hint != nil && !global {
				l.TTL = *l.hint
			}
			f = f || l.TTL > 0
		}
		for _, l := range lives {
			l.Timed = f
		}
		forgets[n] = f
		if s, ok := n.(*Sink); ok && f {
			// A row that is forgotten in one place and not in another comes a second time. Two rows of one key of the sink
			// overwrite each other there; those of another key are both shown.
			s.Chooses = len(s.Spec.Key) > 0 && slices.Equal(s.PairKey, s.Spec.Key)
			if !s.Chooses {
				s.PairKey = nil
			}
		}
	})
}

// ttlHint is the name of the hint that gives state its time to live.
const ttlHint = "STATE_TTL"

// ttlHints are the STATE_TTL hints of one query, by the names that they give to what is in its FROM. A nil one is of a
// query without.
type ttlHints struct {
	list []ttlName
}

type ttlName struct {
	name  string
	pos   ast.Pos
	ttl   time.Duration
	found bool // among the tables of FROM that have state here
}

// selectHints takes the hints behind SELECT.
func selectHints(hints []ast.Hint) (*ttlHints, error) {
	if len(hints) == 0 {
		return nil, nil
	}
	out := &ttlHints{}
	for _, h := range hints {
		if !strings.EqualFold(h.Name.Name, ttlHint) {
			return nil, refuseHint(h, ttlHint)
		}
		if len(h.Args) == 0 {
			return nil, hint(errAt(h.Pos, "the hint STATE_TTL names no table"), "write STATE_TTL('a' = '1 d'), with the names of tables in FROM")
		}
		for _, a := range h.Args {
			if !a.HasValue {
				return nil, hint(errAt(a.Pos, "the hint STATE_TTL gives %q no time", a.Key), "write '%s' = '1 d'", a.Key)
			}
			ttl, err := parseTTL(a.Value)
			if err != nil {
				return nil, errAt(a.ValuePos, "STATE_TTL: %v", err)
			}
			if slices.ContainsFunc(out.list, func(n ttlName) bool { return n.name == a.Key }) {
				return nil, errAt(a.Pos, "the hint STATE_TTL names %q twice", a.Key)
			}
			out.list = append(out.list, ttlName{name: a.Key, pos: a.Pos, ttl: ttl})
		}
	}
	return out, nil
}

// parseTTL reads a time to live. Times are in milliseconds.
func parseTTL(s string) (time.Duration, error) {
	d, err := spi.ParseDuration(s)
	return d.Truncate(time.Millisecond), err
}

// of is what the hints say of a table of FROM; nil for nothing.
func (h *ttlHints) of(t ast.TableRef) *time.Duration {
	if h == nil {
		return nil
	}
	name := ""
	switch t := t.(type) {
	case *ast.NamedTable:
		if name = t.Alias.Name.Name; name == "" {
			name = t.Name.Base().Name
		}
	case *ast.DerivedTable:
		name = t.Alias.Name.Name
	}
	for i := range h.list {
		if n := &h.list[i]; n.name == name {
			n.found = true
			return &n.ttl
		}
	}
	return nil
}

// check refuses a name that is none of a table with state in this query.
func (h *ttlHints) check(sc *scope) error {
	if h == nil {
		return nil
	}
	for _, n := range h.list {
		if n.found {
			continue
		}
		if sc.hasTable(n.name) {
			return hint(errAt(n.pos, "STATE_TTL cannot be given to %q: it is neither an input of a join here nor all that is grouped", n.name),
				"write the hint in the query that joins or groups it, or set '%s'", OptStateTTL)
		}
		return suggest(errAt(n.pos, "STATE_TTL names %q, which is no table of this query's FROM", n.name), n.name, sc.tables(), "tables")
	}
	return nil
}
