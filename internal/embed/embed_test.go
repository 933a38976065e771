package embed

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, text string) string {
	t.Helper()
	f := filepath.Join(t.TempDir(), "r.jsonl")
	if err := os.WriteFile(f, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestStartLoadsRecords(t *testing.T) {
	t.Parallel()
	f := write(t, `{"topic":"a","key":"{\"id\":1}","value":"x\u0000y"}
{"topic":"a","key":"{\"id\":1}","value":null,"headers":[["h","v"],["n",null]],"timestamp":1700000000123}

{"topic":"b","key":null,"value":""}
{"topic":"b","value":"2"}
{"topic":"c","value":"3"}
`)
	at := time.Now()
	b, err := Start(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("started in %v", time.Since(at))
	defer b.Close()
	for range 2 { // the second time there is nothing left to load
		if err := b.Load(func(topic string) bool { return topic == "c" }); err != nil {
			t.Fatal(err)
		}
	}
	for topic, want := range map[string]struct {
		partitions int
		records    int64
	}{"a": {Partitions, 2}, "b": {Partitions, 2}, "c": {1, 1}} {
		if p, n := len(b.cluster.PartitionInfos(topic)), b.Len(topic); p != want.partitions || n != want.records {
			t.Errorf("topic %s: %d partitions of %d records", topic, p, n)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	a, err := b.Consume(ctx, "a", 2)
	if err != nil {
		t.Fatal(err)
	}
	if a[0].Partition != a[1].Partition || string(a[0].Value) != "x\x00y" || a[1].Value != nil {
		t.Errorf("records of a: %+v", a)
	}
	if h := a[1].Headers; len(h) != 2 || h[0].Key != "h" || string(h[0].Value) != "v" || h[1].Value != nil || a[1].Timestamp.UnixMilli() != 1700000000123 {
		t.Errorf("headers and time: %+v", a[1])
	}
	r, err := b.Consume(ctx, "b", 2)
	if err != nil {
		t.Fatal(err)
	}
	if r[0].Key != nil || r[0].Partition == r[1].Partition {
		t.Errorf("records without keys: %+v", r)
	}
	if b.Len("a") != 2 || b.Len("nothing") != 0 {
		t.Errorf("lengths %d, %d", b.Len("a"), b.Len("nothing"))
	}
}

func TestMalformedLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{\"topic\":\"a\"}\n{":                     "r.jsonl:2: no record",
		`{"key":"a"}`:                              `r.jsonl:1: "topic" is missing`,
		`{"topic":"a","val":"x"}`:                  `unknown field "val"`,
		`{"topic":"a"} {"topic":"b"}`:              "more than one JSON object",
		`{"topic":"a","headers":[["k"]]}`:          `"headers" wants pairs`,
		`{"topic":"a","value":{"not":"a string"}}`: "cannot unmarshal object",
		`{"topic":"a","timestamp":1.5}`:            `"timestamp" wants milliseconds`,
	} {
		_, err := Start(write(t, text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
	if _, err := Start("no such file"); err == nil {
		t.Error("a missing file is no error")
	}
}
