package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluicesql/sluice/cmd/sluice/internal/sqltest"
)

// reports write the formats of sluice test.
var reports = map[string]func(*testReport, io.Writer) error{"text": textReport, "tap": tapReport, "junit": junitReport}

func textReport(r *testReport, w io.Writer) error {
	var b strings.Builder
	for _, c := range r.cases {
		word := "ok  "
		if c.result.Failed() {
			word = "FAIL"
		}
		fmt.Fprintf(&b, "%s  %s  (%s)\n", word, c.name(), c.result.Elapsed.Round(time.Millisecond))
		b.WriteString(indented(r.details(c)))
	}
	for _, c := range r.uncovered() {
		b.WriteString(c.line + "\n")
	}
	failed := r.failed()
	if failed > 0 {
		fmt.Fprintf(&b, "%d of %d tests failed", failed, len(r.cases))
	} else {
		fmt.Fprintf(&b, "%d passed", len(r.cases))
	}
	fmt.Fprintf(&b, " in %s\n", r.elapsed.Round(time.Millisecond))
	_, err := io.WriteString(w, b.String())
	return err
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("      " + line)
	}
	return b.String()
}

// covered is a line that says what no test of a pipeline has seen change.
type covered struct {
	suite *suite
	line  string
}

// uncovered says by pipeline what no test has seen change; nothing unless it is asked for.
func (r *testReport) uncovered() []covered {
	if !r.coverage {
		return nil
	}
	seen := map[*suite]sqltest.Coverage{}
	var order []*suite
	for _, c := range r.cases {
		if _, ok := seen[c.suite]; !ok {
			seen[c.suite] = sqltest.NewCoverage()
			order = append(order, c.suite)
		}
		seen[c.suite].Add(c.result.Coverage)
	}
	var out []covered
	for _, s := range order {
		line := fmt.Sprintf("coverage of %s: %s; %s", s.dir, coverageOf(seen[s].Tables, "tables, views and results saw a change"), coverageOf(seen[s].Operators, "operators gave one"))
		out = append(out, covered{s, line})
	}
	return out
}

// coverageOf says how many of the counters are not zero, and which are.
func coverageOf(counters map[string]int64, what string) string {
	var never []string
	for _, name := range slices.Sorted(maps.Keys(counters)) {
		if counters[name] == 0 {
			never = append(never, name)
		}
	}
	line := fmt.Sprintf("%d of %d %s", len(counters)-len(never), len(counters), what)
	if never != nil {
		line += ", never: " + strings.Join(never, ", ")
	}
	return line
}

// tapReport is the Test Anything Protocol, version 14.
func tapReport(r *testReport, w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "TAP version 14\n1..%d\n", len(r.cases))
	for i, c := range r.cases {
		word := "ok"
		if c.result.Failed() {
			word = "not ok"
		}
		fmt.Fprintf(&b, "%s %d - %s\n", word, i+1, strings.ReplaceAll(c.name(), "#", `\#`))
		for line := range strings.Lines(r.details(c)) {
			b.WriteString("# " + line)
		}
	}
	for _, c := range r.uncovered() {
		b.WriteString("# " + c.line + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// The elements of JUnit's reports.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
		Out      string      `xml:"system-out,omitempty"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		File    string        `xml:"file,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitFailure `xml:"failure"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

func junitReport(r *testReport, w io.Writer) error {
	seconds := func(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
	all := junitSuites{Tests: len(r.cases), Failures: r.failed(), Time: seconds(r.elapsed)}
	var took []time.Duration
	at := map[*suite]int{}
	for _, c := range r.cases {
		i, ok := at[c.suite]
		if !ok {
			i = len(all.Suites)
			at[c.suite] = i
			all.Suites = append(all.Suites, junitSuite{Name: c.suite.dir})
			took = append(took, 0)
		}
		s := &all.Suites[i]
		jc := junitCase{Name: c.test.Name, Class: c.suite.dir, File: c.file.Path, Time: seconds(c.result.Elapsed)}
		if c.result.Failed() {
			s.Failures++
			details := r.details(c)
			first, _, _ := strings.Cut(details, "\n")
			jc.Failure = &junitFailure{Message: first, Text: details}
		}
		s.Tests++
		took[i] += c.result.Elapsed
		s.Time = seconds(took[i])
		s.Cases = append(s.Cases, jc)
	}
	for _, c := range r.uncovered() {
		all.Suites[at[c.suite]].Out = c.line
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
