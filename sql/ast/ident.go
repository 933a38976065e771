package ast

// Ident is one name. Names are case-sensitive, as Flink's are.
type Ident struct {
	Pos Pos
	// Name is the name itself, without quotes.
	Name string
	// Quoted says that the user wrote it in backquotes.
	Quoted bool
}

// IsZero reports whether no name was written.
func (n Ident) IsZero() bool { return n.Name == "" }

// Position is the place of the name.
func (n Ident) Position() Pos { return n.Pos }

// Name is the name of a catalog object, of one to three parts:
// [catalog.][database.]object.
type Name struct {
	Pos   Pos
	Parts []Ident
}

// Base is the last part, the object's own name.
func (n Name) Base() Ident { return n.Parts[len(n.Parts)-1] }

// Position is the place of the first part.
func (n Name) Position() Pos { return n.Pos }
