package jsonscan

// general reads the object at i into sh without a program, and writes a program where one may help.
func (s *Scanner) general(sh *Shape, i, depth int) int {
	clear(sh.toks)
	if depth > MaxDepth {
		return s.fail(i, tooDeep)
	}
	var l *learner
	if sh.prog.worthLearning() {
		l = sh.prog.learn(s.buf, i, depth)
	}
	end := s.members(sh, i, depth, l)
	if end >= 0 && l != nil {
		sh.prog.set(l, end)
	}
	return end
}

func (s *Scanner) members(sh *Shape, i, depth int, l *learner) int {
	i = s.space(i + 1)
	if i < len(s.buf) && s.buf[i] == '}' {
		return i + 1
	}
	for next := 0; ; {
		name, at := s.key(i)
		if at < 0 {
			return at
		}
		k := sh.find(name, next)
		switch {
		case k < 0 && l != nil:
			i = s.skipLearning(at, depth, pathOf(rootPath, name), l)
		case k < 0:
			i = s.skip(at, depth)
		default:
			next = k + 1
			kind := stepMember
			switch m := &sh.members[k]; {
			case m.Constant:
				kind = stepConstant
				i = s.constant(sh, k, at, depth)
			default:
				if m.Sub != nil {
					kind = stepSub
				}
				i = s.member(at, depth, m.Sub, &sh.toks[k])
			}
			if l != nil && i >= 0 {
				l.add(step{kind: kind, member: k}, at, i)
			}
		}
		if i < 0 {
			return i
		}
		i = s.space(i)
		if i < len(s.buf) && s.buf[i] == ',' {
			i = s.space(i + 1)
			continue
		}
		if i < len(s.buf) && s.buf[i] == '}' {
			return i + 1
		}
		return s.bad(i, `"," or "}"`)
	}
}

// key reads the member's name at i and returns it with the place of the member's value. The name is valid
// until the next call.
func (s *Scanner) key(i int) (name []byte, at int) {
	if i >= len(s.buf) || s.buf[i] != '"' {
		return nil, s.bad(i, "a member's name")
	}
	end, escaped := s.str(i + 1)
	if end < 0 {
		return nil, end
	}
	name = s.buf[i+1 : end]
	if escaped {
		s.name = AppendUnescaped(s.name[:0], name)
		name = s.name
	}
	return name, s.colon(end + 1)
}

// skipLearning is skip for a value that nobody wants, while a program is being written. It looks into
// objects and arrays as long as they have the same members every time.
func (s *Scanner) skipLearning(i, depth int, path uint64, l *learner) int {
	if l.full(i) {
		return s.skip(i, depth)
	}
	if i >= len(s.buf) || s.buf[i] != '{' && s.buf[i] != '[' {
		end := s.skip(i, depth)
		if end >= 0 {
			l.leaf(path, depth, i, end)
		}
		return end
	}
	if l.leaves[path].hole == holeAny {
		end := s.skip(i, depth)
		if end >= 0 {
			l.hole(stepAny, depth, i, end)
		}
		return end
	}
	if depth++; depth > MaxDepth {
		return s.fail(i, tooDeep)
	}
	start, mark := i, l.mark()
	object := s.buf[i] == '{'
	closing, want := byte(']'), `"," or "]"`
	if object {
		closing, want = '}', `"," or "}"`
	}
	names := path // becomes the path of all members after each other
	i = s.space(i + 1)
	if i < len(s.buf) && s.buf[i] == closing {
		i++
	} else {
		for n := uint64(0); ; n++ {
			inner := path ^ n*0x9E3779B97F4A7C15
			if object {
				name, at := s.key(i)
				if at < 0 {
					return at
				}
				i, inner = at, pathOf(path, name)
			}
			names = names*rootPath ^ inner
			if i = s.skipLearning(i, depth, inner+1, l); i < 0 {
				return i
			}
			i = s.space(i)
			if i < len(s.buf) && s.buf[i] == ',' {
				i = s.space(i + 1)
				continue
			}
			if i >= len(s.buf) || s.buf[i] != closing {
				return s.bad(i, want)
			}
			i++
			break
		}
	}
	if l.changed(path, names|1) {
		l.rollback(mark)
		l.hole(stepAny, depth-1, start, i)
	}
	return i
}
