package realkafka

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// record is a line of a records file: {"topic", "key", "value", "headers"}. Key
// and value are the bytes that Kafka carries, as a JSON string; null is Kafka's
// null, so a null value is a tombstone. Headers are [[key, value], ...].
type record struct {
	Topic   string       `json:"topic"`
	Key     *string      `json:"key"`
	Value   *string      `json:"value"`
	Headers [][2]*string `json:"headers"`
}

func (r *record) kafka() (*kgo.Record, error) {
	if r.Topic == "" {
		return nil, errors.New(`"topic" is missing`)
	}
	out := &kgo.Record{Topic: r.Topic, Key: optionalBytes(r.Key), Value: optionalBytes(r.Value)}
	for _, h := range r.Headers {
		if h[0] == nil {
			return nil, errors.New("a header has no key")
		}
		out.Headers = append(out.Headers, kgo.RecordHeader{Key: *h[0], Value: optionalBytes(h[1])})
	}
	return out, nil
}

func optionalBytes(s *string) []byte {
	if s == nil {
		return nil
	}
	return []byte(*s)
}

// ParseJSONL reads records, one JSON object a line. Empty lines are skipped.
func ParseJSONL(in io.Reader) ([]*kgo.Record, error) {
	var records []*kgo.Record
	lines := bufio.NewReader(in)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, err
		}
		if len(line) > 1 {
			var r record
			if jsonErr := json.Unmarshal(line, &r); jsonErr != nil {
				return nil, fmt.Errorf("line %d: %w", n, jsonErr)
			}
			out, recordErr := r.kafka()
			if recordErr != nil {
				return nil, fmt.Errorf("line %d: %w", n, recordErr)
			}
			records = append(records, out)
		}
		if err == io.EOF {
			return records, nil
		}
	}
}

// ProducerOptions place records as a Java producer does by default: by murmur2
// of the key. A broker may list a new topic before it takes records for it; the
// client then asks again after MetadataMinAge, which is 5 s by default.
func ProducerOptions(addr string) []kgo.Opt {
	return []kgo.Opt{kgo.SeedBrokers(addr), kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)), kgo.MetadataMinAge(50 * time.Millisecond)}
}

// Produce writes records, in order, to topics that exist, and returns when the
// broker has all of them.
func Produce(ctx context.Context, addr string, records ...*kgo.Record) error {
	cl, err := kgo.NewClient(ProducerOptions(addr)...)
	if err != nil {
		return err
	}
	defer cl.Close()
	if err := cl.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return fmt.Errorf("produce to %s: %w", addr, err)
	}
	return nil
}

// LoadJSONL creates the topics that the records of in name and that are not
// there yet, and writes the records to them, in order.
func LoadJSONL(ctx context.Context, addr string, in io.Reader, partitions int32) error {
	records, err := ParseJSONL(in)
	if err != nil {
		return err
	}
	cl, err := adminClient(addr)
	if err != nil {
		return err
	}
	defer cl.Close()
	adm := kadm.NewClient(cl)
	known := map[string]bool{}
	for _, r := range records {
		if known[r.Topic] {
			continue
		}
		known[r.Topic] = true
		if err := createTopic(ctx, adm, r.Topic, partitions); err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
			return err
		}
	}
	return Produce(ctx, addr, records...)
}
