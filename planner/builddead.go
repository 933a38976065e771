package planner

import (
	"fmt"

	"github.com/sluicesql/sluice/connectors/spi"
)

// addDeadLetters adds a sink for each scan that puts messages aside. They come after the job's own sinks, so that
// the numbers of all other nodes are those of the plan without them.
func addDeadLetters(p *Plan) error {
	var scans []*Scan
	p.Walk(func(n Node) {
		if s, ok := n.(*Scan); ok && s.Spec.DeadLetters != nil {
			scans = append(scans, s)
		}
	})
	for _, s := range scans {
		t := s.Spec.DeadLetters
		traits, err := s.Connector.CheckSink(t)
		if err != nil {
			return fmt.Errorf("dead letters of table %q: %w", s.Table, err)
		}
		props := Props{Mode: spi.AppendOnly, Bounded: s.Bounded}
		spec := spi.SinkSpec{Table: t, Mode: spi.AppendOnly, TimeZone: s.Spec.TimeZone}
		for i, c := range t.Columns {
			props.Columns = append(props.Columns, Column{c.Name, c.Type})
			spec.Columns = append(spec.Columns, i)
		}
		x := &Exchange{Props: props, Input: &DeadLetters{Props: props, Input: s}, Width: traits.Parallelism, Spread: traits.Parallelism == 0}
		p.Sinks = append(p.Sinks, &Sink{Props: props, Input: x, Connector: s.Connector, Table: t.Name, Spec: spec, Width: traits.Parallelism, Transactional: traits.Transactional})
	}
	return nil
}
