package op

import "github.com/sluicesql/sluice/engine/changelog"

// Repeat passes on each row as often as a column says.
type Repeat struct {
	times int
	next  Output
	out   changelog.Batch
}

// NewRepeat returns the operator; times is the index of a column of integers, of which those below one give nothing.
func NewRepeat(times int, next Output) *Repeat { return &Repeat{times: times, next: next} }

// Push implements Output. The halves of an update may come different times, so that they become deletes and inserts.
func (p *Repeat) Push(b *changelog.Batch) error {
	for i := range b.Len() {
		op, r := changelog.Insert, b.Row(i)
		if b.Op(i).Negative() {
			op = changelog.Delete
		}
		for n := r.Int64(p.times); n > 0; n-- {
			p.out.AppendRow(op, r)
			if full(&p.out) {
				if err := flush(&p.out, p.next); err != nil {
					return err
				}
			}
		}
	}
	return flush(&p.out, p.next)
}
