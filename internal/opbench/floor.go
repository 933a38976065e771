package opbench

import "math"

// The floors: what a plain program over Go's maps does, row by row, on one core.

type order struct{ user, amount int64 }

// joinFloor keeps users, and the orders of each user.
func joinFloor(left bool) func([]*table) int64 {
	return func(ts []*table) int64 {
		users, orders := ts[0], ts[1]
		scores := map[int64]int64{}
		byUser := map[int64]map[int64]int64{}
		var total int64
		add := func(id int64, o order, sign int64) {
			if score, ok := scores[o.user]; ok {
				total += sign * (id + o.amount + score)
			} else if left {
				total += sign * (id + o.amount)
			}
		}
		for i := range max(users.changes, orders.changes) {
			if i < users.changes {
				id, n := users.change(i)
				score := users.value(id, n, 1)
				for oid, amount := range byUser[id] {
					add(oid, order{id, amount}, -1)
				}
				scores[id] = score
				for oid, amount := range byUser[id] {
					add(oid, order{id, amount}, 1)
				}
			}
			if i < orders.changes {
				id, n := orders.change(i)
				if n > 0 {
					was := order{orders.value(id, n-1, 1), orders.value(id, n-1, 2)}
					add(id, was, -1)
					delete(byUser[was.user], id)
				}
				o := order{orders.value(id, n, 1), orders.value(id, n, 2)}
				add(id, o, 1)
				m := byUser[o.user]
				if m == nil {
					m = map[int64]int64{}
					byUser[o.user] = m
				}
				m[id] = o.amount
			}
		}
		return total
	}
}

// groupFloor keeps the number and the sum of each group.
func groupFloor(ts []*table) int64 {
	t := ts[0]
	type group struct{ n, sum int64 }
	groups := map[int64]group{}
	var total int64
	change := func(g, v, sign int64) {
		was := groups[g]
		now := group{was.n + sign, was.sum + sign*v}
		if was.n > 0 {
			total -= g + was.n + was.sum
		}
		if now.n > 0 {
			total += g + now.n + now.sum
			groups[g] = now
		} else {
			delete(groups, g)
		}
	}
	for i := range t.changes {
		id, n := t.change(i)
		if n > 0 {
			change(t.value(id, n-1, 1), t.value(id, n-1, 2), -1)
		}
		change(t.value(id, n, 1), t.value(id, n, 2), 1)
	}
	return total
}

// maxFloor keeps the rows of each group and looks through them for the greatest; with the row's id or without it.
func maxFloor(withID bool) func([]*table) int64 {
	return func(ts []*table) int64 {
		t := ts[0]
		groups := map[int64]map[int64]int64{}
		var total int64
		shown := func(g int64) int64 {
			best, at := int64(math.MinInt64), int64(-1)
			for id, v := range groups[g] {
				if v > best || v == best && id > at {
					best, at = v, id
				}
			}
			switch {
			case at < 0:
				return 0
			case withID:
				return at + g + best
			default:
				return g + best
			}
		}
		for i := range t.changes {
			id, n := t.change(i)
			g := t.value(id, n, 1) // never changes
			total -= shown(g)
			m := groups[g]
			if m == nil {
				m = map[int64]int64{}
				groups[g] = m
			}
			m[id] = t.value(id, n, 2)
			total += shown(g)
		}
		return total
	}
}

// threeFloor keeps users, orders, the orders of each user and the items of each order.
func threeFloor(ts []*table) int64 {
	users, orders, items := ts[0], ts[1], ts[2]
	scores := map[int64]int64{}
	current := map[int64]order{}
	byUser := map[int64]map[int64]bool{}
	byOrder := map[int64]map[int64]int64{}
	var total int64
	row := func(item, count, oid, sign int64) {
		if o, ok := current[oid]; ok {
			if score, ok := scores[o.user]; ok {
				total += sign * (item + count + o.amount + score)
			}
		}
	}
	all := func(oid, sign int64) {
		for item, count := range byOrder[oid] {
			row(item, count, oid, sign)
		}
	}
	for i := range max(users.changes, orders.changes, items.changes) {
		if i < users.changes {
			id, n := users.change(i)
			for oid := range byUser[id] {
				all(oid, -1)
			}
			scores[id] = users.value(id, n, 1)
			for oid := range byUser[id] {
				all(oid, 1)
			}
		}
		if i < orders.changes {
			id, n := orders.change(i)
			all(id, -1)
			if was, ok := current[id]; ok {
				delete(byUser[was.user], id)
			}
			o := order{orders.value(id, n, 1), orders.value(id, n, 2)}
			current[id] = o
			if byUser[o.user] == nil {
				byUser[o.user] = map[int64]bool{}
			}
			byUser[o.user][id] = true
			all(id, 1)
		}
		if i < items.changes {
			id, n := items.change(i)
			if n > 0 {
				oid := items.value(id, n-1, 1)
				row(id, items.value(id, n-1, 2), oid, -1)
				delete(byOrder[oid], id)
			}
			oid, count := items.value(id, n, 1), items.value(id, n, 2)
			if byOrder[oid] == nil {
				byOrder[oid] = map[int64]int64{}
			}
			byOrder[oid][id] = count
			row(id, count, oid, 1)
		}
	}
	return total
}

// filterFloor evaluates the condition for the rows that come, and for those that go.
func filterFloor(ts []*table) int64 {
	t := ts[0]
	var total int64
	passes := func(g, v int64) bool {
		chosen := v
		if v > 900 {
			chosen = g
		}
		return v-500 < 450 && 500-v < 450 && v%7 != 3 && max(g, v) > 20 && min(g, v) < 990 && v != 77 &&
			v > 3 && chosen > 10 && (v <= 5 || g >= 0) && math.Pow(float64(v), 2) < 900000
	}
	for i := range t.changes {
		id, n := t.change(i)
		g := t.value(id, n, 1)
		if n > 0 {
			if v := t.value(id, n-1, 2); passes(g, v) {
				total -= id + v
			}
		}
		if v := t.value(id, n, 2); passes(g, v) {
			total += id + v
		}
	}
	return total
}
