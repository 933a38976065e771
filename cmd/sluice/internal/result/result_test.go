package result

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// The schema of the tests: id BIGINT, name STRING, price DECIMAL(20, 2).
var testTable = &spi.Table{Columns: []spi.Column{
	{Name: "id", Type: types.Of(types.BigInt)},
	{Name: "名前", Type: types.String()},
	{Name: "price", Type: types.DecimalOf(20, 2)},
}}

func testSpec(writers int) spi.SinkSpec {
	return spi.SinkSpec{Table: testTable, Columns: []int{0, 1, 2}, Mode: spi.Retract, Writers: writers}
}

type change struct {
	op    changelog.Op
	id    int64
	name  string // empty for NULL
	price int64
}

func batch(changes ...change) *changelog.Batch {
	b := &changelog.Batch{}
	var r row.Builder
	for _, c := range changes {
		r.Begin(b.Buf(), 3)
		r.Int64(0, c.id)
		if c.name != "" {
			r.String(1, c.name)
		}
		r.Wide(2, 0, uint64(c.price))
		b.Commit(c.op, r.Finish(nil))
	}
	return b
}

func open(t *testing.T, o Options, writers int) *Sink {
	t.Helper()
	s, err := Open(testSpec(writers), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func write(t *testing.T, w spi.Writer, changes ...change) {
	t.Helper()
	if err := w.Write(context.Background(), batch(changes...)); err != nil {
		t.Fatal(err)
	}
}

func barrier(t *testing.T, w spi.Writer, epoch uint64) {
	w.Barrier(context.Background(), epoch, func(err error) {
		if err != nil {
			t.Error(err)
		}
	})
}

func TestModeNamed(t *testing.T) {
	for _, m := range []Mode{Changelog, JSON, Table, Tableau} {
		if got := ModeNamed(strings.ToUpper(m.String())); got != m {
			t.Errorf("%s: %v", m, got)
		}
	}
}

func TestChangelog(t *testing.T) {
	var out strings.Builder
	s := open(t, Options{Mode: Changelog, Out: &out}, 1)
	w := s.Writer(0)
	write(t, w, change{changelog.Insert, 1, "Egor", 1050}, change{changelog.Delete, 2, "", 0})
	write(t, w, change{changelog.UpdateBefore, 3, "a\nb\x1b", 1}, change{changelog.UpdateAfter, 3, "ü", 1})
	if out.Len() > 0 {
		t.Errorf("shown before the epoch's end: %s", out.String())
	}
	barrier(t, w, 1)
	want := "+I[1, Egor, 10.50]\n-D[2, NULL, 0.00]\n-U[3, a␊b␛, 0.01]\n+U[3, ü, 0.01]\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	if st := s.Stats(); st.Rows != 4 || st.Bytes != int64(len(want)) {
		t.Errorf("stats %+v", st)
	}
	if err := s.Finish(true); err != nil || out.String() != want {
		t.Errorf("finish: %v, %s", err, out.String())
	}
}

func TestChangelogPlain(t *testing.T) {
	var out strings.Builder
	s := open(t, Options{Mode: Changelog, Out: &out, Plain: true}, 1)
	write(t, s.Writer(0), change{changelog.Insert, 1, "a\tb", 0})
	barrier(t, s.Writer(0), 1)
	if want := "+I[1, a\tb, 0.00]\n"; out.String() != want {
		t.Errorf("got %q", out.String())
	}
}

func TestJSON(t *testing.T) {
	var out strings.Builder
	s := open(t, Options{Mode: JSON, Out: &out}, 1)
	write(t, s.Writer(0), change{changelog.Insert, 9007199254740993, "q\"", 123456789012345678}, change{changelog.Delete, 2, "", 0})
	barrier(t, s.Writer(0), 1)
	want := `{"op":"+I","row":{"id":9007199254740993,"名前":"q\"","price":1234567890123456.78}}` + "\n" +
		`{"op":"-D","row":{"id":2,"名前":null,"price":0.00}}` + "\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

// An epoch appears when its last writer ends it, and before the next.
func TestEpochsInOrder(t *testing.T) {
	var out strings.Builder
	s := open(t, Options{Mode: Changelog, Out: &out}, 2)
	a, b := s.Writer(0), s.Writer(1)
	acked := 0
	ack := func(error) { acked++ }
	end := func(w spi.Writer, epoch uint64) { w.Barrier(context.Background(), epoch, ack) }
	write(t, a, change{changelog.Insert, 1, "a1", 0})
	end(a, 1)
	write(t, a, change{changelog.Insert, 2, "a2", 0})
	end(a, 2)
	if out.Len() > 0 || acked > 0 {
		t.Errorf("an unfinished epoch was shown: %s", out.String())
	}
	write(t, b, change{changelog.Insert, 3, "b1", 0})
	end(b, 1)
	if want := "+I[1, a1, 0.00]\n+I[3, b1, 0.00]\n"; out.String() != want || acked != 2 {
		t.Errorf("after epoch 1: %d acknowledged\n%s", acked, out.String())
	}
	out.Reset()
	end(b, 2)
	if want := "+I[2, a2, 0.00]\n"; out.String() != want || acked != 4 {
		t.Errorf("after epoch 2: %d acknowledged\n%s", acked, out.String())
	}
}

// A large epoch is not held in memory, but never overtakes the one before.
func TestLargeEpoch(t *testing.T) {
	var out strings.Builder
	s := open(t, Options{Mode: Changelog, Out: &out}, 2)
	a, b := s.Writer(0), s.Writer(1)
	big := change{changelog.Insert, 1, strings.Repeat("x", largeChunk), 0}
	write(t, a, big)
	if out.Len() < largeChunk {
		t.Error("a large chunk of the first epoch waits")
	}
	barrier(t, a, 1)
	out.Reset()
	write(t, a, big)
	if out.Len() > 0 {
		t.Error("the second epoch overtakes the first")
	}
	barrier(t, b, 1)
	barrier(t, a, 2)
	barrier(t, b, 2)
	if out.Len() < largeChunk {
		t.Error("the second epoch is lost")
	}
}

func TestTable(t *testing.T) {
	var out strings.Builder
	s := open(t, Options{Mode: Table, Out: &out}, 2)
	a, b := s.Writer(0), s.Writer(1)
	write(t, a, change{changelog.Insert, 10, "日本", 5}, change{changelog.Insert, -3, "", 100}, change{changelog.Insert, 7, "gone", 1})
	write(t, b, change{changelog.Insert, 10, "a|\n", 5}, change{changelog.Insert, 4, "twice", 0}, change{changelog.Insert, 4, "twice", 0})
	barrier(t, a, 1)
	barrier(t, b, 1)
	write(t, a, change{changelog.Delete, 7, "gone", 1})
	barrier(t, a, 2)
	barrier(t, b, 2)
	if out.Len() > 0 {
		t.Errorf("shown before the end: %s", out.String())
	}
	if err := s.Finish(true); err != nil {
		t.Fatal(err)
	}
	want := `
+----+--------+-------+
| id | 名前   | price |
+----+--------+-------+
| -3 | <NULL> |  1.00 |
|  4 | twice  |  0.00 |
|  4 | twice  |  0.00 |
| 10 | a|␊    |  0.05 |
| 10 | 日本   |  0.05 |
+----+--------+-------+
5 rows in set
`[1:]
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestTableSizes(t *testing.T) {
	table := func(maxRows int, changes ...change) string {
		var out strings.Builder
		s := open(t, Options{Mode: Table, Out: &out, MaxRows: maxRows}, 1)
		write(t, s.Writer(0), changes...)
		barrier(t, s.Writer(0), 1)
		if err := s.Finish(true); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	const head = "+----+------+-------+\n| id | 名前 | price |\n+----+------+-------+\n"
	if got := table(0); got != head+"0 rows in set\n" {
		t.Errorf("no rows:\n%s", got)
	}
	if got := table(0, change{changelog.Insert, 1, "a", 0}); !strings.HasSuffix(got, "1 row in set\n") {
		t.Errorf("one row:\n%s", got)
	}
	var many []change
	for i := range 2000 {
		many = append(many, change{changelog.Insert, int64((i * 7919) % 2000), "a", 0})
	}
	if got := table(2, many...); got != head+"|  0 | a    |  0.00 |\n|  1 | a    |  0.00 |\n+----+------+-------+\n2,000 rows in set, the first 2 of them shown\n" {
		t.Errorf("cut:\n%s", got)
	}
}

func TestTableRefusesUnknownDelete(t *testing.T) {
	s := open(t, Options{Mode: Table, Out: &strings.Builder{}}, 1)
	write(t, s.Writer(0), change{changelog.Delete, 1, "a", 0})
	var got error
	s.Writer(0).Barrier(context.Background(), 1, func(err error) { got = err })
	if want := "the result takes back a row that it never had: -D[1, a, 0.00]"; got == nil || got.Error() != want {
		t.Errorf("got %v", got)
	}
}

// A job that failed has no table to show.
func TestTableOfFailedJob(t *testing.T) {
	var out strings.Builder
	s := open(t, Options{Mode: Table, Out: &out}, 1)
	write(t, s.Writer(0), change{changelog.Insert, 1, "a", 0})
	barrier(t, s.Writer(0), 1)
	if err := s.Finish(false); err != nil || out.Len() > 0 {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// An output that fails fails the epoch and all later ones.
func TestOutputFails(t *testing.T) {
	broken := errors.New("broken pipe")
	s := open(t, Options{Mode: Changelog, Out: failing{broken}}, 1)
	w := s.Writer(0)
	for epoch := range uint64(2) {
		var got error
		write(t, w, change{changelog.Insert, 1, "a", 0})
		w.Barrier(context.Background(), epoch+1, func(err error) { got = err })
		if !errors.Is(got, broken) {
			t.Errorf("epoch %d: %v", epoch+1, got)
		}
	}
	if err := s.Finish(true); err != nil {
		t.Errorf("an error that was told comes again: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func BenchmarkChangelog(b *testing.B) {
	s, err := Open(testSpec(1), Options{Out: discard{}, Plain: true})
	if err != nil {
		b.Fatal(err)
	}
	var changes []change
	for i := range 1024 {
		changes = append(changes, change{changelog.Insert, int64(i), fmt.Sprint("name ", i), int64(i)})
	}
	in := batch(changes...)
	w := s.Writer(0)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := w.Write(context.Background(), in); err != nil {
			b.Fatal(err)
		}
		w.Barrier(context.Background(), uint64(i), func(error) {})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/change")
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
