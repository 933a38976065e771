package oracle

import (
	"bytes"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/internal/memconn"
)

// Content is what a table holds at present.
type Content struct {
	Table
	Rows [][]row.Datum
}

// Apply applies one event as the engine must: by the key where there is one, whatever the row before says, and as
// a bag of rows otherwise.
func (c *Content) Apply(e memconn.Event) {
	if e.Before != nil {
		c.remove(e.Before)
	}
	if e.After == nil {
		return
	}
	if len(c.Key) > 0 {
		c.remove(e.After)
	}
	c.Rows = append(c.Rows, e.After)
}

// remove takes out the row that equals v in the key, or in all columns where there is none.
func (c *Content) remove(v []row.Datum) {
	cols := c.Key
	if len(cols) == 0 {
		for i := range c.Columns {
			cols = append(cols, i)
		}
	}
	same := func(r []row.Datum) bool {
		return !slices.ContainsFunc(cols, func(i int) bool { return !equal(r[i], v[i]) })
	}
	if i := slices.IndexFunc(c.Rows, same); i >= 0 {
		c.Rows = slices.Delete(c.Rows, i, i+1)
	}
}

func equal(a, b row.Datum) bool {
	return a.Null == b.Null && a.I == b.I && a.Hi == b.Hi && bytes.Equal(a.B, b.B)
}

// Values writes the rows for VALUES, in words that every engine reads: "(1, 'a'), (2, NULL)". It is empty for a
// table without rows.
func (c *Content) Values() string {
	var b []byte
	for _, r := range c.Rows {
		if b != nil {
			b = append(b, ", "...)
		}
		b = append(b, '(')
		for i, d := range r {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendLiteral(b, c.Columns[i].Type, d)
		}
		b = append(b, ')')
	}
	return string(b)
}

// Names are the columns' names, separated by commas.
func (c *Content) Names() string {
	var names []string
	for _, col := range c.Columns {
		names = append(names, col.Name)
	}
	return strings.Join(names, ", ")
}
