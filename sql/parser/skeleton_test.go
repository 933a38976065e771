package parser

import (
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/sluicesql/sluice/sql/ast"
)

// grammar is all that a skeleton may consist of besides placeholders. The
// words are those that the skeleton writes: nothing of the user's text.
var grammar = regexp.MustCompile("^(?:select|distinct|from|where|group by|having|order by|desc|limit|offset|" +
	"union|all|join|left join|right join|cross join|on|using|as|[(), ]|`[0-9]+:(?:[^`]|``)*`)*$")

// TestSkeleton shows the text that sqlparser gets, and checks that no
// expression of the user is in it.
func TestSkeleton(t *testing.T) {
	datadriven.RunTest(t, "testdata/skeleton/skeleton.txt", func(t *testing.T, d *datadriven.TestData) string {
		var b strings.Builder
		for line := range strings.Lines(d.Input) {
			p, err := newParser("t.sql", line)
			if err != nil {
				return err.Error() + "\n"
			}
			s := newSkeleton(p)
			if bad := p.attempt(s.query); bad != nil {
				b.WriteString(bad.Error() + "\n")
				continue
			}
			if !grammar.MatchString(s.text.String()) {
				t.Errorf("the skeleton holds more than grammar and placeholders: %s", s.text.String())
			}
			b.WriteString(s.text.String() + "\n")
		}
		return b.String()
	})
}

// TestLiftRefuses gives sqlparser texts that it accepts and that a skeleton
// never is. What comes back has to be refused by name, or a clause could be
// dropped or misread the day the skeleton has a mistake.
func TestLiftRefuses(t *testing.T) {
	item := slot{kind: slotItem, sel: &selectParts{}}
	tab := slot{kind: slotTable, table: &ast.NamedTable{}}
	expr := slot{kind: slotExpr}
	inner := slot{kind: slotJoin, join: &joinParts{kind: ast.InnerJoin}}
	order := slot{kind: slotOrder}
	for _, c := range []struct {
		text  string
		slots []slot
		want  string
	}{
		{"select `0:a`", []slot{item}, ""},
		{"select `0:a` from `1:t` join `2:u` on `3:on`", []slot{item, tab, tab, inner}, ""},
		{"selec", nil, "refused the query's skeleton"},
		{"show tables", nil, "read the query as another statement"},
		{"select sql_no_cache `0:a`", []slot{item}, "set a cache option"},
		{"select straight_join `0:a`", []slot{item}, "set hints"},
		{"select `0:a` for update", []slot{item}, "set a lock"},
		{"select `0:a` lock in share mode", []slot{item}, "set a lock"},
		{"select *", nil, "made * of an item"},
		{"select next 5 values from `0:t`", []slot{tab}, "made next 5 values of an item"},
		{"select 1", nil, "made an expression of a placeholder: 1"},
		{"select `0:a` + 1", []slot{item}, "made an expression of a placeholder"},
		{"select ?", nil, "made an expression of a placeholder"},
		{"select @a", nil, "made up the name"},
		{"select `x`.`0:a`", []slot{item}, "set the qualifier of a column"},
		{"select `7:a`", []slot{item}, "made up the name"},
		{"select `-1:a`", []slot{item}, "made up the name"},
		{"select `0:a`, `0:a`", []slot{item}, "doubled the placeholder"},
		{"select `0:a`", []slot{tab}, "misplaced the placeholder"},
		{"select `0:a`", []slot{item, expr}, "dropped the placeholder 1"},
		{"select `0:a` from `1:t` where `2:w` regexp 'x'", []slot{item, tab, expr}, "made an expression of a placeholder"},
		{"select `0:a` from `1:t` use index (i)", []slot{item, tab}, "set index hints"},
		{"select `0:a` from `1:t` partition (p)", []slot{item, tab}, "set partitions"},
		{"select `0:a` from `x`.`1:t`", []slot{item, tab}, "set the qualifier of a table"},
		{"select `0:a` from `1:t`, `2:u`", []slot{item, tab, tab}, "set another number of tables"},
		{"select `0:a` from (`1:t`, `2:u`)", []slot{item, tab, tab}, "set a comma in parentheses"},
		{"select `0:a` from `1:t` join `2:u`", []slot{item, tab, tab}, "dropped a join's condition"},
		{"select `0:a` from `1:t` natural join `2:u`", []slot{item, tab, tab}, "dropped a join's condition"},
		{"select `0:a` from `1:t` straight_join `2:u` on `3:on`", []slot{item, tab, tab, inner}, "set the join straight_join"},
		{"select `0:a` from `1:t` left join `2:u` on `3:on`", []slot{item, tab, tab, inner}, "set the join left join"},
		{"select `0:a` from (select `1:a`) as `2:t`", []slot{item, item, tab}, "exchanged two tables"},
		{"select `0:a` order by `1:o` desc", []slot{item, order}, "set another direction"},
		{"select `0:a` order by `1:o` union select `2:b`", []slot{item, order, item}, "set clauses before UNION"},
		{"select `0:a` union distinct select `1:b`", []slot{item, item}, "made a union distinct"},
		{"select `0:a` limit 3, 5", []slot{item}, "made an expression of a placeholder"},
	} {
		p, err := newParser("t.sql", c.text)
		if err != nil {
			t.Fatal(err)
		}
		s := newSkeleton(p)
		s.write(c.text)
		s.slots = append(s.slots, c.slots...)
		bad := p.attempt(func() { s.lift(&ast.Query{}) })
		switch {
		case c.want == "" && bad != nil:
			t.Errorf("%s: %v", c.text, bad)
		case c.want != "" && (bad == nil || !strings.Contains(bad.Error(), c.want)):
			t.Errorf("%s: got %v, want %s", c.text, bad, c.want)
		}
	}
}
