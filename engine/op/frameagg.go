package op

import (
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// frameAggregate is an aggregate over frames that move forward over a partition: rows that come in are added and rows
// that leave are taken away again, where the accumulator can do that; MIN and MAX begin anew when a row leaves.
type frameAggregate struct {
	accs     accSet
	call     compiledCall
	filter   int
	oneWay   bool // nothing can be taken away
	v        []byte
	tail     []byte
	spare    []byte
	from, to int
}

func (f *frameAggregate) compile(ts []types.Type, c *AggregateCall) error {
	f.accs = accSet{types: ts, words: 1}
	f.filter = c.Filter
	call, err := f.accs.compile(c)
	if err != nil {
		return err
	}
	f.call = call
	f.v = make([]byte, 8*f.accs.words)
	if call.acc >= 0 {
		switch f.accs.accs[call.acc].accumulator.(type) {
		case *intExtreme, *extreme:
			f.oneWay = true
		}
	}
	return nil
}

// begin goes to the start of another partition.
func (f *frameAggregate) begin() {
	f.from, f.to = 0, 0
	clear(f.v)
	f.tail = f.tail[:0]
}

// result moves to the rows from (included) to (excluded), and sets column col to the aggregate of them.
func (f *frameAggregate) result(rows []row.Row, from, to int, b *row.Builder, col int) error {
	to = max(from, to)
	if from >= f.to || f.oneWay && from > f.from || from < f.from || to < f.to {
		f.begin()
		f.from, f.to = from, from
	}
	for ; f.to < to; f.to++ {
		f.add(rows[f.to], 1)
	}
	for ; f.from < from; f.from++ {
		f.add(rows[f.from], -1)
	}
	g := group{v: f.v, tail: f.tail}
	if f.call.acc >= 0 {
		g.v = f.v[8*f.accs.accs[f.call.acc].at:]
	}
	return f.call.result(&g, b, col)
}

func (f *frameAggregate) add(r row.Row, w int64) {
	setWord(f.v, 0, word(f.v, 0)+w)
	if f.call.acc < 0 || !counts(f.filter, r) {
		return
	}
	acc := f.accs.accs[f.call.acc]
	acc.add(f.v[8*acc.at:], r, w)
	if t, ok := acc.accumulator.(tailed); ok {
		f.spare = t.addTail(f.spare[:0], f.tail, r, w)
		f.tail, f.spare = f.spare, f.tail
	}
}
