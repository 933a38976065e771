package kafka

import (
	"errors"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/internal/embed"
)

// withDeadLetters has a scan put messages aside as the planner does.
func withDeadLetters(t *testing.T, tb *spi.Table) func(*spi.Scan) {
	t.Helper()
	traits, err := registry().Connector(tb.Options["connector"]).CheckSource(tb)
	if err != nil {
		t.Fatal(err)
	}
	return func(s *spi.Scan) { s.DeadLetters = traits.DeadLetters }
}

// TestDeadLetters reads messages of which some cannot be read, and writes those as they came.
func TestDeadLetters(t *testing.T) {
	t.Parallel()
	for _, upsert := range []bool{false, true} {
		b := startBroker(t)
		createTopic(t, b, "t", 1)
		createTopic(t, b, "dead", 3)
		sent := []embed.Record{
			{Topic: "t", Key: []byte("1"), Value: []byte("1|x")},
			{Topic: "t", Key: []byte("2"), Value: []byte("two|y"), Headers: []embed.Header{{Key: "a", Value: []byte("b")}, {Key: "n"}}},
			{Topic: "t", Key: []byte{}, Value: []byte("3")},
			{Topic: "t", Key: nil, Value: []byte("")},
			{Topic: "t", Key: []byte("5"), Value: []byte("5|z")},
		}
		if upsert { // the key alone can be wrong
			sent[0].Value, sent[1].Key, sent[4].Value = []byte("x"), []byte("two"), []byte("z")
		}
		if err := b.Produce(t.Context(), sent...); err != nil {
			t.Fatal(err)
		}
		more := []string{"scan.bounded.mode", "latest-offset", "dead-letter.topic", "dead", "value.fields-include", "EXCEPT_KEY"}
		tb := table(b.Addr(), more[:4]...)
		if upsert {
			tb = upsertTable(b.Addr(), more...)
		}
		src, w := open(t, tb, withDeadLetters(t, tb))
		r := src.Reader(0)
		if got := strings.Join(readAll(t, r, tb), " "); got != "+I[1, x] +I[5, z]" && got != "+U[1, x] +U[5, z]" {
			t.Errorf("read %s", got)
		}
		var letters changelog.Batch
		r.(spi.DeadLetterReader).DeadLetters(&letters)
		if letters.Len() != 3 {
			t.Fatalf("%d dead letters", letters.Len())
		}
		dead := withDeadLetters(t, tb)
		var scan spi.Scan
		dead(&scan)
		s, err := registry().Connector("kafka").OpenSink(t.Context(), spi.SinkSpec{Table: scan.DeadLetters, Columns: []int{0, 1, 2}, Mode: spi.AppendOnly, Writers: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Writer(0).Write(t.Context(), &letters); err != nil {
			t.Fatal(err)
		}
		barrier(t, s.Writer(0), 1)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		letters.Reset()
		r.(spi.DeadLetterReader).DeadLetters(&letters)
		if letters.Len() != 0 {
			t.Error("the dead letters come twice")
		}
		for _, got := range consume(t, b, "dead", 3) {
			h := map[string]string{}
			for _, x := range got.Headers {
				h[x.Key] = string(x.Value)
			}
			i := int(h["sluice.offset"][0] - '0')
			want := sent[i]
			if string(got.Key) != string(want.Key) || (got.Key == nil) != (want.Key == nil) || string(got.Value) != string(want.Value) || got.Value == nil {
				t.Errorf("offset %d came as %q = %q", i, got.Key, got.Value)
			}
			if h["sluice.topic"] != "t" || h["sluice.partition"] != "0" || h["sluice.reason"] == "" || !strings.Contains(h["sluice.error"], "kafka t/0@") || h["sluice.timestamp"] == "" {
				t.Errorf("headers %v", h)
			}
			if i == 1 && (h["a"] != "b" || len(got.Headers) != 8) {
				t.Errorf("the message's own headers are lost: %v", h)
			}
		}
		if st := src.Stats(); st.Skipped != 3 || !strings.Contains(w.all(), "put aside as a dead letter: kafka t/0@1") {
			t.Errorf("stats %+v, warnings %s", st, w.all())
		}
	}
}

func TestDeadLetterOptions(t *testing.T) {
	for _, c := range []struct{ options, option, says string }{
		{"dead-letter.delivery-guarantee=none", "dead-letter.delivery-guarantee", "no effect without option 'dead-letter.topic'"},
		{"dead-letter.topic=t", "dead-letter.topic", "again for ever"},
		{"dead-letter.topic= ", "dead-letter.topic", "wants the name of one topic"},
		{"dead-letter.topic=a;b", "dead-letter.topic", "wants the name of one topic"},
		{"dead-letter.topic=d,dead-letter.delivery-guarantee=twice", "dead-letter.delivery-guarantee", `option "dead-letter.delivery-guarantee" wants one of`},
	} {
		var kv []string
		for _, o := range strings.Split(c.options, ",") {
			k, v, _ := strings.Cut(o, "=")
			kv = append(kv, k, v)
		}
		_, err := registry().Connector("kafka").CheckSource(table("localhost:1", kv...))
		oe, ok := errors.AsType[*spi.OptionError](err)
		if !ok || oe.Name != c.option || !strings.Contains(oe.Msg, c.says) {
			t.Errorf("%s: %v", c.options, err)
		}
	}
}
