package runtime_test

import (
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/internal/memconn"
	"github.com/sluicesql/sluice/runtime"
)

// reemitQueries give rows of (BIGINT, STRING, STRING) from every kind of operator with state.
var reemitQueries = map[string]string{
	"normalise":      `SELECT id, firstname, firstname FROM users WHERE age > 3`,
	"inner join":     `SELECT u.id, u.firstname, d.domain_name FROM users u JOIN domains d ON u.id = d.user_id`,
	"residual":       `SELECT u.id, u.firstname, d.domain_name FROM users u JOIN domains d ON u.id = d.user_id AND u.firstname <> d.domain_name AND u.age > d.id - 20`,
	"left join":      `SELECT u.id, u.firstname, d.domain_name FROM users u LEFT JOIN domains d ON u.id = d.user_id`,
	"full join":      `SELECT u.id, u.firstname, d.domain_name FROM users u FULL JOIN domains d ON u.age = d.user_id`,
	"left residual":  `SELECT u.id, u.firstname, d.domain_name FROM users u LEFT JOIN domains d ON u.id = d.user_id AND u.age > d.id - 20`,
	"full residual":  `SELECT u.id, u.firstname, d.domain_name FROM users u FULL JOIN domains d ON u.id = d.user_id AND u.age > d.id - 20`,
	"NULL keys":      `SELECT u.id, u.firstname, d.domain_name FROM users u FULL JOIN domains d ON NULLIF(u.age, 3) = d.user_id`,
	"semi join":      `SELECT id, firstname, firstname FROM users WHERE id IN (SELECT user_id FROM domains)`,
	"anti join":      `SELECT id, firstname, firstname FROM users u WHERE NOT EXISTS (SELECT 1 FROM domains d WHERE d.user_id = u.id)`,
	"three tables":   `SELECT u.id, o.region, d.domain_name FROM users u JOIN domains d ON u.id = d.user_id JOIN orders o ON o.domain_id = d.id`,
	"group":          `SELECT user_id, MAX(domain_name), CAST(COUNT(*) AS STRING) FROM domains GROUP BY user_id`,
	"global":         `SELECT COUNT(*), MIN(firstname), MAX(firstname) FROM users`,
	"distinct call":  `SELECT user_id, CAST(COUNT(DISTINCT domain_name) AS STRING), CAST(AVG(id) AS STRING) FROM domains GROUP BY user_id`,
	"group of joins": `SELECT u.age, CAST(COUNT(*) AS STRING), MAX(d.domain_name) FROM users u JOIN domains d ON u.id = d.user_id GROUP BY u.age`,
	"top":            `SELECT id, domain_name, domain_name FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY id DESC) AS n FROM domains) WHERE n <= 2`,
	"union":          `SELECT id, firstname, firstname FROM users UNION SELECT id, domain_name, domain_name FROM domains`,
	"union all":      `SELECT id, firstname, firstname FROM users UNION ALL SELECT id, domain_name, domain_name FROM domains`,
	"except":         `SELECT id, firstname, firstname FROM users EXCEPT SELECT user_id, domain_name, domain_name FROM domains`,
}

// A sink that is written anew is given exactly the present result, as inserts, and nothing else changes: other sinks
// get nothing, the state stays as it is, and what comes later is right.
func TestReemit(t *testing.T) {
	for name, query := range reemitQueries {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDirectory(t)
			sql := "INSERT INTO pairs " + query + "; INSERT INTO names SELECT id, name FROM (" + query + ") AS q(id, name, more);"
			budget := func(cfg *runtime.Config) { cfg.MemoryBudget = 1 << 20 }
			d.must(d.run(sql, budget))
			rows := d.job.Stats().StateRows
			before := d.log.last
			want := d.expected(sql, "pairs")
			if len(want) == 0 {
				t.Fatal("the query gives nothing")
			}
			d.must(d.run(sql, func(cfg *runtime.Config) {
				budget(cfg)
				cfg.Reemit, cfg.Parallelism = []string{"pairs"}, 3
			}))
			same(t, "pairs written anew", d.net("pairs", before), want)
			same(t, "names", d.net("names", before), weights{})
			for e := before + 1; e <= d.log.last; e++ {
				changes, _ := d.hub.Sink("pairs").Epoch(e)
				for _, c := range changes {
					if c.Op.Negative() {
						t.Errorf("a %v among what is written anew", c.Op)
					}
				}
			}
			if now := d.job.Stats().StateRows; now != rows {
				t.Errorf("%d rows of state, before %d", now, rows)
			}
			d.grow(60)
			d.must(d.run(sql, budget))
			same(t, "pairs after more", d.net("pairs", before), d.expected(sql, "pairs"))
			same(t, "names after more", d.net("names", 0), d.expected(sql, "names"))
		})
	}
}

// What a crash left to be repeated is repeated first, in the epochs that it was; a crash while a sink is written anew
// repeats that, once.
func TestReemitAndCrashes(t *testing.T) {
	sql := "INSERT INTO pairs " + reemitQueries["left join"] + ";"
	anew := func(cfg *runtime.Config) { cfg.Reemit = []string{"pairs"} }
	d := newDirectory(t)
	if !d.crash(sql, 2) {
		t.Fatal("it was not killed in time")
	}
	before := d.log.last
	d.must(d.run(sql, anew))
	// The epoch in which it was written anew is the second after those repeated: a checkpoint lies between.
	gave := d.expected(sql, "pairs")
	found := false
	for e := before; e <= d.log.last; e++ {
		anew := d.epoch("pairs", e)
		if len(anew) > 0 && len(anew.minus(d.between("pairs", 0, e-1)).list()) == 0 {
			found = true
			same(t, "pairs", d.net("pairs", 0).minus(anew), gave)
		}
	}
	if !found {
		t.Error("no epoch gave the present result anew")
	}
	// Killed in the epoch itself, before or after its checkpoint: once its cut is logged.
	repeated := false
	for try := 0; try < 20 && !repeated; try++ {
		before = d.log.last
		started := make(chan struct{})
		d.must(d.start(sql, func(cfg *runtime.Config) {
			anew(cfg)
			cfg.Hooks.Cut = func(n uint64, pos map[string][]spi.Position) {
				d.log.cut(n, pos)
				<-started
				d.job.Kill()
			}
		}))
		close(started)
		_ = d.job.Wait()
		info, err := runtime.ReadInfo(nil, d.dir)
		d.must(err)
		if repeated = info.Logged > 0; repeated {
			if err := d.run(sql, func(cfg *runtime.Config) { cfg.Reemit = []string{"names"} }); err == nil || !strings.Contains(err.Error(), "has to end that first") {
				t.Errorf("another sink to be written anew: %v", err)
			}
		}
		d.must(d.run(sql, nil))
		same(t, "pairs after a crash", d.net("pairs", before), gave)
	}
	if !repeated {
		t.Error("never killed before the checkpoint")
	}
}

// What cannot be written from state is refused by name.
func TestReemitRefused(t *testing.T) {
	d := newDirectory(t)
	anew := func(name string) func(*runtime.Config) {
		return func(cfg *runtime.Config) { cfg.Reemit = []string{name} }
	}
	if err := d.run(pairsSQL, anew("pairs")); err == nil || !strings.Contains(err.Error(), "no state") {
		t.Errorf("a job without a past: %v", err)
	}
	d.must(d.run(pairsSQL, nil))
	if err := d.run(pairsSQL, anew("pears")); err == nil || !strings.Contains(err.Error(), "it writes pairs") {
		t.Errorf("an unknown sink: %v", err)
	}
	d.dir = t.TempDir()
	stateless := `CREATE TABLE clicks (id BIGINT, name STRING) WITH ('connector' = 'mem', 'name' = 'clicks', 'native' = 'append');
		INSERT INTO names SELECT id, name FROM clicks;`
	d.hub.SetTable("clicks", [][]memconn.Event{{{After: []row.Datum{row.Int(1), row.String("x")}}}})
	d.must(d.run(stateless, nil))
	if err := d.run(stateless, anew("names")); err == nil || !strings.Contains(err.Error(), "--reemit names: rows of table clicks reach it") {
		t.Errorf("a pipeline without state: %v", err)
	}
	// Nor is it advised where it would be refused.
	d.must(d.run(stateless+"INSERT INTO pairs SELECT id, name, name FROM clicks;", nil))
	if notes := strings.Join(d.notes, "\n"); !strings.Contains(notes, "pairs is a new sink of inputs that were read before") || strings.Contains(notes, "--reemit") {
		t.Errorf("notes of a new sink:\n%s", notes)
	}
}
