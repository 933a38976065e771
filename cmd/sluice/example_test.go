package main

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// The example prints the changes of the join, and then the rows that they leave.
func TestExample(t *testing.T) {
	o := sluice(t, workspace(t), "", "run", "--embed", "examples/users-domains/events.jsonl", "examples/users-domains/pipeline.sql").succeeded(t)
	changes, table, ok := strings.Cut(o.stdout, "+---")
	if !ok {
		t.Fatalf("no table:\n%s", o.stdout)
	}
	want := expectedJoin(t, repository(t)+"/internal/testdata/debezium/postgres/users_domains.full.final.json")
	left := map[string]int{}
	for line := range strings.Lines(changes) {
		row := strings.ReplaceAll(strings.TrimSuffix(line[3:], "]\n"), ", ", "|")
		switch line[:3] {
		case "+I[", "+U[":
			left[row]++
		case "-U[", "-D[":
			left[row]--
		default:
			t.Errorf("unexpected line %q", line)
		}
	}
	for _, row := range want {
		left[row]--
	}
	for row, n := range left {
		if n != 0 {
			t.Errorf("the changes leave %+d of %s", n, row)
		}
	}
	if got := tableRows(t, "+---"+table); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// From the start of the process to the first row of the example.
func BenchmarkFirstRow(b *testing.B) {
	dir := workspace(b)
	var total time.Duration
	for b.Loop() {
		ctx, cancel := context.WithCancel(context.Background())
		cmd := command(ctx, dir, "run", "--embed", "examples/users-domains/events.jsonl", "examples/users-domains/pipeline.sql")
		out, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		begin := time.Now()
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			b.Fatal(err)
		}
		total += time.Since(begin)
		_, _ = io.Copy(io.Discard, out)
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
		cancel()
	}
	b.ReportMetric(float64(total.Microseconds())/float64(b.N)/1000, "ms/first-row")
}
