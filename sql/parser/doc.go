// Package parser reads sluice's SQL, a dialect of Flink SQL, into the tree of
// sql/ast. It is the only place that knows github.com/xwb1989/sqlparser.
//
// # How a text becomes a tree
//
// The lexer (lexer.go) cuts the whole text into tokens with positions and
// pairs up the brackets. Statements and expressions are read by recursive
// descent and by precedence climbing (expr.go), with Calcite's precedences.
//
// The skeleton of a query (its clauses, joins, derived tables, unions and
// their nesting) is sqlparser's work. Its grammar is MySQL's of 2018 and
// lenient, so it sees none of the user's text: skeleton.go and from.go write
// a new text made of sqlparser's own keywords and of placeholders in
// backquotes, `7:users`, each the number of a slot that holds what was read
// from the tokens with its position. lift.go turns what sqlparser gives back
// into our tree, by a list of the nodes and fields that may occur; every slot
// has to be met exactly once, so that no clause can be dropped in silence.
//
// What that grammar lacks (WITH, EXCEPT and INTERSECT, VALUES, hints, table
// functions, UNNEST, QUALIFY, windows) stays on our side, in query.go and in
// slots.
//
// # Errors
//
// A function that finds a mistake panics with a bailout, which Parse
// recovers at the statement; so the grammar reads without an error check
// after every token. Parsing goes on at the next statement, up to MaxErrors.
package parser
