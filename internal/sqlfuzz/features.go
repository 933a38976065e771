// Package sqlfuzz makes random queries over random histories of changing tables, holds sluice's results to those of a
// second engine, and reduces what differs to a script that stays.
package sqlfuzz

import (
	"fmt"
	"slices"
	"strings"
)

// Feature is a part of SQL that the generator uses or leaves out.
type Feature string

// The features. What needs none: SELECT with expressions and WHERE, inner joins with an equality, derived tables and
// views.
const (
	OuterJoins      Feature = "outer-joins"
	CrossJoins      Feature = "cross-joins"     // CROSS JOIN
	NonEqui         Feature = "non-equi-joins"  // inner joins without an equality
	In              Feature = "in-subquery"     // and NOT IN
	Exists          Feature = "exists"          // and NOT EXISTS
	Correlated      Feature = "correlated"      // subqueries that look out
	Scalar          Feature = "scalar-subquery" //
	Branches        Feature = "branches"        // subqueries that fail, in branches that no row takes
	Aggregates      Feature = "aggregates"      // GROUP BY, HAVING, aggregates without GROUP BY
	DistinctAgg     Feature = "distinct-agg"    // COUNT(DISTINCT x)
	FilterAgg       Feature = "filter"          // FILTER (WHERE …)
	GroupingSets    Feature = "grouping-sets"   // ROLLUP, CUBE
	Statistics      Feature = "statistics"      // STDDEV_POP …
	TopN            Feature = "top-n"           // ROW_NUMBER() … <= n
	Rank            Feature = "rank"            // RANK, DENSE_RANK … <= n
	Qualify         Feature = "qualify"
	Limit           Feature = "limit"    // ORDER BY … LIMIT
	Over            Feature = "over"     // aggregates over windows, numbers that are shown
	Distinct        Feature = "distinct" // SELECT DISTINCT
	UnionAll        Feature = "union-all"
	SetOps          Feature = "set-operations"     // UNION, INTERSECT, EXCEPT
	SetOpsAll       Feature = "bag-operations"     // INTERSECT ALL, EXCEPT ALL
	With            Feature = "with"               // common table expressions
	WindowSubquery  Feature = "window-in-subquery" // a window function's value as an argument of a subquery
	Using           Feature = "using"              // JOIN … USING, NATURAL JOIN
	Values          Feature = "values"             // VALUES in FROM
	Unnest          Feature = "unnest"             // CROSS JOIN UNNEST of an array of columns
	OrderedAgg      Feature = "ordered-agg"        // LISTAGG, ARRAY_AGG, FIRST_VALUE, LAST_VALUE
	RichExpressions Feature = "rich-expressions"   // functions that SQLite lacks
	Lateral         Feature = "lateral"            // joins with a query that looks at the rows on the left
	GroupSubquery   Feature = "group-subquery"     // subqueries in GROUP BY, aggregates and HAVING
	Neighbours      Feature = "neighbours"         // LAG, LEAD, NTILE
)

// All are all features.
var All = []Feature{
	OuterJoins, CrossJoins, NonEqui, In, Exists, Correlated, Scalar, Branches, Aggregates, DistinctAgg, FilterAgg, GroupingSets,
	Statistics, TopN, Rank, Qualify, Limit, Over, Distinct, UnionAll, SetOps, SetOpsAll, With, WindowSubquery, Using, Values, Unnest, OrderedAgg,
	RichExpressions, Lateral, GroupSubquery, Neighbours,
}

// notSQLite are those for which SQLite has no words.
var notSQLite = []Feature{GroupingSets, Statistics, Qualify, SetOpsAll, Using, Values, Unnest, OrderedAgg, RichExpressions, Lateral}

// Features is a set of them.
type Features map[Feature]bool

// For are the features that sluice and an engine of that name have.
func For(engine string) Features {
	f := Features{"": true}
	for _, x := range All {
		f[x] = engine != "sqlite" || !slices.Contains(notSQLite, x)
	}
	return f
}

// ParseFeatures reads a list with commas; "all" are all of them.
func ParseFeatures(list string) (Features, error) {
	f := Features{"": true}
	for _, s := range strings.Split(list, ",") {
		switch {
		case s == "all":
			for _, x := range All {
				f[x] = true
			}
		case slices.Contains(All, Feature(s)):
			f[Feature(s)] = true
		case s != "":
			return nil, fmt.Errorf("no feature %q; there are %q", s, All)
		}
	}
	return f, nil
}
