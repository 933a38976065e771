package kafka

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const noEnd = math.MaxInt64

// topicRef is a topic being read.
type topicRef struct {
	name string
	id   [16]byte // zero where the cluster has no topic ids
	// parts are the partitions being read, by id; nil where one is not.
	parts []*partition
}

// partition is one partition being read. The fetcher fills its queue and one reader empties it.
type partition struct {
	topic  *topicRef
	id     int32
	end    int64 // the bounded end, or noEnd
	reader *reader

	// The fetcher's side, under fetcher.mu.
	fetchAt     int64 // the offset to fetch next
	fetchEpoch  int32 // leader epoch of what was fetched last, −1 when unknown
	leader      int32 // −1: to be found
	leaderEpoch int32
	inFlight    bool      // a request for it is under way; another broker must wait for its end
	emptyRuns   int       // responses in a row that held nothing although the log goes on
	troubled    time.Time // since when no request for it succeeds; zero when all is well

	mu       sync.Mutex
	queue    []chunk
	buffered int // bytes in the queue and at the reader

	logEnd   atomic.Int64 // what can be read at the isolation level lies before it
	position atomic.Int64 // copy of pos for others
	lastTime atomic.Int64 // timestamp of the record read last, in milliseconds

	// The reader's side.
	pos   int64
	limit int64 // noEnd without a limit
	epoch int32
	cur   chunk // the chunk that it walks
	it    batchIter
}

func (p *partition) String() string { return fmt.Sprintf("%s/%d", p.topic.name, p.id) }

// stop is the offset that may not be read any more.
func (p *partition) stop() int64 { return min(p.end, p.limit) }

// chunk is what one fetch response held for one partition, or the error that ends it.
type chunk struct {
	data    []byte // whole batches
	aborted []kmsg.FetchResponseTopicPartitionAbortedTransaction
	next    int64 // the offset behind it
	held    *response
	err     error
}

// response counts a response's memory, which is free again when the last of its chunks was read.
type response struct {
	size int64
	refs atomic.Int32
}

// put appends a chunk to the queue and tells the reader.
func (p *partition) put(c chunk) {
	p.mu.Lock()
	p.queue = append(p.queue, c)
	p.buffered += len(c.data)
	p.mu.Unlock()
	p.reader.signal()
}

// take removes the first chunk of the queue.
func (p *partition) take() (chunk, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		return chunk{}, false
	}
	c := p.queue[0]
	n := copy(p.queue, p.queue[1:])
	p.queue[n] = chunk{}
	p.queue = p.queue[:n]
	return c, true
}

// putBack makes c the first chunk of the queue again.
func (p *partition) putBack(c chunk) {
	p.mu.Lock()
	p.queue = append([]chunk{c}, p.queue...)
	p.mu.Unlock()
}

func (p *partition) bufferedBytes() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.buffered
}

// done forgets n bytes that the reader is done with.
func (p *partition) done(n int) {
	p.mu.Lock()
	p.buffered -= n
	p.mu.Unlock()
}
