// Command duckoracle holds sluice to DuckDB over random queries and histories. It is a module of its own, since
// DuckDB's driver needs cgo and sluice does not.
package main

import (
	"database/sql"
	"strings"

	_ "github.com/duckdb/duckdb-go/v2" // the driver

	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/oracle"
)

// duckDB is the engine.
type duckDB struct{ db *sql.DB }

func open() (oracle.Engine, error) {
	db, err := sql.Open("duckdb", "?threads=1")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return duckDB{db}, nil
}

// Name implements oracle.Engine.
func (duckDB) Name() string { return "duckdb" }

// Query implements oracle.Engine. Tables are common table expressions, as with SQLite, but with the columns' types.
func (d duckDB) Query(tables []oracle.Content, views []oracle.View, query string, ts []types.Type) (map[string]int, error) {
	var with []oracle.View
	for _, t := range tables {
		var cols []string
		for _, c := range t.Columns {
			value := "NULL"
			if len(t.Rows) > 0 {
				value = c.Name
			}
			cols = append(cols, "CAST("+value+" AS "+strings.TrimSuffix(c.Type.String(), " NOT NULL")+") AS "+c.Name)
		}
		q := "SELECT " + strings.Join(cols, ", ")
		if len(t.Rows) == 0 {
			q += " WHERE FALSE"
		} else {
			q += " FROM (VALUES " + t.Values() + ") AS v(" + t.Names() + ")"
		}
		with = append(with, oracle.View{Name: t.Name, Query: q})
	}
	return oracle.QueryRows(d.db, oracle.With(append(with, views...), query), ts)
}
