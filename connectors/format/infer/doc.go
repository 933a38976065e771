// Package infer tells from a sample of a topic's messages how to declare it as a table: which envelope they have,
// what the key is, and each column's type, by the schemas embedded in the messages or else by what the values show.
// What cannot be known from messages becomes a doubt, to be shown to whoever declares the table.
//
// Files: message.go recognises envelopes, value.go parses JSON with its numbers and the order of its fields, profile.go gathers
// what the values of a field look like, shown.go chooses a type by that, schema.go by an embedded schema, table.go puts a table together,
// check.go holds a table that is declared already against a sample, try.go reads a sample by a declaration.
package infer
