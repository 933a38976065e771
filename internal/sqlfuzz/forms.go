package sqlfuzz

// dialect is an engine's language.
type dialect int

const (
	sluice dialect = iota
	sqlite
	duckdb
)

// form is a way to write an expression: a template for each dialect, where $1, $2 … are the arguments, $* all of them
// with commas, $q a subquery, $d "DISTINCT " or nothing, $f a FILTER clause or nothing, $w the OVER clause's content,
// and $t the literal or column itself. An empty template is that of sluice.
//
// Where the templates differ, a comment says why.
type form struct {
	sluice, sqlite, duckdb string
	args                   []kind
	out                    kind
	need                   Feature // beside the feature of the family
	// max bounds an integer result by the arguments' bounds; nil is the largest of them.
	max func(m []int64) int64
	// literal says that the last argument is a literal that is not 0.
	literal bool
}

func (f *form) in(d dialect) string {
	switch {
	case d == sqlite && f.sqlite != "":
		return f.sqlite
	case d == duckdb && f.duckdb != "":
		return f.duckdb
	}
	return f.sluice
}

var (
	columnForm  = &form{sluice: "$t"}
	literalForm = &form{sluice: "$t"}
)

func small(n int64) func([]int64) int64 { return func([]int64) int64 { return n } }

func sum(m []int64) int64 { return m[0] + m[1] }

// scalars are the functions and operators of one row.
var scalars = []*form{
	{sluice: "($1 + $2)", args: []kind{kindInt, kindInt}, out: kindInt, max: sum},
	{sluice: "($1 - $2)", args: []kind{kindInt, kindInt}, out: kindInt, max: sum},
	{sluice: "($1 * $2)", args: []kind{kindInt, kindInt}, out: kindInt, max: func(m []int64) int64 { return m[0] * m[1] }},
	{sluice: "(- $1)", args: []kind{kindInt}, out: kindInt},
	// DuckDB's / of integers is a fraction; its // cuts off towards zero, as ours.
	{sluice: "($1 / $2)", duckdb: "($1 // $2)", args: []kind{kindInt, kindInt}, out: kindInt, literal: true},
	{sluice: "($1 / NULLIF($2, 0))", duckdb: "($1 // NULLIF($2, 0))", args: []kind{kindInt, kindInt}, out: kindInt},
	{sluice: "MOD($1, $2)", sqlite: "($1 % $2)", duckdb: "($1 % $2)", args: []kind{kindInt, kindInt}, out: kindInt, literal: true},
	{sluice: "ABS($1)", args: []kind{kindInt}, out: kindInt},
	{sluice: "SIGN($1)", args: []kind{kindInt}, out: kindInt, max: small(1)},
	{sluice: "CHAR_LENGTH($1)", sqlite: "LENGTH($1)", duckdb: "LENGTH($1)", args: []kind{kindString}, out: kindInt, max: small(100)},
	{sluice: "POSITION('b' IN $1)", sqlite: "INSTR($1, 'b')", duckdb: "INSTR($1, 'b')", args: []kind{kindString}, out: kindInt, max: small(100)},
	{sluice: "NULLIF($1, $2)", args: []kind{kindInt, kindInt}, out: kindInt},
	{sluice: "COALESCE($1, $2)", args: []kind{kindInt, kindInt}, out: kindInt},
	// GREATEST and LEAST are NULL when one is; DuckDB leaves NULLs out.
	{sluice: "GREATEST($1, $2)", sqlite: "MAX($1, $2)", duckdb: "(CASE WHEN $1 IS NOT NULL AND $2 IS NOT NULL THEN GREATEST($1, $2) END)", args: []kind{kindInt, kindInt}, out: kindInt},
	{sluice: "LEAST($1, $2)", sqlite: "MIN($1, $2)", duckdb: "(CASE WHEN $1 IS NOT NULL AND $2 IS NOT NULL THEN LEAST($1, $2) END)", args: []kind{kindInt, kindInt}, out: kindInt},
	{sluice: "CASE WHEN $1 THEN $2 ELSE $3 END", args: []kind{kindBool, kindInt, kindInt}, out: kindInt},
	{sluice: "CASE $1 WHEN $2 THEN $3 END", args: []kind{kindInt, kindInt, kindInt}, out: kindInt},
	{sluice: "IF($1, $2, $3)", sqlite: "IIF($1, $2, $3)", args: []kind{kindBool, kindInt, kindInt}, out: kindInt},
	{sluice: "EXTRACT(YEAR FROM $1)", args: []kind{kindDate}, out: kindInt, max: small(3000), need: RichExpressions},
	{sluice: "EXTRACT(DAY FROM $1)", args: []kind{kindDate}, out: kindInt, max: small(31), need: RichExpressions},
	{sluice: "CAST(FLOOR($1) AS BIGINT)", args: []kind{kindDecimal}, out: kindInt, max: small(1 << 20), need: RichExpressions},

	{sluice: "UPPER($1)", args: []kind{kindString}, out: kindString},
	{sluice: "LOWER($1)", args: []kind{kindString}, out: kindString},
	{sluice: "($1 || $2)", args: []kind{kindString, kindString}, out: kindString},
	{sluice: "SUBSTRING($1, 1, 1)", sqlite: "SUBSTR($1, 1, 1)", args: []kind{kindString}, out: kindString},
	{sluice: "SUBSTRING($1 FROM 2)", sqlite: "SUBSTR($1, 2)", args: []kind{kindString}, out: kindString},
	{sluice: "TRIM($1)", args: []kind{kindString}, out: kindString},
	{sluice: "REPLACE($1, 'a', 'bc')", args: []kind{kindString}, out: kindString},
	{sluice: "COALESCE($1, $2)", args: []kind{kindString, kindString}, out: kindString},
	{sluice: "NULLIF($1, $2)", args: []kind{kindString, kindString}, out: kindString},
	{sluice: "CASE WHEN $1 THEN $2 ELSE $3 END", args: []kind{kindBool, kindString, kindString}, out: kindString},
	{sluice: "CAST($1 AS STRING)", sqlite: "CAST($1 AS TEXT)", args: []kind{kindInt}, out: kindString},
	{sluice: "REVERSE($1)", args: []kind{kindString}, out: kindString, need: RichExpressions},
	{sluice: "LPAD($1, 3, 'x')", args: []kind{kindString}, out: kindString, need: RichExpressions},
	{sluice: "LEFT($1, 2)", args: []kind{kindString}, out: kindString, need: RichExpressions},

	{sluice: "($1 = $2)", args: []kind{kindInt, kindInt}, out: kindBool},
	{sluice: "($1 <> $2)", args: []kind{kindInt, kindInt}, out: kindBool},
	{sluice: "($1 < $2)", args: []kind{kindInt, kindInt}, out: kindBool},
	{sluice: "($1 >= $2)", args: []kind{kindInt, kindInt}, out: kindBool},
	{sluice: "($1 = $2)", args: []kind{kindString, kindString}, out: kindBool},
	{sluice: "($1 < $2)", args: []kind{kindString, kindString}, out: kindBool},
	{sluice: "($1 <> $2)", args: []kind{kindString, kindString}, out: kindBool},
	{sluice: "($1 > $2)", args: []kind{kindDecimal, kindDecimal}, out: kindBool},
	{sluice: "($1 = $2)", args: []kind{kindDecimal, kindDecimal}, out: kindBool},
	{sluice: "($1 > $2)", args: []kind{kindDecimal, kindInt}, out: kindBool},
	{sluice: "($1 <= $2)", args: []kind{kindDouble, kindDouble}, out: kindBool},
	{sluice: "($1 < $2)", args: []kind{kindDate, kindDate}, out: kindBool},
	{sluice: "($1 = $2)", args: []kind{kindDate, kindDate}, out: kindBool},
	{sluice: "($1 AND $2)", args: []kind{kindBool, kindBool}, out: kindBool},
	{sluice: "($1 OR $2)", args: []kind{kindBool, kindBool}, out: kindBool},
	{sluice: "(NOT $1)", args: []kind{kindBool}, out: kindBool},
	{sluice: "($1 IS TRUE)", args: []kind{kindBool}, out: kindBool},
	{sluice: "($1 IS NOT FALSE)", args: []kind{kindBool}, out: kindBool},
	{sluice: "($1 IS UNKNOWN)", sqlite: "($1 IS NULL)", duckdb: "($1 IS NULL)", args: []kind{kindBool}, out: kindBool},
	{sluice: "($1 IS NULL)", args: []kind{kindInt}, out: kindBool},
	{sluice: "($1 IS NOT NULL)", args: []kind{kindString}, out: kindBool},
	{sluice: "($1 IS NOT DISTINCT FROM $2)", args: []kind{kindInt, kindInt}, out: kindBool},
	{sluice: "($1 IS DISTINCT FROM $2)", args: []kind{kindString, kindString}, out: kindBool},
	{sluice: "($1 BETWEEN $2 AND $3)", args: []kind{kindInt, kindInt, kindInt}, out: kindBool},
	{sluice: "($1 NOT BETWEEN $2 AND $3)", args: []kind{kindInt, kindInt, kindInt}, out: kindBool},
	{sluice: "($1 BETWEEN SYMMETRIC $2 AND $3)", sqlite: "($1 BETWEEN MIN($2, $3) AND MAX($2, $3))", duckdb: "(($1 >= $2 AND $1 <= $3) OR ($1 >= $3 AND $1 <= $2))", args: []kind{kindInt, kindInt, kindInt}, out: kindBool},
	{sluice: "($1 IN ($2, $3))", args: []kind{kindInt, kindInt, kindInt}, out: kindBool},
	{sluice: "($1 NOT IN ($2, $3))", args: []kind{kindInt, kindInt, kindInt}, out: kindBool},
	{sluice: "($1 IN ($2, 'a', 'B'))", args: []kind{kindString, kindString}, out: kindBool},
	{sluice: "($1 LIKE 'a%')", args: []kind{kindString}, out: kindBool},
	{sluice: "($1 NOT LIKE '%b_')", args: []kind{kindString}, out: kindBool},
	{sluice: "($1 LIKE 'a!%' ESCAPE '!')", args: []kind{kindString}, out: kindBool},
	{sluice: "CASE WHEN $1 THEN $2 END", args: []kind{kindBool, kindBool}, out: kindBool},
	{sluice: "COALESCE($1, $2)", args: []kind{kindBool, kindBool}, out: kindBool},

	{sluice: "($1 + $2)", args: []kind{kindDecimal, kindDecimal}, out: kindDecimal},
	{sluice: "($1 - $2)", args: []kind{kindDecimal, kindDecimal}, out: kindDecimal},
	{sluice: "(- $1)", args: []kind{kindDecimal}, out: kindDecimal},
	{sluice: "COALESCE($1, $2)", args: []kind{kindDecimal, kindDecimal}, out: kindDecimal},
	{sluice: "CASE WHEN $1 THEN $2 ELSE $3 END", args: []kind{kindBool, kindDecimal, kindDecimal}, out: kindDecimal},
	{sluice: "ROUND($1, 1)", args: []kind{kindDecimal}, out: kindDecimal, need: RichExpressions},
	{sluice: "($1 + $2)", args: []kind{kindDouble, kindDouble}, out: kindDouble},
	{sluice: "($1 - $2)", args: []kind{kindDouble, kindDouble}, out: kindDouble},
	{sluice: "COALESCE($1, $2)", args: []kind{kindDouble, kindDouble}, out: kindDouble},
	{sluice: "COALESCE($1, $2)", args: []kind{kindDate, kindDate}, out: kindDate},
	// DuckDB's sum of a DATE and an INTERVAL is a TIMESTAMP.
	{sluice: "($1 + INTERVAL '1' DAY)", duckdb: "CAST($1 + INTERVAL '1' DAY AS DATE)", args: []kind{kindDate}, out: kindDate, need: RichExpressions},
}

// aggregates are the aggregate functions; groups are small, which bounds the sums.
var aggregates = []*form{
	{sluice: "COUNT(*)$f", out: kindInt, max: small(maxGroup)},
	{sluice: "COUNT($d$1)$f", args: []kind{kindInt}, out: kindInt, max: small(maxGroup)},
	{sluice: "COUNT($d$1)$f", args: []kind{kindString}, out: kindInt, max: small(maxGroup)},
	{sluice: "SUM($d$1)$f", args: []kind{kindInt}, out: kindInt, max: func(m []int64) int64 { return m[0] * maxGroup }},
	// The average of integers is an integer, cut off.
	{sluice: "AVG($d$1)$f", sqlite: "(SUM($d$1)$f / COUNT($d$1)$f)", duckdb: "(CAST(SUM($d$1)$f AS BIGINT) // COUNT($d$1)$f)", args: []kind{kindInt}, out: kindInt},
	{sluice: "MIN($d$1)$f", args: []kind{kindInt}, out: kindInt},
	{sluice: "MAX($1)$f", args: []kind{kindInt}, out: kindInt},
	{sluice: "MIN($1)$f", args: []kind{kindString}, out: kindString},
	{sluice: "MAX($1)$f", args: []kind{kindString}, out: kindString},
	// DuckDB's sum has 38 digits, to which it makes room by cutting off fractions of what meets it.
	{sluice: "SUM($d$1)$f", duckdb: "CAST(SUM($d$1)$f AS DECIMAL(20, 2))", args: []kind{kindDecimal}, out: kindDecimal},
	{sluice: "MIN($1)$f", args: []kind{kindDecimal}, out: kindDecimal},
	{sluice: "MAX($1)$f", args: []kind{kindDate}, out: kindDate},
	{sluice: "SUM($1)$f", args: []kind{kindDouble}, out: kindDouble},
	{sluice: "AVG($1)$f", args: []kind{kindDouble}, out: kindDouble},
	{sluice: "MAX($1)$f", args: []kind{kindDouble}, out: kindDouble},
	{sluice: "STDDEV_POP($1)$f", args: []kind{kindDouble}, out: kindDouble, need: Statistics},
	{sluice: "VAR_POP($1)$f", args: []kind{kindDouble}, out: kindDouble, need: Statistics},
	{sluice: "STDDEV_SAMP($1)$f", args: []kind{kindInt}, out: kindDouble, need: Statistics},
	{sluice: "LISTAGG($1, '; ') WITHIN GROUP (ORDER BY $1)$f", duckdb: "STRING_AGG($1, '; ' ORDER BY $1)$f", args: []kind{kindString}, out: kindString, need: OrderedAgg},
	{sluice: "LISTAGG($1) WITHIN GROUP (ORDER BY $1 DESC)$f", duckdb: "STRING_AGG($1, ',' ORDER BY $1 DESC)$f", args: []kind{kindString}, out: kindString, need: OrderedAgg},
	{sluice: "CARDINALITY(ARRAY_AGG($d$1)$f)", duckdb: "LEN(LIST($d$1)$f)", args: []kind{kindInt}, out: kindInt, max: small(maxGroup), need: OrderedAgg},
	{sluice: "ARRAY_AGG($1 ORDER BY $1 DESC)$f[1]", duckdb: "(LIST($1 ORDER BY $1 DESC NULLS LAST)$f)[1]", args: []kind{kindInt}, out: kindInt, need: OrderedAgg},
	// NULLs are left out.
	{sluice: "FIRST_VALUE($1 ORDER BY $1 DESC)$f", duckdb: "MAX($1)$f", args: []kind{kindInt}, out: kindInt, need: OrderedAgg},
	{sluice: "LAST_VALUE($1 ORDER BY $1 DESC)$f", duckdb: "MIN($1)$f", args: []kind{kindString}, out: kindString, need: OrderedAgg},
	{sluice: "VAR_SAMP($1)$f", args: []kind{kindDouble}, out: kindDouble, need: Statistics},
}

// arrayForms are arrays to be unnested, each with an element more than the one before.
var arrayForms = []*form{
	{sluice: "ARRAY[$1]", duckdb: "[$1]", args: []kind{kindInt}},
	{sluice: "ARRAY[$1, $2]", duckdb: "[$1, $2]", args: []kind{kindInt, kindInt}},
	{sluice: "ARRAY[$1, $2, $3]", duckdb: "[$1, $2, $3]", args: []kind{kindInt, kindInt, kindInt}},
}

// maxGroup is above the number of rows that any group can have.
const maxGroup = 1000

// ranks are the window functions that number rows.
var ranks = []*form{
	{sluice: "ROW_NUMBER() OVER ($w)", out: kindInt, max: small(maxGroup)},
	{sluice: "RANK() OVER ($w)", out: kindInt, max: small(maxGroup)},
	{sluice: "DENSE_RANK() OVER ($w)", out: kindInt, max: small(maxGroup)},
}

// overs are the aggregates over windows.
var overs = []*form{
	{sluice: "COUNT(*) OVER ($w)", out: kindInt, max: small(maxGroup)},
	{sluice: "SUM($1) OVER ($w)", args: []kind{kindInt}, out: kindInt, max: func(m []int64) int64 { return m[0] * maxGroup }},
	{sluice: "MIN($1) OVER ($w)", args: []kind{kindInt}, out: kindInt},
	{sluice: "MAX($1) OVER ($w)", args: []kind{kindString}, out: kindString},
	{sluice: "COUNT($1) OVER ($w)", args: []kind{kindString}, out: kindInt, max: small(maxGroup)},
}

// neighbours are the window functions of the rows before and after, which take no frame.
var neighbours = []*form{
	{sluice: "LAG($1) OVER ($w)", args: []kind{kindInt}, out: kindInt},
	{sluice: "LEAD($1, 2, 7) OVER ($w)", args: []kind{kindInt}, out: kindInt, max: func(m []int64) int64 { return max(m[0], 7) }},
	{sluice: "LEAD($1) OVER ($w)", args: []kind{kindString}, out: kindString},
	{sluice: "NTILE(3) OVER ($w)", out: kindInt, max: small(3)},
}

// frames are those of aggregates over windows; an empty one is that of the order.
var frames = []string{
	"", "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
	"ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", "ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING", "ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING",
	"RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
}

// groupingForm tells whether a key of the grouping sets is left out.
var groupingForm = &form{sluice: "GROUPING($1)", out: kindInt, max: small(1)}

// Subqueries in expressions.
var (
	existsForm    = &form{sluice: "EXISTS ($q)", out: kindBool}
	notExistsForm = &form{sluice: "(NOT EXISTS ($q))", out: kindBool}
	inForm        = &form{sluice: "($1 IN ($q))", out: kindBool}
	notInForm     = &form{sluice: "($1 NOT IN ($q))", out: kindBool}
	scalarForm    = &form{sluice: "($q)"}
	// SQLite and DuckDB bind = ANY otherwise, or not at all.
	anyForm = &form{sluice: "($1 = ANY ($q))", sqlite: "($1 IN ($q))", duckdb: "($1 IN ($q))", out: kindBool}
	allForm = &form{sluice: "($1 <> ALL ($q))", sqlite: "($1 NOT IN ($q))", duckdb: "($1 NOT IN ($q))", out: kindBool}
)

// operands are expressions with a subquery in a place that is looked at several times.
var operands = []*form{
	{sluice: "CASE $1 WHEN $2 THEN $3 WHEN $3 THEN $2 ELSE 5 END", args: []kind{kindInt, kindInt, kindInt}, out: kindInt, max: func(m []int64) int64 { return max(m[1], m[2], 5) }},
	{sluice: "($1 BETWEEN $2 AND $3)", args: []kind{kindInt, kindInt, kindInt}, out: kindBool},
	{sluice: "($1 NOT IN ($2, $3))", args: []kind{kindInt, kindInt, kindInt}, out: kindBool},
}

// taken is for engines that evaluate a subquery in a branch that no row takes: DuckDB refuses its second row.
const taken = "CASE WHEN $2 THEN $1 ELSE $1 END"

// untakenForms give $1, since no row takes the branch of the subquery.
var untakenForms = []*form{
	{sluice: "CASE WHEN ($2 AND NOT $2) THEN ($q) ELSE $1 END", sqlite: taken, duckdb: taken},
	{sluice: "CASE WHEN ($2 OR $2 IS NOT TRUE) THEN $1 ELSE ($q) END", sqlite: taken, duckdb: taken},
	{sluice: "IF($2 IS NULL, $1, IF($2, $1, IF($2 IS UNKNOWN, ($q), $1)))", sqlite: taken, duckdb: taken},
}

// quotient fails where $1 is 0.
var quotient = &form{sluice: "(100 / $1)"}

// andForm and the comparisons that joins are made of.
var (
	andForm  = &form{sluice: "($1 AND $2)", out: kindBool}
	equals   = &form{sluice: "($1 = $2)", out: kindBool}
	same     = &form{sluice: "($1 IS NOT DISTINCT FROM $2)", out: kindBool}
	compares = []*form{{sluice: "($1 < $2)", out: kindBool}, {sluice: "($1 <> $2)", out: kindBool}, {sluice: "($1 >= $2)", out: kindBool}}
	atMost   = &form{sluice: "($1 <= $2)", out: kindBool}
	between  = &form{sluice: "($1 BETWEEN $2 AND $3)", out: kindBool}
)
