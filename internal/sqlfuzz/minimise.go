package sqlfuzz

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/internal/memconn"
	"github.com/sluicesql/sluice/internal/oracle"
)

// Minimise reduces a failed case as long as it fails in the same way, with at most so many runs, and returns it as a
// script.
func (r Result) Minimise(runs int) *oracle.Script {
	m := &minimiser{engine: r.engine, runs: runs, kind: failureKind(r.Err)}
	c := r.c
	for smaller := true; smaller && m.runs > 0; {
		smaller = m.reduceRun(&c)
		smaller = m.reduceEvents(&c) || smaller
		smaller = m.reduceQuery(&c) || smaller
		smaller = m.dropUnused(&c) || smaller
	}
	_, err := c.run(r.engine)
	if err == nil {
		err = r.Err // it does not fail every time
	}
	return c.script(err)
}

// script is the case in all dialects that have words for it.
func (c *generated) script(err error) *oracle.Script {
	comment, _, _ := strings.Cut(err.Error(), "\ngoroutine ")
	s := &oracle.Script{Comment: comment, Case: *c.write("duckdb"), References: map[string]oracle.Reference{}}
	s.References["duckdb"] = s.Case.Reference
	s.Case.Reference = oracle.Reference{}
	if lite, err := oracle.OpenSQLite(); err == nil {
		defer func() { _ = lite.Close() }()
		if out, _ := c.run(lite); out != Unreadable {
			s.References["sqlite"] = c.write("sqlite").Reference
		}
	}
	return s
}

var changing = regexp.MustCompile(`[0-9]+|"[^"]*"|'[^']*'`)

// failureKind is the way in which a case fails: that results differ, or an error's words.
func failureKind(err error) string {
	var d *oracle.Difference
	if errors.As(err, &d) {
		return "difference"
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return changing.ReplaceAllString(first[:min(60, len(first))], "")
}

type minimiser struct {
	engine oracle.Engine
	runs   int
	kind   string
}

// try takes a smaller case when it fails as the present one does. One in whose failure chance has a part is run
// three times.
func (m *minimiser) try(c **generated, smaller *generated) bool {
	if !smaller.sound() {
		return false
	}
	for range 3 {
		if m.runs--; m.runs < 0 {
			return false
		}
		out, err := smaller.run(m.engine)
		if out == Failed && failureKind(err) == m.kind {
			*c = smaller
			return true
		}
		if out != Agreed {
			return false
		}
	}
	return false
}

// sound tells whether histories are such as their tables promise: without a primary key, or from a trusted source,
// a row that goes was there.
func (c *generated) sound() bool {
	for _, t := range c.Tables {
		if !c.Trusted && len(t.Key) > 0 {
			continue
		}
		content := oracle.Content{Table: t}
		for _, events := range c.Events[t.Name] {
			for _, e := range events {
				rows := len(content.Rows)
				content.Apply(memconn.Event{Before: e.Before})
				if e.Before != nil && len(content.Rows) == rows {
					return false
				}
				rows = len(content.Rows)
				content.Apply(memconn.Event{After: e.After})
				if e.After != nil && len(content.Rows) == rows {
					return false
				}
			}
		}
	}
	return true
}

func (c *generated) clone() *generated {
	n := *c
	n.query = c.query.clone()
	n.views = nil
	for _, v := range c.views {
		n.views = append(n.views, &cte{v.name, v.q.clone()})
	}
	n.Tables = slices.Clone(c.Tables)
	n.Events = maps.Clone(c.Events)
	return &n
}

// reduceRun tries the simplest way to run the case.
func (m *minimiser) reduceRun(c **generated) bool {
	reduced := false
	for _, f := range []func(*generated) bool{
		func(n *generated) bool { was := n.Durable; n.Durable = false; n.Shards = n.Shards[:1]; return was },
		func(n *generated) bool { was := len(n.Shards); n.Shards = n.Shards[was-1:]; return was > 1 },
		func(n *generated) bool { was := n.Shards[0]; n.Shards = []int{1}; return was > 1 && len(n.Shards) == 1 },
		func(n *generated) bool { was := n.Batch; n.Batch = 1024; return was != 1024 },
		func(n *generated) bool { was := n.Trusted; n.Trusted = false; return was },
		func(n *generated) bool { was := n.EpochRows; n.EpochRows = 1; return was > 1 },
	} {
		n := (*c).clone()
		if f(n) {
			reduced = m.try(c, n) || reduced
		}
	}
	return reduced
}

// reduceEvents drops stretches of events, long ones first, then single ones, and puts all partitions into one.
func (m *minimiser) reduceEvents(c **generated) bool {
	reduced := false
	for _, t := range (*c).Tables {
		if len((*c).Events[t.Name]) > 1 {
			n := (*c).clone()
			merged := slices.Concat(n.Events[t.Name]...)
			slices.SortStableFunc(merged, func(a, b memconn.Event) int { return a.Step - b.Step })
			n.Events[t.Name] = [][]memconn.Event{merged}
			reduced = m.try(c, n) || reduced
		}
		for p := range (*c).Events[t.Name] {
			for size := len((*c).Events[t.Name][p]); size > 0; size /= 2 {
				for at := 0; at < len((*c).Events[t.Name][p]); {
					n := (*c).clone()
					n.Empties = false
					parts := slices.Clone(n.Events[t.Name])
					end := min(at+size, len(parts[p]))
					parts[p] = slices.Concat(parts[p][:at], parts[p][end:])
					n.Events[t.Name] = parts
					if m.try(c, n) {
						reduced = true
					} else {
						at += size
					}
				}
			}
		}
	}
	return reduced
}

// reduceQuery tries every edit of the query and of the views.
func (m *minimiser) reduceQuery(c **generated) bool {
	reduced := false
	for i := 0; m.runs > 0; {
		n := (*c).clone()
		e := n.edits()
		if i >= len(e) {
			break
		}
		e[i]()
		if m.try(c, n) {
			reduced = true
		} else {
			i++
		}
	}
	return reduced
}

// dropUnused drops tables and views that the query does without.
func (m *minimiser) dropUnused(c **generated) bool {
	reduced := false
	for i := len((*c).views) - 1; i >= 0; i-- {
		n := (*c).clone()
		n.views = slices.Delete(n.views, i, i+1)
		reduced = m.try(c, n) || reduced
	}
	for i := len((*c).Tables) - 1; i >= 0 && len((*c).Tables) > 1; i-- {
		n := (*c).clone()
		delete(n.Events, n.Tables[i].Name)
		n.Tables = slices.Delete(n.Tables, i, i+1)
		reduced = m.try(c, n) || reduced
	}
	return reduced
}
