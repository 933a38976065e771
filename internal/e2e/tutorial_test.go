package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/internal/realdebezium"
	"github.com/sluicesql/sluice/internal/realkafka"
)

// tutorialBlock is a block of the tutorial: what it is, and its text.
var tutorialBlock = regexp.MustCompile("(?ms)^```(sql postgres|sql after sluice init|json)\n(.*?)^```$")

// TestTutorial does what the tutorial says about a database of one's own: on a real PostgreSQL, Debezium and Kafka,
// by the tutorial's own blocks. Only names and addresses are others.
func TestTutorial(t *testing.T) {
	addr := kafka(t)
	page, err := os.ReadFile("../../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	prefix := realkafka.UniqueName("tutorial")
	blocks := map[string][]string{}
	for _, m := range tutorialBlock.FindAllStringSubmatch(string(page), -1) {
		blocks[m[1]] = append(blocks[m[1]], strings.ReplaceAll(m[2], "'shop.", "'"+prefix+"."))
	}
	postgres, sql := blocks["sql postgres"], blocks["sql after sluice init"]
	if len(postgres) != 2 || len(sql) != 2 || len(blocks["json"]) != 1 {
		t.Fatalf("the tutorial has other blocks: %v", blocks)
	}
	db := realdebezium.StartPostgres(t)
	db.Query(t, postgres[0])
	var connector struct {
		Config map[string]string `json:"config"`
	}
	if err := json.Unmarshal([]byte(blocks["json"][0]), &connector); err != nil {
		t.Fatal(err)
	}
	tables := strings.Split(connector.Config["table.include.list"], ",")
	for name := range connector.Config { // what the test knows better
		if strings.HasPrefix(name, "database.") || name == "topic.prefix" {
			delete(connector.Config, name)
		}
	}
	realdebezium.Capture(t, db, addr, prefix, tables, connector.Config)

	dir := t.TempDir()
	sluice := func(args ...string) string {
		cmd := exec.Command(binary, args...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("sluice %v: %v", args, err)
		}
		return string(out)
	}
	sluice("init", "shop")
	edit := func(name string, change func(string) string) {
		file := filepath.Join(dir, "shop", name)
		before, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		after := change(string(before))
		if after == string(before) {
			t.Fatalf("%s is not what the tutorial says", name)
		}
		if err := os.WriteFile(file, []byte(after), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	edit("result.sql", func(string) string { return sql[0] })
	edit("pipeline.sql", func(s string) string {
		s, _, _ = strings.Cut(s, "CREATE VIEW")
		return strings.ReplaceAll(s, "'shop.", "'"+prefix+".") + sql[1]
	})
	edit("sluice.yaml", func(s string) string {
		return strings.NewReplacer("sql: [pipeline.sql]", "sql: [result.sql, pipeline.sql]", "kafka:9092", addr).Replace(s)
	})
	until(t, "Debezium has made the topics", func() bool {
		return exists(t, addr, prefix+".public.users") && exists(t, addr, prefix+".public.domains")
	})
	if out := sluice("infer", "--bootstrap", addr, prefix+".public.users"); !strings.Contains(out, "`firstname` STRING") || !strings.Contains(out, "PRIMARY KEY (`id`) NOT ENFORCED") {
		t.Errorf("sluice infer prints\n%s", out)
	}
	job := startFiles(t, "", "--env", "prod", filepath.Join(dir, "shop"))
	holds := func(want ...string) {
		t.Helper()
		var got []string
		for deadline := time.Now().Add(patience); !slices.Equal(got, want); time.Sleep(200 * time.Millisecond) {
			job.running()
			if exists(t, addr, prefix+".user-domains") {
				got = strings.Split(strings.TrimSpace(sluice("sql", "--output", "csv", "--set-var", "KAFKA_BROKERS="+addr, filepath.Join("shop", "result.sql"),
					"-e", "SELECT * FROM user_domains /*+ OPTIONS('scan.bounded.mode' = 'latest-offset') */")), "\n")[1:]
				slices.Sort(got)
			}
			if time.Now().After(deadline) {
				same(t, "the topic", got, want)
				t.Fatalf("stderr:\n%s", job.stderr.String())
			}
		}
	}
	holds("1,1,Egor,Myasnik,Approval", "2,1,Egor,Myasnik,Rejection", "3,1,Egor,Myasnik,Stoppage", "4,3,Mitya,Volk,Cancellation")
	job.kill()
	db.Query(t, postgres[1])
	job = startFiles(t, "", "--env", "prod", filepath.Join(dir, "shop"))
	holds("1,1,Egor,Myasnik,Approval", "2,2,Pavel,Hvastun,Rejection", "3,1,Egor,Myasnik,Stoppage")
	job.terminate()
}
