package op

import (
	"strings"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/fault"
)

// Completer fills in the values that the events of an upsert stream left out because they did not change, from the
// rows that the state keeps. Nil is for streams without such values.
type Completer struct {
	// Columns are those whose values may be left out, of rows of the types Phys.
	Columns []int
	Phys    []types.Phys
	// NotNull are the columns that may not be NULL. Null makes a value NULL that is not known; otherwise, and for those
	// columns, that is an error.
	NotNull []bool
	Null    bool
	// Names are the columns' names, Table is the table's, Describe writes a row, and Fix says what to do: for errors.
	Names    []string
	Table    string
	Describe func(row.Row) string
	Fix      string

	rb  row.Builder
	buf []byte
}

// complete is r with the values that were left out taken from old, the row of r's key; nil when none is known. The
// result is valid until the next call.
func (c *Completer) complete(r, old row.Row) (row.Row, error) {
	if c == nil {
		return r, nil
	}
	for _, col := range c.Columns {
		if r.Unavailable(col) {
			return c.fill(r, old)
		}
	}
	return r, nil
}

func (c *Completer) fill(r, old row.Row) (row.Row, error) {
	var unknown []string
	c.rb.Begin(c.buf[:0], len(c.Phys))
	for i, p := range c.Phys {
		switch {
		case !r.Unavailable(i):
			c.rb.Copy(i, r, i, p)
		case old != nil:
			c.rb.Copy(i, old, i, p)
		case !c.Null || c.NotNull[i]:
			unknown = append(unknown, c.Names[i])
		}
	}
	c.buf = c.rb.Finish(c.Phys)
	if unknown != nil {
		return nil, fault.Errorf(fault.MessageUnavailable, "%s: an event did not send %s, which did not change (a value that PostgreSQL stores apart, TOAST), and no row is known to take it from: %s",
			c.Table, strings.Join(unknown, ", "), c.Describe(r)).Fix("%s", c.Fix)
	}
	return c.buf, nil
}
