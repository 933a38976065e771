package planner

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/types"
)

// SignatureVersion is the version of how signatures are made. State whose signatures are of another version cannot
// be told to fit.
const SignatureVersion = 1

// StateTables is the number of state tables that a node keeps; 0 says that it has no state.
func StateTables(n Node) int {
	switch n := n.(type) {
	case *Join:
		if n.Counts(0) || n.Counts(1) {
			return 4
		}
		return 2
	case *JoinMany:
		return len(n.Parts)
	case *Normalise:
		return 1
	case *Window:
		if n.Life.Timed { // the partitions' ages
			return 2
		}
		return 1
	case *Aggregate: // groups, accumulators' bytes, bags
		return 2 + len(n.Bags)
	}
	return 0
}

// Operator is a node with state, as a state directory knows it.
type Operator struct {
	Node Node
	// Signature says what the state means: the node and all that lies below it, by what it does and reads, whatever
	// the numbers, names and aliases in the plan. Equal operators of one plan are told apart by a suffix.
	Signature string
	// Title is its title in EXPLAIN, and Text the EXPLAIN of it and of what lies below, without numbers.
	Title, Text string
}

// Input is a source of the plan, as a state directory knows it.
type Input struct {
	Node Node // *Scan or *Values
	// Name is unique in the plan, and does not depend on what else is in it: positions are kept under it.
	Name string
	// Signature says what is read: another one has other positions.
	Signature string
}

// positionOptions are the options of a table that say what is read: state belongs to these inputs and is
// meaningless with others. Where a scan starts is not among them, nor are addresses, which change when a
// cluster moves.
var positionOptions = []string{"connector", "topic", "topic-pattern", "format", "key.format", "value.format", "key.fields",
	"key.fields-prefix", "value.fields-include", "path", "url", "table-name"}

// Operators are the nodes with state, inputs before the nodes that read them.
func (p *Plan) Operators() []Operator {
	s := newSigner(p)
	var ops []Operator
	seen := map[string]int{}
	p.Walk(func(n Node) {
		if StateTables(n) == 0 {
			return
		}
		title, _ := describe(n)
		ops = append(ops, Operator{Node: n, Signature: numbered(seen, s.sign(n)), Title: title, Text: explainBelow(n)})
	})
	return ops
}

// Inputs are the plan's sources.
func (p *Plan) Inputs() []Input {
	var ins []Input
	seen := map[string]int{}
	p.Walk(func(n Node) {
		var name string
		h := sha256.New()
		switch n := n.(type) {
		case *Scan:
			name = n.Table
			writePositions(h, n.Spec.Table.Options)
		case *Values:
			name = "VALUES " + short(fmt.Sprint(n.Rows))
		default:
			return
		}
		ins = append(ins, Input{n, numbered(seen, name), sum(h.Sum(nil))})
	})
	return ins
}

// SinkSignature says what a sink is given and how it is written.
func (p *Plan) SinkSignature(s *Sink) string {
	w := newSigner(p)
	w.output = true
	return w.sign(s)
}

// fingerprint identifies what all the state of a plan means.
func fingerprint(p *Plan) string {
	h := sha256.New()
	for _, o := range p.Operators() {
		fmt.Fprintln(h, o.Signature)
	}
	for _, in := range p.Inputs() {
		fmt.Fprintln(h, in.Name, in.Signature)
	}
	return sum(h.Sum(nil))
}

// numbered tells equal names apart.
func numbered(seen map[string]int, name string) string {
	seen[name]++
	if n := seen[name]; n > 1 {
		return fmt.Sprintf("%s/%d", name, n)
	}
	return name
}

func sum(b []byte) string { return hex.EncodeToString(b[:12]) }

func short(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:4])
}

func writePositions(w io.Writer, options spi.Options) {
	for _, o := range positionOptions {
		if v, ok := options[o]; ok {
			fmt.Fprintf(w, " %s=%q", o, v)
		}
	}
}

// signer makes the signatures of a plan's nodes.
type signer struct {
	zone   string
	output bool // signs what comes out, not what state means
	made   map[Node]string
}

func newSigner(p *Plan) *signer {
	return &signer{zone: p.Options[OptTimeZone], made: map[Node]string{}}
}

func (s *signer) sign(n Node) string {
	if done, ok := s.made[n]; ok {
		return done
	}
	var b strings.Builder
	s.write(&b, n)
	h := sha256.Sum256([]byte(b.String()))
	s.made[n] = sum(h[:])
	return s.made[n]
}

func (s *signer) write(b *strings.Builder, n Node) {
	p := n.Out()
	fmt.Fprintf(b, "%d %T %s", SignatureVersion, n, p.Mode)
	for _, c := range p.Columns {
		fmt.Fprintf(b, " %s", c.Type)
		s.addZone(b, c.Type)
	}
	switch n := n.(type) {
	case *Scan:
		fmt.Fprintf(b, " %q %v", n.Table, n.Spec.Key)
		for _, c := range n.Spec.Columns { // by name, which is how a format finds them
			fmt.Fprintf(b, " %q", n.Spec.Table.Columns[c].Name)
		}
		writePositions(b, n.Spec.Table.Options)
	case *Values:
		fmt.Fprintf(b, " %v", n.Rows)
	case *Join:
		j := *n
		if j.Kind == InnerJoin && !s.output {
			j.Residual = nil // it says which pairs come out; the state holds the sides' rows
		}
		j.Single = "" // a place in the text
		s.fields(b, reflect.ValueOf(j))
	case *Sink:
		fmt.Fprintf(b, " %q %v %v %v", n.Table, n.Spec.Columns, n.Spec.Key, n.Spec.Mode)
		writePositions(b, n.Spec.Table.Options)
	default:
		s.fields(b, reflect.ValueOf(n).Elem())
	}
	for _, in := range n.Inputs() {
		fmt.Fprintf(b, " <%s", s.sign(in))
	}
}

// addZone notes the session's time zone where values depend on it.
func (s *signer) addZone(b *strings.Builder, t types.Type) {
	if t.Kind == types.TimestampLTZ {
		fmt.Fprintf(b, "@%s", s.zone)
	}
}

var (
	nodeType  = reflect.TypeFor[Node]()
	exprType  = reflect.TypeFor[expr.Expr]()
	propsType = reflect.TypeFor[Props]()

	lifetimeType = reflect.TypeFor[Lifetime]()
)

// fields writes what a node says of itself: every field counts that is not known to be for people alone, so that
// what a new kind of node adds is never left out.
func (s *signer) fields(b *strings.Builder, v reflect.Value) {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Type == lifetimeType {
			if v.Field(i).Interface().(Lifetime).Timed { // how long it lives says nothing of what it is
				b.WriteString(" timed")
			}
			continue
		}
		if !f.IsExported() || f.Type == propsType || f.Name == "Why" || f.Type.Implements(nodeType) || f.Type.Kind() == reflect.Slice && f.Type.Elem().Implements(nodeType) {
			continue
		}
		fmt.Fprintf(b, " %s=", f.Name)
		s.value(b, v.Field(i))
	}
}

func (s *signer) value(b *strings.Builder, v reflect.Value) {
	if v.Type().Implements(exprType) {
		if v.Kind() == reflect.Interface && v.IsNil() {
			b.WriteString("none")
			return
		}
		s.expr(b, v.Interface().(expr.Expr))
		return
	}
	if t, ok := v.Interface().(types.Type); ok {
		b.WriteString(t.String())
		return
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		b.WriteByte('[')
		for i := range v.Len() {
			s.value(b, v.Index(i))
			b.WriteByte(' ')
		}
		b.WriteByte(']')
	case reflect.Struct:
		b.WriteByte('{')
		s.fields(b, v)
		b.WriteByte('}')
	case reflect.Pointer, reflect.Interface:
		switch {
		case v.IsNil():
			b.WriteString("none")
		case isFunction(v.Elem()):
			b.WriteString(v.Elem().FieldByName("Name").String())
		default:
			s.value(b, v.Elem())
		}
	case reflect.Func, reflect.Chan, reflect.Map, reflect.UnsafePointer:
		panic(fmt.Sprintf("planner: no signature can be made of a %s", v.Type()))
	default:
		fmt.Fprintf(b, "%v", v.Interface())
	}
}

// isFunction reports whether v declares a function, which its name identifies: *expr.Function and its like.
func isFunction(v reflect.Value) bool {
	if v.Kind() != reflect.Struct || v.FieldByName("Name").Kind() != reflect.String {
		return false
	}
	for i := range v.NumField() {
		if v.Field(i).Kind() == reflect.Func {
			return true
		}
	}
	return false
}

// expr writes an expression with its columns by position, so that another alias is no other state.
func (s *signer) expr(b *strings.Builder, e expr.Expr) {
	zone := false
	expr.Walk(e, func(e expr.Expr) bool {
		switch e.Type().Kind {
		case types.Date, types.Time, types.Timestamp, types.TimestampLTZ:
			zone = true
		}
		return true
	})
	fmt.Fprintf(b, "%s:%s", expr.Remap(e, func(c *expr.Column) expr.Expr {
		return &expr.Column{Index: c.Index, Name: fmt.Sprintf("#%d", c.Index), T: c.T}
	}), e.Type())
	if zone {
		fmt.Fprintf(b, "@%s", s.zone)
	}
}

// Components divides the nodes into sets that have no node in common and read nothing from each other, each in
// the plan's order.
func (p *Plan) Components() [][]Node {
	root := map[Node]Node{}
	find := func(n Node) Node {
		for root[n] != n {
			n = root[n]
		}
		return n
	}
	var all []Node
	p.Walk(func(n Node) {
		root[n] = n
		all = append(all, n)
		for _, in := range n.Inputs() {
			root[find(in)] = n
		}
	})
	var roots []Node
	parts := map[Node][]Node{}
	for _, n := range all {
		r := find(n)
		if parts[r] == nil {
			roots = append(roots, r)
		}
		parts[r] = append(parts[r], n)
	}
	out := make([][]Node, len(roots))
	for i, r := range roots {
		out[i] = parts[r]
	}
	return out
}
