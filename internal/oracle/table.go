// Package oracle holds sluice to a second engine: it runs a query over generated histories of changing tables and,
// after every epoch, compares its consolidated output with the query over the tables' content in that engine.
package oracle

import (
	"fmt"
	"strings"

	"github.com/sluicesql/sluice/engine/types"
)

// Table describes a table of both engines.
type Table struct {
	Name    string
	Columns []Column
	// Key are the primary key's columns; none makes the table a bag.
	Key []int
}

// Column is a column of a Table.
type Column struct {
	Name string
	Type types.Type
}

// DDL is the CREATE TABLE statement for sluice, over the memory connector.
func (t Table) DDL() string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s (", t.Name)
	for i, c := range t.Columns {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %s", c.Name, c.Type)
	}
	if len(t.Key) > 0 {
		var names []string
		for _, k := range t.Key {
			names = append(names, t.Columns[k].Name)
		}
		fmt.Fprintf(&b, ", PRIMARY KEY (%s) NOT ENFORCED", strings.Join(names, ", "))
	}
	fmt.Fprintf(&b, ") WITH ('connector' = 'mem', 'name' = '%s')", t.Name)
	return b.String()
}
