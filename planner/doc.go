// Package planner turns statements into plans: it binds names and types, rewrites the queries by a list of
// rules, and chooses changelog modes, state layouts and exchanges. A plan is pure data (plan.go); nothing
// here runs or connects.
//
// The way of a script through the package:
//
//	session.go       Session.Run: statements in order, jobs out
//	ddl.go, …        CREATE TABLE and VIEW into the catalog, options checked against declarations
//	bind*.go         queries into logical trees (rel.go), names into numbered columns (scope.go)
//	rules.go         the list of rewrites, by phase; each rule in a file of its own (rule*.go)
//	build*.go        logical trees into physical nodes
//	facts.go         what both know of a node's rows: unique keys, equal columns, constants
//	dependency.go    and which columns determine others
//	explain.go       the plan as text
//
// All mistakes in SQL are *ast.Error: file, line, column, what is wrong, what to do.
package planner
