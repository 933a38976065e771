package runtime

import (
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/op"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/planner"
)

// meter is what one instance measures of one node.
type meter struct {
	in     []int64 // changes, by port
	out    int64
	by     planner.Node // the join that does a projection's work; nil for others
	time   time.Duration
	tables []*state.Table
	// Of tables, at the last barrier.
	rows, bytes int64
}

// meters measure the nodes of one instance when Config.Measure asks for it; nil otherwise: what is in the way of a
// batch is put there when the instance is built, so that jobs that are not measured pay nothing.
//
// An instance is one goroutine, in which one node's operator calls the next one's. Time goes to one meter at any
// moment: to enter a node is to leave the one before, until the call returns.
type meters struct {
	of    map[planner.Node]*meter
	idle  meter // takes the time in which no node is at work, or waits for another goroutine
	at    *meter
	since time.Time
}

func newMeters() *meters {
	m := &meters{of: map[planner.Node]*meter{}}
	m.at, m.since = &m.idle, time.Now()
	return m
}

// node is the meter of n; nil when nothing is measured.
func (m *meters) node(n planner.Node) *meter {
	if m == nil {
		return nil
	}
	if m.of[n] == nil {
		m.of[n] = &meter{in: make([]int64, len(n.Inputs()))}
	}
	return m.of[n]
}

// enter has time go to another meter from now on, and returns the one before. It does nothing when nothing is measured.
func (m *meters) enter(to *meter) (from *meter) {
	if m == nil {
		return nil
	}
	now := time.Now()
	m.at.time += now.Sub(m.since)
	from, m.at, m.since = m.at, to, now
	return from
}

// fuse notes that the join below a projection does its work.
func (m *meters) fuse(p *planner.Project) {
	if m != nil {
		m.node(p).by = p.Input
	}
}

// noteState keeps the sizes of the nodes' tables.
func (m *meters) noteState() {
	if m == nil {
		return
	}
	for _, n := range m.of {
		n.rows, n.bytes = 0, 0
		for _, t := range n.tables {
			n.rows += t.Rows()
			n.bytes += t.Bytes()
		}
	}
}

// measureNode has what was built for node n measured: its inputs, and what it does at barriers, which are in.barrier
// from first on.
func (in *instance) measureNode(n planner.Node, first int) {
	m := in.meters.node(n)
	if m == nil {
		return
	}
	for port, next := range in.inputs[n] {
		in.inputs[n][port] = &measuredInput{in.meters, m, port, next}
	}
	for i, o := range in.barrier[first:] {
		if _, done := o.(*measuredBarrier); !done { // as that of an exchange behind n
			in.barrier[first+i] = &measuredBarrier{in.meters, m, o}
		}
	}
}

// measureOutput counts what node n gives to out.
func (in *instance) measureOutput(n planner.Node, out op.Output) op.Output {
	if m := in.meters.node(n); m != nil {
		return &measuredOutput{m, out}
	}
	return out
}

// measureExchange measures the sending half of a link. An exchange that several nodes read has a link for each, of
// which the first counts.
func (b *builder) measureExchange(in *instance, l *link, r *op.Router) (op.Output, op.Operator) {
	if in.meters == nil || l.exchange == nil {
		return r, r
	}
	m := in.meters.node(l.exchange)
	to := &measuredInput{in.meters, m, 0, r}
	if !b.first(l) {
		to.port = uncounted
	}
	return to, &measuredBarrier{in.meters, m, r}
}

// first reports whether a link is the first of its exchange.
func (b *builder) first(l *link) bool {
	for _, other := range b.graph.links {
		if other.exchange == l.exchange {
			return other == l
		}
	}
	return false
}

// uncounted is the port of what is counted elsewhere.
const uncounted = -1

// measuredInput has the time in an operator go to its node, and counts what it is given.
type measuredInput struct {
	meters *meters
	m      *meter
	port   int
	next   op.Output
}

// Push implements op.Output.
func (i *measuredInput) Push(b *changelog.Batch) error {
	if i.port != uncounted {
		i.m.in[i.port] += int64(b.Len())
	}
	from := i.meters.enter(i.m)
	err := i.next.Push(b)
	i.meters.enter(from)
	return err
}

// measuredOutput counts what a node gives.
type measuredOutput struct {
	m    *meter
	next op.Output
}

// Push implements op.Output.
func (o *measuredOutput) Push(b *changelog.Batch) error {
	o.m.out += int64(b.Len())
	return o.next.Push(b)
}

// measuredBarrier has the time of a barrier go to a node.
type measuredBarrier struct {
	meters *meters
	m      *meter
	next   op.Operator
}

// Barrier implements op.Operator.
func (o *measuredBarrier) Barrier() error {
	from := o.meters.enter(o.m)
	err := o.next.Barrier()
	o.meters.enter(from)
	return err
}

// measuredSender takes the time in which a producer waits for a free batch from the exchange.
type measuredSender struct {
	meters *meters
	op.Sender
}

func (in *instance) measureSender(e *edge) op.Sender {
	if in.meters == nil {
		return e
	}
	return measuredSender{in.meters, e}
}

// Batch implements op.Sender.
func (s measuredSender) Batch() (*changelog.Batch, error) {
	from := s.meters.enter(&s.meters.idle)
	b, err := s.Sender.Batch()
	s.meters.enter(from)
	return b, err
}

// measuredReader has the time in which messages are decoded go to the scan.
type measuredReader struct {
	spi.Reader
	meters *meters
	m      *meter
}

func (in *instance) measureReader(r spi.Reader) spi.Reader {
	if in.meters == nil {
		return r
	}
	return &measuredReader{r, in.meters, in.meters.node(in.frag.scan)}
}

// Read implements spi.Reader.
func (r *measuredReader) Read(b *changelog.Batch, most int) (int, error) {
	from := r.meters.enter(r.m)
	n, err := r.Reader.Read(b, most)
	r.meters.enter(from)
	return n, err
}

// DeadLetters implements spi.DeadLetterReader, for a reader that does.
func (r *measuredReader) DeadLetters(b *changelog.Batch) {
	r.Reader.(spi.DeadLetterReader).DeadLetters(b)
}

// Measure adds to the nodes of an explanation of the job's plan what was measured. It is for a job that was started
// with Config.Measure and has ended.
func (j *Job) Measure(e *planner.Explanation) {
	stats := j.Stats()
	e.Run = &planner.ExplainedRun{Elapsed: stats.Elapsed, Epochs: stats.Epochs, Shards: j.cfg.Parallelism}
	nodes := map[int]*planner.Measured{}
	for _, n := range e.Nodes {
		n.Measured = &planner.Measured{In: make([]int64, len(n.Inputs))}
		nodes[n.ID] = n.Measured
	}
	add := func(in *instance) {
		for n, m := range in.meters.of {
			to := nodes[n.Out().ID]
			for port, changes := range m.in {
				to.In[port] += changes
			}
			to.Out += m.out
			to.Time += m.time
			if m.by != nil {
				to.By = m.by.Out().ID
			}
			to.StateRows += m.rows
			to.StateBytes += m.bytes
		}
	}
	for _, t := range j.shards {
		add(t.inst)
		for _, s := range t.inst.sinks {
			nodes[s.node.ID].Out += s.rows.Load()
		}
	}
	for _, t := range j.readers {
		add(t.inst)
	}
	for _, n := range nodes {
		if n.By != 0 { // rows that a join makes are projected before anybody could count them
			n.In[0], nodes[n.By].Out = n.Out, n.Out
		}
	}
}
