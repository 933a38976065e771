package runtime_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/internal/memconn"
	"github.com/sluicesql/sluice/runtime"
)

func TestParseSkip(t *testing.T) {
	for _, text := range []string{"users/3@8812", "users/pg.public.users/0@0"} {
		if s, err := runtime.ParseSkip(text); err != nil || s.String() != text {
			t.Errorf("%s: %v %v", text, s, err)
		}
	}
	for _, text := range []string{"", "users", "users@1", "users/x@1", "users/1@x", "users/-1@1", "users/1@-1", "/1@1", "a/b/c/1@1", "users/1"} {
		if s, err := runtime.ParseSkip(text); err == nil {
			t.Errorf("%q is %v", text, s)
		}
	}
}

// A message that is skipped by name changes nothing, also when the job starts again; the directory tells of it.
func TestSkip(t *testing.T) {
	d := newDirectory(t)
	skip := func(names ...string) func(*runtime.Config) {
		return func(cfg *runtime.Config) {
			for _, n := range names {
				s, err := runtime.ParseSkip(n)
				d.must(err)
				cfg.Skips = append(cfg.Skips, s)
			}
		}
	}
	for name, want := range map[string]string{
		"people/0@1":          "the job reads no table people; it reads users",
		"users/7@1":           "no such partition; it reads users with 2 partitions",
		"users/elsewhere/0@1": "no such partition",
	} {
		if err := d.run(pairsSQL, skip(name)); err == nil || !strings.Contains(err.Error(), "--skip "+name) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	want := d.expected(pairsSQL, "pairs")
	at := d.hub.Len("users", 1)
	poison := memconn.Event{After: []row.Datum{row.Int(7), row.String("poison"), row.Int(1)}}
	d.hub.Append("users", 1, poison)
	name := runtime.Skip{Table: "users", Partition: 1, Offset: at}.String()
	d.must(d.run(pairsSQL, skip(name)))
	same(t, "pairs", d.net("pairs", 0), want)
	d.must(d.run(pairsSQL, skip(name))) // the same command line again
	info, err := runtime.ReadInfo(nil, d.dir)
	d.must(err)
	if !slices.Contains(info.Skips, runtime.Skip{Table: "users", Topic: "users", Partition: 1, Offset: at}) {
		t.Errorf("skips %v", info.Skips)
	}
	if err := d.run(pairsSQL, skip("users/1@3")); err == nil || !strings.Contains(err.Error(), "was read already") {
		t.Errorf("a message that was read: %v", err)
	}
}

// A message is skipped in the topic that it was named in, and not in another one that the table is read from later.
func TestSkipIsOfOneTopic(t *testing.T) {
	d := newDirectory(t)
	s, err := runtime.ParseSkip("users/1@0")
	d.must(err)
	d.must(d.run(pairsSQL, func(cfg *runtime.Config) { cfg.Skips = []runtime.Skip{s} }))
	info, err := runtime.ReadInfo(nil, d.dir)
	d.must(err)
	if len(info.Skips) != 1 || info.Skips[0].Topic != "users" {
		t.Fatalf("skips %v", info.Skips)
	}
}

// A message that a logged epoch has read is part of what is repeated after a crash, so it can no longer be skipped.
func TestSkipWithinLoggedEpochs(t *testing.T) {
	d := newDirectory(t)
	d.crashLogged(pairsSQL)
	var read runtime.Skip
	for _, p := range d.log.cuts[d.log.last]["users"] {
		read = runtime.Skip{Table: "users", Partition: p.Partition, Offset: p.Offset - 1}
	}
	skip := func(s runtime.Skip) func(*runtime.Config) {
		return func(cfg *runtime.Config) { cfg.Skips = []runtime.Skip{s} }
	}
	if err := d.run(pairsSQL, skip(read)); err == nil || !strings.Contains(err.Error(), "was read already") {
		t.Errorf("a message of a logged epoch: %v", err)
	}
	next := runtime.Skip{Table: "users", Partition: 1, Offset: d.hub.Len("users", 1)}
	want := d.expected(pairsSQL, "pairs")
	d.hub.Append("users", 1, memconn.Event{After: []row.Datum{row.Int(7), row.String("poison"), row.Int(1)}})
	d.must(d.run(pairsSQL, skip(next)))
	same(t, "pairs", d.net("pairs", 0), want)
}
