package oracle

import (
	"database/sql"
	"fmt"
	"strings"

	_ "modernc.org/sqlite" // the driver

	"github.com/sluicesql/sluice/engine/types"
)

// Engine is a second engine.
type Engine interface {
	// Name is "sqlite" or "duckdb": the dialect of the queries it takes.
	Name() string
	// Query returns the rows of a query over tables of the given contents with their numbers, each as Text writes a
	// row of the given types. Views may stand upon one another in their order.
	Query(tables []Content, views []View, query string, ts []types.Type) (map[string]int, error)
}

// View is a named query.
type View struct{ Name, Query string }

// SQLite is the engine modernc.org/sqlite.
type SQLite struct{ db *sql.DB }

// OpenSQLite opens an empty database in memory.
func OpenSQLite() (*SQLite, error) {
	// LIKE looks at case, as SQL's does and SQLite's by itself does not.
	db, err := sql.Open("sqlite", "file::memory:?_pragma=case_sensitive_like(1)")
	return &SQLite{db}, err
}

// Close closes the database.
func (s *SQLite) Close() error { return s.db.Close() }

// Name implements Engine.
func (s *SQLite) Name() string { return "sqlite" }

// Query implements Engine. Tables are common table expressions: a statement tells the whole case.
func (s *SQLite) Query(tables []Content, views []View, query string, ts []types.Type) (map[string]int, error) {
	var with []View
	for _, t := range tables {
		values := "VALUES " + t.Values()
		if len(t.Rows) == 0 {
			values = "SELECT " + strings.TrimSuffix(strings.Repeat("NULL, ", len(t.Columns)), ", ") + " WHERE FALSE"
		}
		with = append(with, View{t.Name + "(" + t.Names() + ")", values})
	}
	return QueryRows(s.db, With(append(with, views...), query), ts)
}

// With is a query over common table expressions.
func With(tables []View, query string) string {
	var b strings.Builder
	for i, t := range tables {
		b.WriteString([]string{"WITH ", ", "}[min(i, 1)])
		fmt.Fprintf(&b, "%s AS (%s)", t.Name, t.Query)
	}
	fmt.Fprintf(&b, " SELECT * FROM (%s) AS result", query)
	return b.String()
}

// QueryRows runs a query and returns its rows as Engine.Query does.
func QueryRows(db *sql.DB, query string, ts []types.Type) (map[string]int, error) {
	rows, err := db.Query(query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err tells of what matters
	vals := make([]any, len(ts))
	ptrs := make([]any, len(ts))
	for i := range vals {
		ptrs[i] = &vals[i]
	}
	parts := make([]string, len(ts))
	out := map[string]int{}
	for rows.Next() {
		if err := rows.Scan(ptrs...); err != nil {
			return nil, err
		}
		for i, v := range vals {
			if parts[i], err = ValueText(ts[i], v); err != nil {
				return nil, err
			}
		}
		out[strings.Join(parts, "|")]++
	}
	return out, rows.Err()
}
