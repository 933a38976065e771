package parser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/sql/ast"
)

// FuzzParse holds for any text: no panic, errors whose place lies in the
// text, no mistake of the skeleton, and whatever is read can be printed and
// read again as the same tree. The seeds are the scripts of testdata.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("testdata/*/*.txt")
	if err != nil || len(paths) == 0 {
		f.Fatal("no seeds: ", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for block := range strings.SplitSeq(string(text), "\n\n") {
			input, _, _ := strings.Cut(block, "----")
			for line := range strings.Lines(input) {
				f.Add(strings.TrimSpace(line))
				f.Add("SELECT " + strings.TrimSpace(line))
			}
			f.Add(input)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			t.Skip("long texts only slow the search")
		}
		Complete(text)
		stmts, err := Parse("t.sql", text)
		if err != nil {
			checkErrors(t, text, err)
		}
		for _, s := range stmts {
			checkRoundTrip(t, s)
		}
	})
}

func benchText() string {
	return `CREATE TABLE users (id BIGINT, firstname STRING, lastname STRING, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'kafka', 'topic' = 'users', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'debezium-json');
INSERT INTO user_domains
SELECT u.id AS user_id, u.firstname, u.lastname, d.domain_name,
  CASE WHEN d.domain_name LIKE 'A%' THEN CAST(d.id AS STRING) ELSE COALESCE(u.firstname, 'x') END AS label
FROM users AS u
  JOIN domains AS d ON u.id = d.user_id AND d.id > 10
  LEFT JOIN (SELECT user_id, COUNT(*) AS n FROM orders GROUP BY user_id) AS o ON o.user_id = u.id
WHERE u.lastname IS NOT NULL
UNION ALL SELECT 0, 'a', 'b', 'c', 'd';
`
}

func BenchmarkParse(b *testing.B) {
	text := benchText()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("bench.sql", text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseExpr(b *testing.B) {
	text := "a.b + 1 * COALESCE(x, 'y') > 10 AND CASE WHEN c THEN d ELSE -e END IS NOT NULL OR f IN (1, 2, 3)"
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseExpr("bench.sql", text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkString(b *testing.B) {
	stmts, err := Parse("bench.sql", benchText())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range stmts {
			ast.String(s)
		}
	}
}
