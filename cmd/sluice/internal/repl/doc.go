// Package repl holds the parts of the interactive shell that know nothing of jobs: the line editor with its history,
// completion and colours, the texts of HELP, the pager, and the viewer of a result that goes on changing.
package repl
