package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Records without a change are counted by table and kind, fields that no column declares are listed with their first
// place, and a column that no record has is warned of.
func TestWhatTheTableDoesNotSay(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	for _, r := range [][2]any{
		{`{"id":1}`, `{"before":null,"after":{"id":1,"userId":3,"extra":1},"op":"c"}`},
		{`{"id":1}`, `{"before":null,"after":{"id":1,"userId":4,"extra":1},"op":"u"}`},
		{`{"id":1}`, `{"before":{"id":1},"after":null,"op":"d"}`},
		{`{"id":1}`, nil},
		{`{"id":1}`, `{"ts_ms":1}`},
		{`{"id":1}`, `{"ts_ms":2}`},
		{`{"id":1}`, `{"op":"m","message":{"prefix":"p","content":""}}`},
		{`{"id":1}`, `{"before":null,"after":{"id":1,"userId":5,"extra":1,"late":2},"op":"c"}`},
	} {
		text, err := json.Marshal(map[string]any{"topic": "in", "key": r[0], "value": r[1]})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(text, '\n'))
	}
	file, summary := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "summary.json")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	o := sluice(t, dir, `
CREATE TABLE t (id INT, user_id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'kafka', 'topic' = 'in', 'properties.bootstrap.servers' = '${KAFKA_BROKERS}',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'debezium-json');
SELECT id, user_id FROM t;`, "run", "--embed", file, "--summary-json", summary, "-").succeeded(t)
	for _, want := range []string{
		`@0: the column "user_id" is not among the fields, and reads as NULL; there is a field "userId"`,
		`@7: the field "late" is new`, "without a change t: 2 heartbeat, 1 logical message, 1 tombstone",
	} {
		if !strings.Contains(o.stderr, want) {
			t.Errorf("nothing says %q:\n%s", want, o.stderr)
		}
	}
	text, err := os.ReadFile(summary)
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		NoChange      map[string]map[string]int64  `json:"no_change"`
		UnknownFields map[string]map[string]string `json:"unknown_fields"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	if c := s.NoChange["t"]; len(c) != 3 || c["heartbeat"] != 2 || c["logical message"] != 1 || c["tombstone"] != 1 {
		t.Errorf("records without a change: %v", s.NoChange)
	}
	u := s.UnknownFields["t"]
	if len(u) != 3 || !strings.HasSuffix(u["userId"], "@0") || !strings.HasSuffix(u["extra"], "@0") || !strings.HasSuffix(u["late"], "@7") {
		t.Errorf("fields not declared: %v", s.UnknownFields)
	}
}
