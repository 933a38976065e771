package planner

import "github.com/sluicesql/sluice/engine/expr"

// dropIdle drops DISTINCT over rows that a key tells apart already, and row numbers in partitions of one row.
func (j *logicalJob) dropIdle() error {
	var drop func(rel) (rel, error)
	drop = func(r rel) (rel, error) {
		if err := mapInputs(r, drop); err != nil {
			return nil, err
		}
		switch r := r.(type) {
		case *relAggregate:
			if len(r.calls) == 0 && !r.global && factsOf(r.in).isKey(r.keys) {
				return r.in, nil
			}
		case *relWindow:
			return r.dropIdle(), nil
		}
		return r, nil
	}
	return j.rewrite(drop)
}

// dropIdle replaces ranks by 1 where each partition has one row at most, which then has that rank.
func (w *relWindow) dropIdle() rel {
	if w.limit != nil && w.limit.Lo > 1 || !factsOf(w.in).isKey(w.partition) {
		return w
	}
	x := &relExtend{in: w.in}
	for i := range w.calls {
		if w.calls[i].kind > expr.WindowDenseRank {
			return w
		}
		x.items = append(x.items, extendItem{w.calls[i].id, bigint(1)})
	}
	return bare(x)
}
