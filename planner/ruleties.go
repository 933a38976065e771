package planner

import (
	"slices"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/expr"
)

// breakTies orders rows that a window's order holds equal by where they stand in the topic that they come from, in the
// direction of the order's last column. Without that they are ordered by their bytes.
func (j *logicalJob) breakTies() error {
	var visit func(rel) (rel, error)
	visit = func(r rel) (rel, error) {
		if w, ok := r.(*relWindow); ok && w.needsTies() {
			desc := len(w.order) > 0 && w.order[len(w.order)-1].desc
			for _, id := range j.arrival(w.in) {
				w.ties = append(w.ties, orderKey{col: id, desc: desc, nullsLast: desc})
			}
		}
		return r, mapInputs(r, visit)
	}
	return j.rewrite(visit)
}

// needsTies reports whether it makes a difference in which order rows of equal order stand.
func (w *relWindow) needsTies() bool {
	by := slices.Clone(w.partition)
	for _, k := range w.order {
		by = append(by, k.col)
	}
	if factsOf(w.in).isKey(by) {
		return false
	}
	return w.limit != nil && w.limit.Kind == expr.WindowRowNumber || slices.ContainsFunc(w.calls, func(c windowCall) bool {
		switch c.kind {
		case expr.WindowRank, expr.WindowDenseRank, expr.WindowPercentRank, expr.WindowCumeDist:
			return false
		case expr.WindowAggregate:
			return c.frame.Rows
		}
		return true
	})
}

// arrival are the columns that tell where in a topic the rows of r stand, of which each comes from one message of one
// append-only table. Nil where that is not known.
func (j *logicalJob) arrival(r rel) []int {
	switch r := r.(type) {
	case *relScan:
		if r.src.mode != spi.AppendOnly {
			return nil
		}
		var ids []int
		for _, key := range []string{"partition", "offset"} {
			id, ok := j.metadata(r, key)
			if !ok {
				return nil
			}
			ids = append(ids, id)
		}
		return ids
	case *relFilter:
		return j.arrival(r.in)
	case *relExtend:
		return j.arrival(r.in)
	case *relWindow:
		return j.arrival(r.in)
	}
	return nil
}

// metadata is the column of a scan that holds the metadata of a key, declared or not; false when the connector has none.
func (j *logicalJob) metadata(s *relScan, key string) (int, bool) {
	m := findMetadata(s.src.traits.Metadata, key)
	if m == nil {
		return 0, false
	}
	is := func(c spi.Column) bool { return c.Metadata == key }
	if !slices.ContainsFunc(s.src.spec.Columns, is) {
		j.addColumn(s.src.table, spi.Column{Name: "$" + key, Metadata: key, Type: m.Type, Virtual: true})
	}
	return s.ids[slices.IndexFunc(s.src.spec.Columns, is)], true
}

// addColumn adds a column to all scans of a table, which may become one.
func (j *logicalJob) addColumn(t *Table, c spi.Column) {
	var visit func(rel) (rel, error)
	visit = func(r rel) (rel, error) {
		if s, ok := r.(*relScan); ok && s.src.table == t {
			src, spec := *s.src, *s.src.spec
			spec.Columns = append(slices.Clone(spec.Columns), c)
			src.spec = &spec
			s.src, s.ids = &src, append(slices.Clone(s.ids), j.columns.add(c.Name, c.Name, c.Type))
		}
		return r, mapInputs(r, visit)
	}
	_ = j.rewrite(visit) // visit has no errors
}
