package opbench

// Query is a query that is measured.
type Query struct {
	Name string
	SQL  string
	// OneCore measures it on one core.
	OneCore bool
	tables  func(changes int64) []*table
	// floor does the same with maps, and returns the sum of all columns of the result's rows.
	floor func([]*table) int64
}

// Names of the queries that are compared with one another.
const (
	InnerJoin = "inner join"
	LeftJoin  = "LEFT JOIN"
)

// Queries are all that is measured.
var Queries = []*Query{
	{Name: InnerJoin, SQL: "SELECT o.id, o.amount, u.score FROM orders o JOIN users u ON o.user_id = u.id", tables: usersAndOrders, floor: joinFloor(false)},
	{Name: LeftJoin, SQL: "SELECT o.id, o.amount, u.score FROM orders o LEFT JOIN users u ON o.user_id = u.id", tables: usersAndOrders, floor: joinFloor(true)},
	{Name: "GROUP BY with COUNT and SUM", SQL: "SELECT g, COUNT(*) AS n, SUM(v) AS s FROM facts GROUP BY g", tables: facts, floor: groupFloor},
	{Name: "MAX of each key", SQL: "SELECT g, MAX(v) AS m FROM facts GROUP BY g", tables: facts, floor: maxFloor(false)},
	{Name: "ROW_NUMBER = 1", SQL: "SELECT id, g, v FROM (SELECT id, g, v, ROW_NUMBER() OVER (PARTITION BY g ORDER BY v DESC, id DESC) AS n FROM facts) WHERE n = 1", tables: facts, floor: maxFloor(true)},
	{Name: "join of three tables", SQL: "SELECT i.id, i.count_, o.amount, u.score FROM items i JOIN orders o ON i.order_id = o.id JOIN users u ON o.user_id = u.id", tables: threeTables, floor: threeFloor},
	{
		Name: "filter with ten functions", OneCore: true,
		SQL: "SELECT id, v FROM facts WHERE ABS(v - 500) < 450 AND MOD(v, 7) <> 3 AND GREATEST(g, v) > 20 AND LEAST(g, v) < 990 AND COALESCE(NULLIF(v, 13), 0) <> 77 " +
			"AND SIGN(v - 3) = 1 AND CASE WHEN v > 900 THEN g ELSE v END > 10 AND IF(v > 5, g, 0) >= 0 AND POWER(v, 2) < 900000",
		tables: facts, floor: filterFloor,
	},
}

func usersAndOrders(changes int64) []*table {
	users := &table{name: "users", columns: []string{"id", "score"}, keys: changes / 5, changes: changes / 5, value: func(key, _ int64, _ int) int64 { return key % 100 }}
	orders := &table{name: "orders", columns: []string{"id", "user_id", "amount"}, keys: changes * 2 / 5, changes: changes * 4 / 5}
	orders.value = func(key, updates int64, c int) int64 {
		if c == 1 {
			return scatter(key+updates*orders.keys, users.keys*11/10) // a tenth finds no user
		}
		return (key + updates) % 1000
	}
	return []*table{users, orders}
}

func threeTables(changes int64) []*table {
	t := usersAndOrders(changes / 2)
	items := &table{name: "items", columns: []string{"id", "order_id", "count_"}, keys: changes / 4, changes: changes / 2}
	items.value = func(key, updates int64, c int) int64 {
		if c == 1 {
			return scatter(key+updates*items.keys, t[1].keys)
		}
		return (key + updates) % 10
	}
	return append(t, items)
}

// facts has five rows for every two groups, each changed once.
func facts(changes int64) []*table {
	t := &table{name: "facts", columns: []string{"id", "g", "v"}, keys: changes / 2, changes: changes}
	t.value = func(key, updates int64, c int) int64 {
		if c == 1 {
			return scatter(key, changes/5)
		}
		return scatter(key*2+updates, 1000)
	}
	return []*table{t}
}
