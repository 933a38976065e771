// Package oracle holds the engine to its definition of correctness, the prefix oracle: after every epoch the
// consolidated output equals the query over the consolidated input. A second engine, SQLite, answers the query.
package oracle

import (
	"database/sql"
	"fmt"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/memconn"
)

// Table is a table of a test: integers and strings alone, which SQLite and the engine hold alike.
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

// DDL is the CREATE TABLE statement for the engine, over the memory connector.
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
		fmt.Fprintf(&b, ", PRIMARY KEY (%s) NOT ENFORCED", strings.Join(t.keyNames(), ", "))
	}
	fmt.Fprintf(&b, ") WITH ('connector' = 'mem', 'name' = '%s')", t.Name)
	return b.String()
}

func (t Table) keyNames() []string {
	var n []string
	for _, k := range t.Key {
		n = append(n, t.Columns[k].Name)
	}
	return n
}

// DB is the second engine with the tables' present content.
type DB struct {
	db     *sql.DB
	tables map[string]Table
}

// Open returns a database with the given tables, empty.
func Open(tables []Table) (*DB, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // each connection would have a memory of its own
	d := &DB{db: db, tables: map[string]Table{}}
	for _, t := range tables {
		d.tables[t.Name] = t
		var cols []string
		for _, c := range t.Columns {
			kind := "INTEGER"
			if c.Type.IsString() {
				kind = "TEXT"
			}
			cols = append(cols, c.Name+" "+kind)
		}
		if len(t.Key) > 0 {
			cols = append(cols, "PRIMARY KEY ("+strings.Join(t.keyNames(), ", ")+")")
		}
		if _, err := db.Exec("CREATE TABLE " + t.Name + " (" + strings.Join(cols, ", ") + ")"); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// Close closes the database.
func (d *DB) Close() error { return d.db.Close() }

// Apply applies one event as the engine must: by the key where there is one, whatever the row before says, and as
// a bag of rows otherwise.
func (d *DB) Apply(table string, e memconn.Event) error {
	t := d.tables[table]
	if e.Before != nil {
		if err := d.remove(t, e.Before); err != nil {
			return err
		}
	}
	if e.After == nil {
		return nil
	}
	marks := strings.TrimSuffix(strings.Repeat("?,", len(t.Columns)), ",")
	_, err := d.db.Exec("INSERT OR REPLACE INTO "+t.Name+" VALUES ("+marks+")", args(t, e.After, nil)...)
	return err
}

func (d *DB) remove(t Table, v []row.Datum) error {
	cols := t.Key
	if len(cols) == 0 {
		for i := range t.Columns {
			cols = append(cols, i)
		}
	}
	var conds []string
	for _, c := range cols {
		conds = append(conds, t.Columns[c].Name+" IS ?")
	}
	_, err := d.db.Exec(fmt.Sprintf("DELETE FROM %s WHERE rowid IN (SELECT rowid FROM %s WHERE %s LIMIT 1)", t.Name, t.Name, strings.Join(conds, " AND ")), args(t, v, cols)...)
	return err
}

func args(t Table, v []row.Datum, cols []int) []any {
	if cols == nil {
		for i := range t.Columns {
			cols = append(cols, i)
		}
	}
	var a []any
	for _, c := range cols {
		switch {
		case v[c].Null:
			a = append(a, nil)
		case t.Columns[c].Type.IsString():
			a = append(a, string(v[c].B))
		default:
			a = append(a, v[c].I)
		}
	}
	return a
}

// Query returns the rows of a query with their numbers, each as Text writes them.
func (d *DB) Query(query string) (map[string]int, error) {
	rows, err := d.db.Query(query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err tells of what matters
	cols, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	vals := make([]any, len(cols))
	ptrs := make([]any, len(cols))
	for i := range vals {
		ptrs[i] = &vals[i]
	}
	for rows.Next() {
		if err := rows.Scan(ptrs...); err != nil {
			return nil, err
		}
		parts := make([]string, len(cols))
		for i, v := range vals {
			parts[i] = "NULL"
			if v != nil {
				parts[i] = fmt.Sprint(v)
			}
		}
		out[strings.Join(parts, "|")]++
	}
	return out, rows.Err()
}

// Text writes a row of the given types as Query does.
func Text(r row.Row, ts []types.Type) string {
	parts := make([]string, len(ts))
	for i, t := range ts {
		switch {
		case r.IsNull(i):
			parts[i] = "NULL"
		case t.IsString():
			parts[i] = string(r.Bytes(i))
		default:
			parts[i] = fmt.Sprint(r.Int64(i))
		}
	}
	return strings.Join(parts, "|")
}
