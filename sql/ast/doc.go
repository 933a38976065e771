// Package ast holds the syntax tree of sluice's SQL: plain data, each node
// with its place in the user's text, so that syntax and binding errors alike
// can say file, line and column.
//
// The package imports the standard library only and has no behaviour beyond
// printing (String) and errors. Trees are built by sql/parser
// and read by the planner; nobody changes a tree after it was built.
//
// # Conventions
//
// The position of an operator expression (Binary, Is, Between, In, Like) is
// that of its operator, where a type error is best shown; every other node
// stands at its first token.
//
// Parentheses leave no node: String adds the ones that precedence asks for.
//
// Special call syntax is normalised to Call, words of the syntax becoming
// Symbol arguments or CallOption values; the table stands at Call.
package ast
