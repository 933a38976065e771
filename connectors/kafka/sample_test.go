package kafka

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicesql/sluice/connectors/spi"
)

func TestSample(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "s.big", 3)
	createTopic(t, b, "s.small", 1)
	createTopic(t, b, "empty", 2)
	for i := range 300 {
		produce(t, b, "s.big", fmt.Sprint(i), fmt.Sprint("v", i))
	}
	produce(t, b, "s.small", "k", "a", "k", "null", "", "c")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	options := func(name, value string) spi.Options {
		return spi.Options{name: value, "properties.bootstrap.servers": b.Addr()}
	}
	for _, c := range []struct {
		o    spi.Options
		n    int
		want map[string]int // records by topic and partition
	}{
		{options("topic", "s.big"), 30, map[string]int{"s.big/0": 10, "s.big/1": 10, "s.big/2": 10}},
		{options("topic", "s.small"), 100, map[string]int{"s.small/0": 3}},
		{options("topic", "s.small;s.big"), 18, map[string]int{"s.small/0": 3, "s.big/0": 5, "s.big/1": 5, "s.big/2": 5}},
		{options("topic-pattern", `s\..*`), 2, map[string]int{}},
		{options("topic", "empty"), 10, map[string]int{}},
	} {
		sample, err := ReadSample(ctx, c.o, c.n)
		if err != nil {
			t.Fatal(err)
		}
		got := sample.Records
		if len(got) > c.n {
			t.Errorf("%v: %d records, want at most %d", c.o, len(got), c.n)
		}
		count, next := map[string]int{}, map[string]int64{}
		for _, r := range got {
			p := fmt.Sprintf("%s/%d", r.Topic, r.Partition)
			if r.Offset != next[p] {
				t.Errorf("%s: offset %d after %d", p, r.Offset, next[p]-1)
			}
			count[p]++
			next[p]++
		}
		if len(c.want) > 0 && fmt.Sprint(count) != fmt.Sprint(c.want) {
			t.Errorf("%v: %v, want %v", c.o, count, c.want)
		}
		if c.o["topic"] == "empty" && len(got) > 0 || c.o["topic-pattern"] != "" && len(got) != 2 {
			t.Errorf("%v: %d records", c.o, len(got))
		}
	}
	sample, err := ReadSample(ctx, options("topic", "s.small"), 3)
	if err != nil || sample.Partitions != 1 {
		t.Fatal(sample, err)
	}
	small := sample.Records
	if string(small[0].Value) != "a" || small[1].Value != nil || small[2].Key != nil {
		t.Errorf("records are %v", small)
	}
	for value, want := range map[string]string{"s.smal": "s.small", "(": "topic-pattern"} {
		name := "topic"
		if value == "(" {
			name = "topic-pattern"
		}
		if _, err := ReadSample(ctx, options(name, value), 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", value, err, want)
		}
	}
}

// TestSampleOfCompacted ends a sample at the log's end where compaction has removed the records before it.
func TestSampleOfCompacted(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "t", 1)
	produce(t, b, "t", "a", "1", "b", "2")
	const end = 7 // of the log, whose last five records are gone
	c := b.Cluster()
	c.ControlKey(int16(kmsg.ListOffsets), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		asked := req.(*kmsg.ListOffsetsRequest).Topics[0]
		if asked.Partitions[0].Timestamp != listLatest {
			return nil, nil, false
		}
		resp := req.ResponseKind().(*kmsg.ListOffsetsResponse)
		rt := kmsg.NewListOffsetsResponseTopic()
		rt.Topic = asked.Topic
		rp := kmsg.NewListOffsetsResponseTopicPartition()
		rp.Offset = end
		rt.Partitions = append(rt.Partitions, rp)
		resp.Topics = append(resp.Topics, rt)
		return resp, nil, true
	})
	c.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		asked := req.(*kmsg.FetchRequest).Topics[0]
		if asked.Partitions[0].FetchOffset < 2 {
			return nil, nil, false
		}
		resp := req.ResponseKind().(*kmsg.FetchResponse)
		rt := kmsg.NewFetchResponseTopic()
		rt.Topic, rt.TopicID = asked.Topic, asked.TopicID
		rp := kmsg.NewFetchResponseTopicPartition()
		rp.HighWatermark, rp.LastStableOffset = end, end
		rt.Partitions = append(rt.Partitions, rp)
		resp.Topics = append(resp.Topics, rt)
		return resp, nil, true
	})
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	got, err := ReadSample(ctx, spi.Options{"topic": "t", "properties.bootstrap.servers": b.Addr()}, 100)
	if err != nil || len(got.Records) != 2 || got.Records[1].Offset != 1 {
		t.Errorf("got %v, %v", got, err)
	}
}
