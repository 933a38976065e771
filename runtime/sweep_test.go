package runtime_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/internal/memconn"
	"github.com/sluicesql/sluice/runtime"
)

// Rows whose deletes were lost are found by a second snapshot, and deleted by the next start, once, whatever operator
// keeps the table's rows.
func TestSweep(t *testing.T) {
	for name, c := range map[string]struct{ sql, table, sink string }{
		"join by primary key": {pairsSQL, "users", "pairs"},
		"join by index":       {pairsSQL, "domains", "pairs"},
		"normalised":          {"INSERT INTO names SELECT id + 0, firstname FROM users;", "users", "names"},
		"filtered":            {"INSERT INTO names SELECT id, firstname FROM users WHERE age > 8;", "users", "names"},
		"two readers":         {"INSERT INTO names SELECT id, firstname FROM users;" + pairsSQL, "users", "pairs"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDirectory(t)
			d.must(d.run(c.sql, nil))
			// The second snapshot shows two rows out of three.
			o := runtime.SweepOptions{Table: c.table}
			for p := range 2 {
				o.Since = append(o.Since, spi.Position{Partition: int32(p), Offset: d.hub.Len(c.table, p)})
			}
			var lost [][]row.Datum
			for id := range int64(60) {
				now := d.live[fmt.Sprint(c.table, id)]
				if now == nil {
					continue
				}
				if id%3 == 0 {
					lost = append(lost, now)
				} else {
					d.hub.Append(c.table, int(id%2), memconn.Event{After: now})
				}
			}
			d.must(d.run(c.sql, nil))
			sweep := func(o runtime.SweepOptions) (*runtime.SweepResult, error) {
				return runtime.Sweep(context.Background(), runtime.Config{Plan: d.planOf(c.sql), StateDir: d.dir, Version: "sluice test"}, o)
			}
			r, err := sweep(o)
			d.must(err)
			want := map[string]bool{}
			for _, v := range lost {
				want[fmt.Sprintf("(id: %d)", v[0].I)] = true
			}
			if name != "filtered" && len(r.Stale) != len(lost) || len(r.Stale) == 0 || r.Held < r.Seen/2 {
				t.Errorf("found %v of %v", r, lost)
			}
			for _, s := range r.Stale {
				if !want[s] {
					t.Errorf("%s is not stale", s)
				}
			}
			before := d.log.last
			d.must(d.run(c.sql, nil))
			same(t, "after looking only", d.net(c.sink, before), weights{})

			o.Apply = true
			_, err = sweep(o)
			d.must(err)
			// It is killed once in the epoch of the deletes, then runs to the end.
			d.crash(c.sql, 1)
			d.must(d.run(c.sql, nil))
			got := d.net(c.sink, 0)
			// As if the deletes had not been lost. They come now, too late: the job does not mind.
			for _, v := range lost {
				d.hub.Append(c.table, int(v[0].I%2), memconn.Event{Before: v})
			}
			same(t, c.sink, got, d.expected(c.sql, c.sink))
			before = d.log.last
			d.must(d.run(c.sql, nil))
			same(t, "deletes that come late", d.net(c.sink, before), weights{})
			// A row that comes again after the sweep stays.
			d.hub.Append(c.table, int(lost[0][0].I%2), memconn.Event{After: lost[0]})
			d.must(d.run(c.sql, nil))
			same(t, c.sink+" with a row again", d.net(c.sink, 0), d.expected(c.sql, c.sink))

			for what, change := range map[string]func(*runtime.SweepOptions){
				"it reads":            func(o *runtime.SweepOptions) { o.Table = "people" },
				"in partition 1":      func(o *runtime.SweepOptions) { o.Since = o.Since[:1] },
				"let it read the":     func(o *runtime.SweepOptions) { o.Since = []spi.Position{{Offset: 1 << 40}, o.Since[1]} },
				"not start at a time": func(o *runtime.SweepOptions) { o.Since = nil },
			} {
				o := o
				o.Since = slices.Clone(o.Since)
				change(&o)
				if _, err := sweep(o); err == nil || !strings.Contains(err.Error(), what) {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}

// The deletes of a sweep come before all that is read after it: rows that came again meanwhile stay, whichever reader
// they come through.
func TestSweepComesFirst(t *testing.T) {
	for _, sql := range []string{pairsSQL, "INSERT INTO names SELECT id + 0, firstname FROM users;" + pairsSQL} {
		d := newDirectory(t)
		for id := range int64(4000) {
			d.change("users", id, row.Int(id), row.String("name"), row.Int(1))
		}
		d.must(d.run(sql, nil))
		o := runtime.SweepOptions{Table: "users", Apply: true}
		for p := range 2 {
			o.Since = append(o.Since, spi.Position{Partition: int32(p), Offset: d.hub.Len("users", p)})
		}
		r, err := runtime.Sweep(context.Background(), runtime.Config{Plan: d.planOf(sql), StateDir: d.dir, Version: "sluice test"}, o)
		d.must(err)
		if len(r.Stale) < 1000 {
			t.Fatalf("%d rows are stale", len(r.Stale))
		}
		for id := range int64(60) {
			if now := d.live[fmt.Sprint("users", id)]; now != nil {
				d.hub.Append("users", int(id%2), memconn.Event{After: now})
			}
		}
		d.must(d.run(sql, func(cfg *runtime.Config) { cfg.EpochMaxRows = 100_000 }))
		for id := range int64(4000) { // as if they had been deleted
			if at := fmt.Sprint("users", id); id >= 60 && d.live[at] != nil {
				d.hub.Append("users", int(id%2), memconn.Event{Before: d.live[at]})
			}
		}
		same(t, "pairs", d.net("pairs", 0), d.expected(sql, "pairs"))
	}
}

// A sweep that waits is not lost to SQL that has its table read from the start.
func TestSweepAndRebuild(t *testing.T) {
	d := newDirectory(t)
	d.must(d.run(pairsSQL, nil))
	o := runtime.SweepOptions{Table: "users", Apply: true}
	for p := range 2 {
		o.Since = append(o.Since, spi.Position{Partition: int32(p), Offset: d.hub.Len("users", p)})
	}
	_, err := runtime.Sweep(context.Background(), runtime.Config{Plan: d.planOf(pairsSQL), StateDir: d.dir, Version: "sluice test"}, o)
	d.must(err)
	changed := strings.Replace(pairsSQL, "u.id = d.user_id", "u.age = d.user_id", 1)
	rebuild := func(cfg *runtime.Config) { cfg.AllowRebuild = true }
	if err := d.run(changed, rebuild); err == nil || !strings.Contains(err.Error(), "a sweep of") || !strings.Contains(err.Error(), "SQL as it was") {
		t.Fatalf("rebuilt under a sweep that waits: %v", err)
	}
	d.must(d.run(pairsSQL, nil))
	same(t, "pairs", d.net("pairs", 0), weights{})
	d.must(d.run(changed, rebuild))
}
