package ast

import "strconv"

// Pos is a place in a user's text. The zero Pos is invalid and means that the
// node was made, not read.
type Pos struct {
	// File is the name by which the user knows the text.
	File string
	// Line counts from 1.
	Line int
	// Col counts characters (runes, a tab is one) from 1.
	Col int
	// Offset counts bytes from the start of the text.
	Offset int
}

// IsValid reports whether p is a place in a text.
func (p Pos) IsValid() bool { return p.Line > 0 }

// String gives file:line:col, or line:col for a text without a name.
func (p Pos) String() string {
	if !p.IsValid() {
		return p.File
	}
	s := strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Col)
	if p.File == "" {
		return s
	}
	return p.File + ":" + s
}

// Node is anything of the tree that has a place.
type Node interface {
	// Position is the place of the node, as the package comment defines it.
	Position() Pos
}
