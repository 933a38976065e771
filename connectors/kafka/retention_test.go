package kafka

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/internal/embed"
)

// retentionSource reads from a topic of 1000 records, one a minute until now, that keeps them for some days.
func retentionSource(t *testing.T, now time.Time, config map[string]string) (*embed.Broker, *source, *warnings, func(n int)) {
	t.Helper()
	b := startBroker(t)
	if err := b.Cluster().CreateTopic("t", 1, config); err != nil {
		t.Fatal(err)
	}
	var rs []embed.Record
	for i := range 1000 {
		rs = append(rs, embed.Record{Topic: "t", Value: fmt.Appendf(nil, "%d|x", i), Timestamp: now.Add(time.Duration(i-999) * time.Minute)})
	}
	if err := b.Produce(t.Context(), rs...); err != nil {
		t.Fatal(err)
	}
	tb := table(b.Addr())
	src, w := open(t, tb, nil)
	return b, src.(*source), w, func(n int) { read(t, src.Reader(0), tb, n) }
}

// The reader stands still while the topic keeps records for 1000 minutes: a warning when a quarter is left.
func TestRetentionByTime(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Minute)
	_, s, w, reads := retentionSource(t, now, map[string]string{"retention.ms": fmt.Sprint((1000 * time.Minute).Milliseconds())})
	reads(400) // the record read last is 600 minutes old
	for minutes := 0; minutes < 150; minutes += 10 {
		s.watch.look(t.Context(), now.Add(time.Duration(minutes)*time.Minute))
	}
	if w.all() != "" {
		t.Errorf("too early: %s", w.all())
	}
	s.watch.look(t.Context(), now.Add(160*time.Minute))
	for _, part := range []string{"kafka t/0@400", "12h40m0s old", "keeps records for 16h40m0s", "in about 4h0m0s", "longer retention"} {
		if !strings.Contains(w.all(), part) {
			t.Errorf("%q does not say %q", w.all(), part)
		}
	}
	s.watch.look(t.Context(), now.Add(161*time.Minute))
	if n := strings.Count(w.all(), "retention is about"); n != 1 {
		t.Errorf("%d warnings", n)
	}
	reads(100) // it catches up: no word although little is left
	s.watch.look(t.Context(), now.Add(255*time.Minute))
	s.watch.look(t.Context(), now.Add(259*time.Minute))
	if n := strings.Count(w.all(), "retention is about"); n != 2 { // and told again when it stands still
		t.Errorf("%d warnings: %s", n, w.all())
	}
	reads(500)
	s.watch.look(t.Context(), now.Add(5000*time.Minute))
	if n := strings.Count(w.all(), "retention is about"); n != 2 { // all is read
		t.Errorf("%d warnings: %s", n, w.all())
	}
}

// A job that was started paused has read nothing: the record that it would read next is asked for.
func TestRetentionUnread(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Minute)
	_, s, w, reads := retentionSource(t, now, map[string]string{"retention.ms": fmt.Sprint((2000 * time.Minute).Milliseconds())})
	s.watch.look(t.Context(), now.Add(490*time.Minute)) // the first record is 1489 minutes old
	s.watch.look(t.Context(), now.Add(495*time.Minute))
	if w.all() != "" {
		t.Errorf("too early: %s", w.all())
	}
	s.watch.look(t.Context(), now.Add(510*time.Minute))
	for _, part := range []string{"kafka t/0@0", "to be read next is older than three quarters of the 33h20m0s", "longer retention"} {
		if !strings.Contains(w.all(), part) {
			t.Errorf("%q does not say %q", w.all(), part)
		}
	}
	reads(100)
	s.watch.look(t.Context(), now.Add(512*time.Minute))
	s.watch.look(t.Context(), now.Add(600*time.Minute))
	if n := strings.Count(w.all(), "retention is about"); n != 1 {
		t.Errorf("%d warnings: %s", n, w.all())
	}
}

// The log is cut by size or by hand, and its beginning comes nearer.
func TestRetentionByPace(t *testing.T) {
	t.Parallel()
	now := time.Now()
	b, s, w, reads := retentionSource(t, now, nil)
	reads(500)
	cut := func(minute int, to int64) {
		t.Helper()
		if err := b.Cluster().DeleteRecords("t", 0, to); err != nil {
			t.Fatal(err)
		}
		s.watch.look(t.Context(), now.Add(time.Duration(minute)*time.Minute))
	}
	s.watch.look(t.Context(), now)
	cut(100, 100) // a record a minute: 400 are left
	cut(200, 200)
	if w.all() != "" {
		t.Errorf("too early: %s", w.all())
	}
	cut(210, 450)
	for _, part := range []string{"kafka t/0@500", "begins at 450", "250 records nearer in 10m0s", "in about 2m0s"} {
		if !strings.Contains(w.all(), part) {
			t.Errorf("%q does not say %q", w.all(), part)
		}
	}
	reads(300)
	cut(300, 460) // now the reader is faster
	reads(200)
	cut(310, 990)
	if n := strings.Count(w.all(), "retention is about"); n != 1 {
		t.Errorf("%d warnings: %s", n, w.all())
	}
}
