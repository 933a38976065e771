// Package house holds the rules about the project as a whole that the compiler
// does not know, as tests: which room may import which, who may use a guarded
// dependency, and that nothing registers itself behind the reader's back.
package house
