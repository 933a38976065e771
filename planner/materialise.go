package planner

import (
	"slices"
	"strings"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/expr"
)

// materialiseSinks finds the sinks of which several rows of the query may have one primary key, by which a reader keeps one
// of them, also where the sink is told of every row that comes and goes. Which one shows must not depend on the order in
// which changes arrive: the rows are kept by the sink's key, ordered by a unique key of the query, whose columns must
// therefore stay until the sink.
func (j *logicalJob) materialiseSinks() error {
	for _, s := range j.sinks {
		if s.sink == nil || s.sink.traits.Accepts == spi.AppendOnly || len(s.sink.key) == 0 {
			continue
		}
		f := factsOf(s.in)
		s.unique = f.isKey(pick(s.ids, s.sink.key))
		switch s.materialise = strings.ToUpper(j.upsertMaterialise); {
		case s.materialise == "FORCE":
		case s.unique || s.materialise == "NONE":
			continue
		}
		out := s.in.out()
		if s.order = s.ids; len(f.visible(out)) > 0 {
			s.order = pick(out, f.visible(out)[0])
		} else if ids := j.arrival(s.in); ids != nil {
			s.order = ids
		}
	}
	return nil
}

// materialise keeps the rows by the sink's key and shows of each the one with the greatest unique key.
func (b *builder) materialise(l *logicalSink, s *stream) *stream {
	key := pick(l.ids, l.sink.key)
	w := &relWindow{in: l.in, partition: dedup(key), limit: &RankLimit{Kind: expr.WindowRowNumber, Lo: 1, Hi: 1}}
	var names []string
	for _, id := range l.order {
		if !slices.Contains(key, id) {
			w.order = append(w.order, orderKey{col: id, desc: true, nullsLast: true})
			names = append(names, b.columns.list[id].label)
		}
	}
	why := "several rows of the query may have one PRIMARY KEY " + l.sink.table.keyText() + " of " + l.sink.table.Name + ": the one with the greatest (" +
		strings.Join(names, ", ") + ") is shown"
	if s.props().Mode != spi.AppendOnly {
		why += ", and the next when it goes"
	}
	if l.materialise == "FORCE" {
		why = "'" + OptUpsertMaterialize + "' is FORCE"
	}
	return b.windowOver(s, w, why)
}

func dedup(ids []int) []int {
	var out []int
	for _, id := range ids {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}
