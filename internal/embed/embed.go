// Package embed runs a Kafka broker inside the process, loaded with records from files: for examples,
// tests and a first try without any installation. The broker is franz-go's kfake; nothing it holds
// outlives it.
package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// ClusterID is the id that an embedded cluster gives in its metadata. The kafka connector creates missing
// output topics there without being asked to.
const ClusterID = "sluice-embedded"

// Partitions is the number of partitions of every topic.
const Partitions = 4

// Broker is an embedded broker.
type Broker struct {
	cluster *kfake.Cluster
	waiting []Record // for Load
	mu      sync.Mutex
	turn    map[string]int32 // the partition of the next record without a key, by topic
	keyed   map[string]kgo.TopicPartitioner
}

// Record is a record to load. A nil key or value is null.
type Record struct {
	Topic      string
	Key, Value []byte
	Headers    []Header
	// Timestamp is the time now when it is zero.
	Timestamp time.Time
	// Partition, Offset and Timestamp are set on records that were read.
	Partition int32
	Offset    int64
}

// Header is a header of a record.
type Header struct {
	Key   string
	Value []byte
}

// Start starts a broker and reads the records of the files, which Load loads: a JSON object a line,
//
//	{"topic": "t", "key": "…", "value": "…", "headers": [["k", "v"], …], "timestamp": 1700000000000}
//
// with strings or null for key and value, and headers and timestamp left out at will.
func Start(files ...string) (*Broker, error) {
	var records []Record
	for _, f := range files {
		r, err := readFile(f)
		if err != nil {
			return nil, err
		}
		records = append(records, r...)
	}
	b, err := StartWith()
	if err != nil {
		return nil, err
	}
	b.waiting = records
	return b, nil
}

// Load creates the topics of the records that Start read, each with one partition where oneOrder says so and Partitions
// elsewhere, and loads the records, which are placed by their keys as a Java producer does; those without a key go to the
// partitions in turn. It does so once.
func (b *Broker) Load(oneOrder func(topic string) bool) error {
	records := b.waiting
	b.waiting = nil
	for i := range records {
		topic := records[i].Topic
		if b.cluster.TopicInfo(topic) != nil {
			continue
		}
		partitions := int32(Partitions)
		if oneOrder(topic) {
			partitions = 1
		}
		if err := b.CreateTopic(topic, partitions); err != nil {
			return fmt.Errorf("topic %s: %w", topic, err)
		}
	}
	return b.Produce(context.Background(), records...)
}

// StartWith starts an empty broker with more options of kfake, for tests.
func StartWith(opts ...kfake.Opt) (*Broker, error) {
	c, err := kfake.NewCluster(append([]kfake.Opt{
		kfake.NumBrokers(1), kfake.ClusterID(ClusterID), kfake.AllowAutoTopicCreation(), kfake.DefaultNumPartitions(Partitions),
	}, opts...)...)
	if err != nil {
		return nil, fmt.Errorf("embedded broker: %w", err)
	}
	return &Broker{cluster: c, turn: map[string]int32{}, keyed: map[string]kgo.TopicPartitioner{}}, nil
}

// Addr is the broker's address, for bootstrap.servers.
func (b *Broker) Addr() string { return b.cluster.ListenAddrs()[0] }

// Cluster is the fake behind the broker, for tests that inject faults.
func (b *Broker) Cluster() *kfake.Cluster { return b.cluster }

// Close ends the broker.
func (b *Broker) Close() { b.cluster.Close() }

// CreateTopic creates an empty topic.
func (b *Broker) CreateTopic(name string, partitions int32) error {
	return b.cluster.CreateTopic(name, partitions, nil)
}

// Produce appends records and waits until all are there.
func (b *Broker) Produce(ctx context.Context, records ...Record) error {
	if len(records) == 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c, err := kgo.NewClient(
		kgo.SeedBrokers(b.Addr()), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.AllowAutoTopicCreation(),
		kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(1), kgo.MetadataMinAge(10*time.Millisecond),
		kgo.ProducerLinger(0), kgo.MaxBufferedRecords(1<<20), kgo.DisableClientMetrics(), kgo.ProducerBatchCompression(kgo.NoCompression()),
	)
	if err != nil {
		return err
	}
	defer c.Close()
	now := time.Now()
	var failed error
	var once sync.Once
	promise := func(_ *kgo.Record, err error) {
		if err != nil {
			once.Do(func() { failed = err })
		}
	}
	out := make([]kgo.Record, len(records))
	for i := range records {
		r, o := &records[i], &out[i]
		*o = kgo.Record{Topic: r.Topic, Key: r.Key, Value: r.Value, Timestamp: r.Timestamp}
		if o.Timestamp.IsZero() {
			o.Timestamp = now
		}
		for _, h := range r.Headers {
			o.Headers = append(o.Headers, kgo.RecordHeader{Key: h.Key, Value: h.Value})
		}
		o.Partition = b.partition(o)
		c.Produce(ctx, o, promise)
	}
	if err := c.Flush(ctx); err != nil {
		return err
	}
	return failed
}

// partition places a record in a topic: by Java's hash of the key, or in turn.
func (b *Broker) partition(r *kgo.Record) int32 {
	n := int32(Partitions)
	if info := b.cluster.TopicInfo(r.Topic); info != nil {
		n = int32(len(b.cluster.PartitionInfos(r.Topic)))
	}
	if r.Key == nil {
		p := b.turn[r.Topic] % n
		b.turn[r.Topic] = p + 1
		return p
	}
	p := b.keyed[r.Topic]
	if p == nil {
		p = kgo.StickyKeyPartitioner(nil).ForTopic(r.Topic)
		b.keyed[r.Topic] = p
	}
	return int32(p.Partition(r, int(n)))
}

// Consume reads the first n records of a topic, in order within each partition, and waits for them until
// ctx ends.
func (b *Broker) Consume(ctx context.Context, topic string, n int) ([]Record, error) {
	c, err := kgo.NewClient(
		kgo.SeedBrokers(b.Addr()), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.MetadataMinAge(10*time.Millisecond), kgo.DisableClientMetrics(),
	)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var out []Record
	for len(out) < n {
		fs := c.PollFetches(ctx)
		if err := ctx.Err(); err != nil {
			return out, fmt.Errorf("%d of %d records of %s arrived: %w", len(out), n, topic, err)
		}
		for _, e := range fs.Errors() {
			return out, e.Err
		}
		fs.EachRecord(func(r *kgo.Record) {
			rec := Record{Topic: topic, Key: r.Key, Value: r.Value, Timestamp: r.Timestamp, Partition: r.Partition, Offset: r.Offset}
			for _, h := range r.Headers {
				rec.Headers = append(rec.Headers, Header{h.Key, h.Value})
			}
			out = append(out, rec)
		})
	}
	return out, nil
}

// Len is the number of records in a topic.
func (b *Broker) Len(topic string) int64 {
	var n int64
	for _, p := range b.cluster.PartitionInfos(topic) {
		n += p.HighWatermark - p.LogStartOffset
	}
	return n
}

// line is a record as it stands in a file.
type line struct {
	Topic     string       `json:"topic"`
	Key       *string      `json:"key"`
	Value     *string      `json:"value"`
	Headers   [][]*string  `json:"headers"`
	Timestamp *json.Number `json:"timestamp"`
}

// Read reads the records of a file, as Start does.
func Read(name string) ([]Record, error) { return readFile(name) }

func readFile(name string) ([]Record, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return parse(name, data)
}

// Parse reads records in the form of the files.
func Parse(name string, r io.Reader) ([]Record, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return parse(name, data)
}

func parse(name string, data []byte) ([]Record, error) {
	var out []Record
	for n := 1; len(data) > 0; n++ {
		text := data
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			text, data = data[:i], data[i+1:]
		} else {
			data = nil
		}
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		r, err := parseLine(text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		out = append(out, r)
	}
	return out, nil
}

func parseLine(text []byte) (r Record, err error) {
	var l line
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return r, fmt.Errorf(`no record {"topic", "key", "value", "headers"}: %w`, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return r, errors.New("more than one JSON object in a line")
	}
	if l.Topic == "" {
		return r, errors.New(`"topic" is missing`)
	}
	r.Topic = l.Topic
	r.Key, r.Value = bytesOf(l.Key), bytesOf(l.Value)
	for _, h := range l.Headers {
		if len(h) != 2 || h[0] == nil {
			return r, errors.New(`"headers" wants pairs [["key", "value"], …]`)
		}
		r.Headers = append(r.Headers, Header{*h[0], bytesOf(h[1])})
	}
	if l.Timestamp != nil {
		ms, err := l.Timestamp.Int64()
		if err != nil {
			return r, errors.New(`"timestamp" wants milliseconds since 1970`)
		}
		r.Timestamp = time.UnixMilli(ms)
	}
	return r, nil
}

func bytesOf(s *string) []byte {
	if s == nil {
		return nil
	}
	return []byte(*s)
}
