package conformance

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
)

// SourceCase is a source to be held to the promises.
type SourceCase struct {
	Connector spi.Connector
	// Table is bounded, with Records records, each of which carries at least one change.
	Table   *spi.Table
	Records int
	// Foreign says that the process runs things beside the source which start goroutines of their own,
	// such as a broker, so that leaks are not looked for.
	Foreign bool
}

const patience = 20 * time.Second

// Source runs the suite for sources. The table must not change meanwhile.
func Source(t *testing.T, c SourceCase) {
	t.Run("options", func(t *testing.T) { Options(t, c.Connector) })
	t.Run("traits", func(t *testing.T) {
		tr, err := c.Connector.CheckSource(c.Table)
		if err != nil {
			t.Fatal(err)
		}
		if !tr.Bounded {
			t.Error("the table of a case must be bounded")
		}
	})
	var all []string
	t.Run("read to the end", func(t *testing.T) {
		run := func() { all = c.readAll(t, c.open(t, 1, nil)) }
		if c.Foreign {
			run()
		} else {
			NoLeaks(t, run)
		}
		if len(all) < c.Records || len(all) == 0 {
			t.Fatalf("%d changes from %d records", len(all), c.Records)
		}
	})
	t.Run("several readers", func(t *testing.T) {
		same(t, all, c.readAll(t, c.open(t, 3, nil)))
	})
	t.Run("start positions", func(t *testing.T) {
		src := c.open(t, 2, nil)
		start := src.Positions()
		var held []spi.Position
		for _, r := range src.readers {
			held = r.Positions(held)
		}
		samePositions(t, start, held)
		c.close(t, src)
		same(t, all, c.readAll(t, c.open(t, 1, start)))
	})
	t.Run("resume after every record", func(t *testing.T) {
		step := max(c.Records/16, 1)
		for n := 0; n <= c.Records; n += step {
			src := c.open(t, 2, nil)
			first, pos := c.readSome(t, src, n)
			src.Committed(t.Context(), pos)
			c.close(t, src)
			rest := c.readAll(t, c.open(t, 3, pos))
			same(t, all, append(first, rest...))
			if t.Failed() {
				t.Fatalf("cut after %d records", n)
			}
		}
	})
	t.Run("limits", func(t *testing.T) { c.limits(t, all) })
	t.Run("close at once", func(t *testing.T) { c.close(t, c.open(t, 2, nil)) })
	t.Run("close in the middle", func(t *testing.T) {
		src := c.open(t, 2, nil)
		c.readSome(t, src, min(1, c.Records))
		c.close(t, src)
	})
}

// limits replays a cut: what lies before it comes, nothing else, and the rest once the limit is lifted.
func (c SourceCase) limits(t *testing.T, all []string) {
	src := c.open(t, 2, nil)
	first, cut := c.readSome(t, src, c.Records/2)
	c.close(t, src)

	src = c.open(t, 1, nil)
	r := src.readers[0]
	r.Limit(cut)
	var b changelog.Batch
	c.until(t, r, &b, func() bool { return r.AtLimit() }, 1<<20)
	for range 3 {
		if n, err := r.Read(&b, 1<<20); n != 0 || err != nil {
			t.Fatalf("%d records beyond the limit, %v", n, err)
		}
	}
	same(t, first, rowsOf(&b))
	samePositions(t, cut, r.Positions(nil))
	if r.Done() && c.Records > 1 {
		t.Error("done at a limit in the middle")
	}
	r.Limit(nil)
	c.until(t, r, &b, r.Done, 1<<20)
	same(t, all, rowsOf(&b))
	c.close(t, src)
}

// opened is a source with its readers, each asked for once.
type opened struct {
	spi.Source
	readers []spi.Reader
}

func (c SourceCase) open(t *testing.T, readers int, start []spi.Position) opened {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tr, err := c.Connector.CheckSource(c.Table)
	if err != nil {
		t.Fatal(err)
	}
	s := spi.Scan{Table: c.Table, Mode: tr.Native, Readers: readers, Start: start, TimeZone: time.UTC, Warn: func(string) {}}
	for i := range c.Table.Columns {
		s.Columns = append(s.Columns, i)
	}
	if tr.Native == spi.Upsert {
		s.Key = c.Table.PrimaryKey
	}
	src, err := c.Connector.OpenSource(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	o := opened{Source: src}
	for i := range readers {
		o.readers = append(o.readers, src.Reader(i))
	}
	return o
}

func (c SourceCase) close(t *testing.T, src opened) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- src.Close() }()
	select {
	case err := <-done:
		if err != nil {
			t.Error("Close:", err)
		}
	case <-time.After(patience):
		t.Fatal("Close does not return")
	}
}

// readAll reads everything, counts and closes.
func (c SourceCase) readAll(t *testing.T, src opened) []string {
	t.Helper()
	var out []string
	for _, r := range src.readers {
		var b changelog.Batch
		c.until(t, r, &b, r.Done, 7)
		if n, err := r.Read(&b, 10); n != 0 || err != nil || !r.Done() {
			t.Errorf("after the end: %d records, %v", n, err)
		}
		out = append(out, rowsOf(&b)...)
	}
	st := src.Stats()
	if st.Lag > 0 {
		t.Errorf("a lag of %d at the end", st.Lag)
	}
	c.close(t, src)
	sort.Strings(out)
	return out
}

// readSome reads n records with the readers in turn, and returns the changes and where that leads.
func (c SourceCase) readSome(t *testing.T, src opened, n int) (rows []string, pos []spi.Position) {
	t.Helper()
	var b changelog.Batch
	deadline := time.Now().Add(patience)
	for got, i := 0, 0; got < n; i++ {
		r := src.readers[i%len(src.readers)]
		k, err := r.Read(&b, min(2, n-got))
		if err != nil {
			t.Fatal(err)
		}
		got += k
		r.Barrier()
		if k == 0 {
			if time.Now().After(deadline) {
				t.Fatalf("only %d of %d records arrived", got, n)
			}
			time.Sleep(time.Millisecond)
		}
	}
	for _, r := range src.readers {
		pos = r.Positions(pos)
	}
	return rowsOf(&b), pos
}

// until reads until end says so, waiting for Ready as the runtime does.
func (c SourceCase) until(t *testing.T, r spi.Reader, b *changelog.Batch, end func() bool, maxRecords int) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for !end() {
		before := b.Len()
		n, err := r.Read(b, maxRecords)
		switch {
		case err != nil:
			t.Fatal(err)
		case n > maxRecords:
			t.Fatalf("%d records, asked for %d", n, maxRecords)
		case n == 0 && b.Len() > before:
			t.Fatal("changes without records")
		case n > 0 || end():
			continue
		}
		select {
		case <-r.Ready():
		case <-deadline.C:
			t.Fatalf("nothing came for %v, after %d changes", patience, b.Len())
		}
	}
}

func rowsOf(b *changelog.Batch) []string {
	out := make([]string, b.Len())
	for i := range out {
		out[i] = fmt.Sprintf("%s %x", b.Op(i), []byte(b.Row(i)))
	}
	return out
}

// same compares changes without regard to their order.
func same(t *testing.T, want, got []string) {
	t.Helper()
	want, got = slices.Clone(want), slices.Clone(got)
	sort.Strings(want)
	sort.Strings(got)
	if !slices.Equal(want, got) {
		t.Errorf("%d changes, want %d, or others: %.300q, want %.300q", len(got), len(want), got, want)
	}
}

func samePositions(t *testing.T, want, got []spi.Position) {
	t.Helper()
	key := func(ps []spi.Position) []string {
		var out []string
		for _, p := range ps {
			out = append(out, fmt.Sprintf("%s %s %d %d", p.Topic, p.TopicID, p.Partition, p.Offset))
		}
		sort.Strings(out)
		return out
	}
	if !slices.Equal(key(want), key(got)) {
		t.Errorf("positions %v, want %v", key(got), key(want))
	}
}
