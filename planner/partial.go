package planner

import (
	"slices"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/types"
)

// keepsRows reports whether the table's rows are to be kept whole before anything reads them.
func (s *sourceInfo) keepsRows() bool {
	return s.mode == spi.Upsert && s.traits.Partial != nil && s.traits.Partial.Keep
}

// markPartial tells the scans whose events leave out values for which columns they may do so: those that nothing
// reads before the rows are kept, where the values are known.
func markPartial(p *Plan) {
	p.Walk(func(n Node) {
		switch n := n.(type) {
		case *Normalise:
			if n.Kind == NormaliseRows {
				markUnread(n.Input, unreadBut(n.Input, n.Key))
			}
		case *Join:
			n.L.markUnread(n.Left)
			n.R.markUnread(n.Right)
		case *JoinMany:
			for i, in := range n.Parts {
				n.Sides[i].markUnread(in)
			}
		}
	})
}

func (s *JoinSide) markUnread(in Node) {
	if s.Upsert {
		markUnread(in, unreadBut(in, slices.Concat(s.Key, s.Unique, s.Scatter)))
	}
}

// unreadBut says of each column of n that it is not read, but for the given ones.
func unreadBut(n Node, read []int) []bool {
	unread := make([]bool, len(n.Out().Columns))
	for i := range unread {
		unread[i] = !slices.Contains(read, i)
	}
	return unread
}

// markUnread marks the columns of the scan below n that are unread in n's output and on the way there.
func markUnread(n Node, unread []bool) {
	read := func(cols []int) {
		for _, c := range cols {
			unread[c] = false
		}
	}
	switch n := n.(type) {
	case *Scan:
		if n.Partial == nil {
			return
		}
		for i, c := range n.Columns {
			if physical := n.Spec.Table.Columns[n.Spec.Columns[i]].Metadata == ""; physical && unread[i] && c.Type.Phys() == types.PhysBytes {
				n.Spec.Partial = append(n.Spec.Partial, i)
			}
		}
	case *Filter:
		read(expr.ColumnsOf(n.Cond))
		markUnread(n.Input, unread)
	case *Exchange:
		read(n.Key)
		read(n.Scatter)
		markUnread(n.Input, unread)
	case *Normalise:
		if n.Kind == NormaliseIndex {
			read(n.Key)
			read(n.Route)
			markUnread(n.Input, unread)
		}
	case *Project:
		below := unreadBut(n.Input, nil)
		for i, e := range n.Exprs {
			if _, passed := e.(*expr.Column); passed && unread[i] {
				continue
			}
			for _, c := range expr.ColumnsOf(e) {
				below[c] = false
			}
		}
		markUnread(n.Input, below)
	}
}

// PartialColumns are the columns of n's rows whose values may have been left out by the events of the scan that is
// returned with them; nil for none.
func PartialColumns(n Node) (*Scan, []int) {
	switch n := n.(type) {
	case *Scan:
		if len(n.Spec.Partial) > 0 {
			return n, n.Spec.Partial
		}
	case *Filter:
		return PartialColumns(n.Input)
	case *Exchange:
		return PartialColumns(n.Input)
	case *Normalise:
		if n.Kind == NormaliseIndex {
			return PartialColumns(n.Input)
		}
	case *Project:
		scan, below := PartialColumns(n.Input)
		var cols []int
		for i, e := range n.Exprs {
			if c, ok := e.(*expr.Column); ok && slices.Contains(below, c.Index) {
				cols = append(cols, i)
			}
		}
		if len(cols) > 0 {
			return scan, cols
		}
	}
	return nil, nil
}
