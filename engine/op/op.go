// Package op holds the operators: pieces that take batches of changes, keep what state they need, and
// push the changes of their result on. Each instance is used by one goroutine.
package op

import (
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/types"
)

// Output takes changes.
type Output interface {
	// Push borrows b until it returns.
	Push(b *changelog.Batch) error
}

// port is one input of an operator that has several.
type port struct {
	of interface {
		push(port int, b *changelog.Batch) error
	}
	number int
}

// Push implements Output.
func (p port) Push(b *changelog.Batch) error { return p.of.push(p.number, b) }

// Operator is an Output that holds something back until a barrier, or checks something there.
type Operator interface {
	// Barrier ends an epoch: all inputs have delivered what belongs to it. What the operator still holds is
	// pushed on before Barrier returns.
	Barrier() error
}

// Phys are the physical forms of columns of the given types.
func Phys(ts []types.Type) []types.Phys {
	p := make([]types.Phys, len(ts))
	for i, t := range ts {
		p[i] = t.Phys()
	}
	return p
}

// Tee pushes every batch to several outputs, in order.
type Tee []Output

// Push implements Output.
func (t Tee) Push(b *changelog.Batch) error {
	for _, o := range t {
		if err := o.Push(b); err != nil {
			return err
		}
	}
	return nil
}

// flushRows and flushBytes bound the batches that operators hand on.
const (
	flushRows  = 1024
	flushBytes = 256 << 10
)

// full reports whether an output batch should be handed on.
func full(b *changelog.Batch) bool { return b.Len() >= flushRows || b.Size() >= flushBytes }

// flush hands on what b holds and empties it.
func flush(b *changelog.Batch, next Output) error {
	if b.Len() == 0 {
		return nil
	}
	err := next.Push(b)
	b.Reset()
	return err
}
