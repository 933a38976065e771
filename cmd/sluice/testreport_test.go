package main

import (
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/cmd/sluice/internal/sqltest"
	"github.com/sluicesql/sluice/sql/ast"
)

// JUnit's report counts by pipeline, holds what failed as it is, and the coverage where it is asked for.
func TestJUnitReport(t *testing.T) {
	one, other := &suite{dir: "one"}, &suite{dir: "other"}
	file := &sqltest.File{Path: "one/tests/a.test"}
	failed := &sqltest.Result{
		Failures: []sqltest.Failure{{Pos: ast.Pos{File: file.Path, Line: 3, Col: 1}, What: "table t", Diff: []string{"- [<a> & b]"}}},
		Elapsed:  1500 * time.Millisecond, Coverage: sqltest.Coverage{Tables: map[string]int64{"t": 2, "v": 0}, Operators: map[string]int64{"Filter (a.sql:1:2)": 0, "Project": 1}},
	}
	passed := &sqltest.Result{Elapsed: 250 * time.Millisecond, Coverage: sqltest.Coverage{Tables: map[string]int64{"t": 0, "v": 0}}}
	for _, coverage := range []bool{false, true} {
		r := &testReport{coverage: coverage, sources: newSourceTexts(), elapsed: 2 * time.Second, cases: []*testCase{
			{one, file, &sqltest.Case{Name: "a/x"}, failed}, {one, file, &sqltest.Case{Name: "a/y"}, passed},
			{other, &sqltest.File{Path: "other/b.test"}, &sqltest.Case{Name: "b"}, passed},
		}}
		var b strings.Builder
		if err := junitReport(r, &b); err != nil {
			t.Fatal(err)
		}
		var all junitSuites
		if err := xml.Unmarshal([]byte(b.String()), &all); err != nil {
			t.Fatalf("%v in\n%s", err, &b)
		}
		if all.Tests != 3 || all.Failures != 1 || all.Time != "2.000" || len(all.Suites) != 2 {
			t.Fatalf("%+v", all)
		}
		s := all.Suites[0]
		if s.Name != "one" || s.Tests != 2 || s.Failures != 1 || s.Time != "1.750" || all.Suites[1].Failures != 0 {
			t.Errorf("%+v", all.Suites)
		}
		f := s.Cases[0].Failure
		if f == nil || f.Message != "one/tests/a.test:3:1: table t" || !strings.Contains(f.Text, "- [<a> & b]") || s.Cases[1].Failure != nil {
			t.Errorf("%+v", s.Cases)
		}
		want := [2]string{}
		if coverage {
			want = [2]string{"coverage of one: 1 of 2 tables, views and results saw a change, never: v; 1 of 2 operators gave one, never: Filter (a.sql:1:2)", "coverage of other: 0 of 2 tables, views and results saw a change, never: t, v; 0 of 0 operators gave one"}
		}
		if got := [2]string{s.Out, all.Suites[1].Out}; got != want {
			t.Errorf("coverage: %q", got)
		}
	}
}
