package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicesql/sluice/internal/realkafka"
)

// standIn is an environment variable that makes this test binary a plain stand-in
// for sluice: a join over two maps that takes the same arguments. So the
// benchmark is tested without the product, and can be told a wrong result.
const standIn = "BENCHRUN_STAND_IN"

func TestMain(m *testing.M) {
	mode := os.Getenv(standIn)
	if mode == "" {
		os.Exit(m.Run())
	}
	if err := runStandIn(os.Args[1:], mode); err != nil {
		fmt.Fprintln(os.Stderr, "stand-in:", err)
		os.Exit(1)
	}
}

var topicOption = regexp.MustCompile(`'topic' = '([^']+)'`)

func runStandIn(args []string, mode string) error {
	switch {
	case args[0] == "init":
		fmt.Println("wrote a file\nnow: go on")
		return nil
	case args[0] == "test":
		fmt.Println("ok  a test")
		return nil
	case slices.Contains(args, "--embed"), strings.HasPrefix(filepath.Base(args[1]), "demo"):
		fmt.Printf("a heading\n+I[1, Egor, Myasnik, Approval]\n+I[1, Egor, Myasnik, Rejection]\n")
		return nil
	}
	text, err := os.ReadFile(args[len(args)-1])
	if err != nil {
		return err
	}
	var topics []string
	for _, m := range topicOption.FindAllStringSubmatch(string(text), -1) {
		topics = append(topics, m[1])
	}
	j := &naiveJoin{users: map[int]inputRow{}, domains: map[int]inputRow{}, mode: mode}
	for i, a := range args {
		if a == "--summary-json" {
			j.summary = args[i+1]
		}
		if v, ok := strings.CutPrefix(a, "KAFKA_BROKERS="); ok {
			j.addr = v
		}
	}
	if len(topics) == 3 {
		j.output = topics[2]
	}
	if j.client, err = kgo.NewClient(append(realkafka.ProducerOptions(j.addr), kgo.ConsumeTopics(topics[:2]...))...); err != nil {
		return err
	}
	defer j.client.Close()
	if strings.Contains(string(text), "'scan.bounded.mode' = 'latest-offset'") {
		err = j.runBounded(topics)
	} else {
		err = j.runUntilInterrupted(topics)
	}
	if err != nil {
		return err
	}
	said := fmt.Sprintf(`{"records_in":%d,"changes_out":%d,"state_rows":%d,"state_bytes":0}`, j.in, j.out, len(j.users)+len(j.domains))
	return errors.Join(j.client.Flush(context.Background()), os.WriteFile(j.summary, []byte(said), 0o644))
}

// naiveJoin recomputes what a change touches by a scan.
type naiveJoin struct {
	addr    string
	client  *kgo.Client
	output  string // empty for none
	summary string // the file for it
	mode    string // right; or missing, altered: what happens to one row
	users   map[int]inputRow
	domains map[int]inputRow
	in, out int64
}

type inputRow struct {
	ID        int    `json:"id"`
	UserID    int    `json:"user_id"`
	FirstName string `json:"firstname"`
	LastName  string `json:"lastname"`
	Name      string `json:"domain_name"`
}

func (j *naiveJoin) runBounded(topics []string) error {
	for _, topic := range topics[:2] {
		err := realkafka.ReadTopic(context.Background(), j.addr, topic, func(r *kgo.Record) error {
			j.in++
			return j.apply(r, func(*inputRow, *inputRow) {})
		})
		if err != nil {
			return err
		}
	}
	for _, d := range j.domains {
		if u, ok := j.users[d.UserID]; ok {
			switch j.mode {
			case "missing":
				j.mode = "right"
				continue
			case "altered":
				j.mode = "right"
				u.LastName = "Nobody"
			}
			j.emit("null", joined(u, d))
		}
	}
	return nil
}

func (j *naiveJoin) runUntilInterrupted(topics []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for {
		fetches := j.client.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil
		}
		var failed error
		fetches.EachRecord(func(r *kgo.Record) {
			j.in++
			failed = errors.Join(failed, j.apply(r, func(before, after *inputRow) {
				if r.Topic == topics[0] {
					j.userChanged(before, after)
				} else {
					j.domainChanged(before, after)
				}
			}))
		})
		if failed != nil {
			return failed
		}
	}
}

// apply changes a map and tells of it. Tombstones change nothing.
func (j *naiveJoin) apply(r *kgo.Record, changed func(before, after *inputRow)) error {
	if r.Value == nil {
		return nil
	}
	var e struct {
		Before, After *inputRow
		Source        struct{ Table string }
	}
	if err := json.Unmarshal(r.Value, &e); err != nil {
		return err
	}
	table := j.users
	if e.Source.Table == "domains" {
		table = j.domains
	}
	changed(e.Before, e.After)
	if e.Before != nil {
		delete(table, e.Before.ID)
	}
	if e.After != nil {
		table[e.After.ID] = *e.After
	}
	return nil
}

func (j *naiveJoin) userChanged(before, after *inputRow) {
	for _, d := range j.domains {
		if before != nil && before.ID == d.UserID {
			j.emit(joined(*before, d), "null")
		}
		if after != nil && after.ID == d.UserID {
			j.emit("null", joined(*after, d))
		}
	}
}

func (j *naiveJoin) domainChanged(before, after *inputRow) {
	if before != nil {
		if u, ok := j.users[before.UserID]; ok {
			j.emit(joined(u, *before), "null")
		}
	}
	if after != nil {
		if u, ok := j.users[after.UserID]; ok {
			j.emit("null", joined(u, *after))
		}
	}
}

func joined(u, d inputRow) string {
	return fmt.Sprintf(`{"id":%d,"firstname":%q,"lastname":%q,"domain_name":%q}`, u.ID, u.FirstName, u.LastName, d.Name)
}

func (j *naiveJoin) emit(before, after string) {
	j.out++
	if j.output == "" {
		return
	}
	op := "c"
	if after == "null" {
		op = "d"
	}
	value := `{"before":` + before + `,"after":` + after + `,"op":"` + op + `"}`
	j.client.Produce(context.Background(), &kgo.Record{Topic: j.output, Value: []byte(value)}, func(_ *kgo.Record, err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "stand-in:", err)
		}
	})
}

// newStandInBench is a bench whose binary is the stand-in.
func newStandInBench(t *testing.T, mode string) *bench {
	t.Helper()
	t.Setenv(standIn, mode)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return &bench{
		root: dir, sluice: self, dir: dir, addr: realkafka.ForTest(t).Addr(),
		runs: 2, parallelism: 2, log: t.Logf, settle: func() {},
	}
}
