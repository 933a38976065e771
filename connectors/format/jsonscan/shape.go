package jsonscan

// Member is a member wanted of an object.
type Member struct {
	Name string
	// Sub is the shape of the member's own members, where it is an object and they are wanted; else nil.
	Sub *Shape
	// Constant says that the value is an object, mostly with the same bytes as in the message before, so that
	// a comparison takes the place of reading it. Its token's I then tells versions apart: it differs from that
	// of the message before when the bytes do.
	Constant bool
}

// constant is the last value of a Constant member.
type constant struct {
	bytes   []byte
	depth   int
	version int64
}

// Shape names the members wanted of an object and holds what the last object of this shape had. It
// learns the layout of the objects it is used for: use one Shape for one stream of messages, at one place
// within them, with one Scanner.
type Shape struct {
	members []Member
	toks    []Token
	// constants are by member; nil when no member is Constant.
	constants []constant
	prog      program
}

// NewShape returns a shape of the given members, whose names are distinct.
func NewShape(members []Member) *Shape {
	sh := &Shape{members: members, toks: make([]Token, len(members))}
	for i := range members {
		if members[i].Constant {
			sh.constants = make([]constant, len(members))
		}
	}
	return sh
}

// Token is member k of the object scanned last; Absent when it had none of that name. It is valid until
// the shape is used again. The tokens of a sub-shape count only while the member's own token is an Object.
func (sh *Shape) Token(k int) *Token { return &sh.toks[k] }

// Tokens are the tokens of all members, in order.
func (sh *Shape) Tokens() []Token { return sh.toks }

// Misses is the number of objects so far that had not the layout of the ones before, the first of them included.
func (sh *Shape) Misses() int { return sh.prog.misses }

// Len is the number of members.
func (sh *Shape) Len() int { return len(sh.members) }

// find is the member of the given name, tried from hint on, or −1.
func (sh *Shape) find(name []byte, hint int) int {
	for k := hint; k < len(sh.members); k++ {
		if sh.members[k].Name == string(name) {
			return k
		}
	}
	for k := range min(hint, len(sh.members)) {
		if sh.members[k].Name == string(name) {
			return k
		}
	}
	return -1
}

// Scan reads a whole message into t, and the members that sh wants when it is an object. sh may be nil.
// The error is a *SyntaxError.
func (s *Scanner) Scan(msg []byte, sh *Shape, t *Token) error {
	s.buf = msg
	i := s.member(s.space(0), 0, sh, t)
	if i < 0 {
		return s.err()
	}
	if i = s.space(i); i != len(msg) {
		s.bad(i, "the end of the message")
		return s.err()
	}
	return nil
}

// Elements calls f for each element of an array that s has scanned, with the element's token; elements that
// are objects are scanned into sub, which may be nil. It ends at the first error of f, which may scan within
// msg alone.
func (s *Scanner) Elements(msg []byte, array *Token, sub *Shape, f func(t *Token) error) error {
	s.buf = msg
	var t Token
	i := s.space(array.Start + 1)
	for msg[i] != ']' {
		i = s.space(s.member(i, 1, sub, &t))
		if err := f(&t); err != nil {
			return err
		}
		if msg[i] == ',' {
			i = s.space(i + 1)
		}
	}
	return nil
}

// Members calls f for each member of an object that s has scanned, in the order they stand in, with its
// name's token and its value's; values that are objects are scanned into sub, which may be nil. It ends at
// the first error of f, which may scan within msg alone.
func (s *Scanner) Members(msg []byte, object *Token, sub *Shape, f func(name, value *Token) error) error {
	s.buf = msg
	var name, value Token
	i := s.space(object.Start + 1)
	for msg[i] != '}' {
		i = s.colon(s.value(i, 1, &name))
		i = s.space(s.member(i, 1, sub, &value))
		if err := f(&name, &value); err != nil {
			return err
		}
		if msg[i] == ',' {
			i = s.space(i + 1)
		}
	}
	return nil
}

// Object reads the members that sh wants of an object in msg that s has scanned.
func (s *Scanner) Object(msg []byte, object *Token, sh *Shape) {
	s.buf = msg
	s.object(sh, object.Start, 1)
}

// member reads the value at i into t, and into sh when it is an object.
func (s *Scanner) member(i, depth int, sh *Shape, t *Token) int {
	if sh == nil || i >= len(s.buf) || s.buf[i] != '{' {
		return s.value(i, depth, t)
	}
	end := s.object(sh, i, depth+1)
	t.Kind, t.Start, t.End = Object, i, end
	return end
}

// constant reads the value at i of sh's member k, which is mostly the same as in the message before.
func (s *Scanner) constant(sh *Shape, k, i, depth int) int {
	c, t := &sh.constants[k], &sh.toks[k]
	// An object's bytes end with it, so that equal bytes are an equal value, which was checked before.
	if n := len(c.bytes); n > 0 && c.depth == depth && len(s.buf)-i >= n && string(s.buf[i:i+n]) == string(c.bytes) {
		t.Kind, t.Start, t.End, t.I = Object, i, i+n, c.version
		return i + n
	}
	end := s.value(i, depth, t)
	if end >= 0 && t.Kind == Object {
		c.bytes, c.depth = append(c.bytes[:0], s.buf[i:end]...), depth
		c.version++
		t.I = c.version
	}
	return end
}

// object reads the object at i into sh: by its program, or else by the general code.
func (s *Scanner) object(sh *Shape, i, depth int) int {
	if end := s.run(sh, i, depth); end >= 0 {
		return end
	}
	return s.general(sh, i, depth)
}
