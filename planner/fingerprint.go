package planner

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/sluicesql/sluice/engine/expr"
)

// positionOptions are the options of a table that say what is read: state belongs to these inputs and is
// meaningless with others. Where a scan starts is not among them, nor are addresses, which change when a
// cluster moves.
var positionOptions = []string{"connector", "topic", "topic-pattern", "format", "key.format", "value.format", "key.fields",
	"key.fields-prefix", "value.fields-include", "path", "url", "table-name"}

// fingerprint identifies what the state of a plan means: its scans, and everything below and including its
// stateful nodes. What is above the last of them can change without making the state useless.
func fingerprint(p *Plan) string {
	stateful := map[Node]bool{}
	var mark func(Node)
	mark = func(n Node) {
		if stateful[n] {
			return
		}
		stateful[n] = true
		for _, in := range n.Inputs() {
			mark(in)
		}
	}
	p.walk(func(n Node) {
		switch n.(type) {
		case *Join, *Normalise, *Aggregate, *Scan, *Values:
			mark(n)
		}
	})
	h := sha256.New()
	p.walk(func(n Node) {
		if stateful[n] {
			describeState(h, n)
		}
	})
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// describeState writes what matters of a node to the state above it and in it.
func describeState(w io.Writer, n Node) {
	p := n.Out()
	fmt.Fprintf(w, "%d %T %s", p.ID, n, p.Mode)
	for _, c := range p.Columns {
		fmt.Fprintf(w, " %q %s", c.Name, c.Type)
	}
	for _, in := range n.Inputs() {
		fmt.Fprintf(w, " <%d", in.Out().ID)
	}
	switch n := n.(type) {
	case *Scan:
		fmt.Fprintf(w, " %q %v", n.Table, n.Spec.Key)
		for _, o := range positionOptions {
			if v, ok := n.Spec.Table.Options[o]; ok {
				fmt.Fprintf(w, " %s=%q", o, v)
			}
		}
	case *Values:
		fmt.Fprintf(w, " %v", n.Rows)
	case *Filter:
		fmt.Fprintf(w, " %s", anonymous(n.Cond))
	case *Project:
		for _, e := range n.Exprs {
			fmt.Fprintf(w, " %s,", anonymous(e))
		}
	case *Exchange:
		fmt.Fprintf(w, " %v %v %v %v", n.Key, n.Spread, n.ByRow, n.Nulls)
	case *Normalise:
		fmt.Fprintf(w, " %d %v %v %v", n.Kind, n.Key, n.Route, n.KeepNull)
	case *Aggregate:
		fmt.Fprintf(w, " %v %v", n.Key, n.Global)
		for _, c := range n.Calls {
			fmt.Fprintf(w, " %s %v %v %d %v %q", c.Fn.Name, c.Args, c.Distinct, c.Filter, c.Order, c.Separator)
		}
	case *Join:
		fmt.Fprintf(w, " %d %+v %+v", n.Kind, n.L, n.R)
		if n.Residual != nil {
			fmt.Fprintf(w, " %s", anonymous(n.Residual))
		}
	}
	fmt.Fprintln(w)
}

// anonymous is an expression with its columns by position, so that another alias is no other state.
func anonymous(e expr.Expr) expr.Expr {
	return expr.Remap(e, func(c *expr.Column) expr.Expr {
		return &expr.Column{Index: c.Index, Name: fmt.Sprintf("#%d", c.Index), T: c.T}
	})
}
