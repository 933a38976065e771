package kafka

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/internal/fault"
	"github.com/twmb/franz-go/pkg/kgo"
)

// encode makes a batch of records with key, value and one header.
func encode(n int, first int64) []byte {
	var b outBatch
	b.reset()
	for i := range n {
		body := binary.AppendVarint(nil, 1)
		body = append(body, 'k')
		value := strings.Repeat("v", i*40)
		body = append(binary.AppendVarint(body, int64(len(value))), value...)
		body = append(body, 2, 2, 'h', 1) // one header "h" without a value
		if got, want := b.size(body, 1000+int64(i)), 0; got <= want {
			panic("size")
		}
		before := b.size(body, 1000+int64(i))
		b.add(body, 1000+int64(i))
		if before != len(b.buf) {
			panic(fmt.Sprintf("size says %d, it is %d", before, len(b.buf)))
		}
	}
	b.seal(7, 1, 5, false, nil)
	out := bytes.Clone(b.wire)
	binary.BigEndian.PutUint64(out, uint64(first))
	return out
}

func iterate(t testing.TB, data []byte, at, stop int64) (offsets []int64, pos int64, err error) {
	whole, _, _, err := wholeBatches(data, at)
	if err != nil {
		return nil, at, err
	}
	it := newIter(true)
	it.reset(whole, nil)
	pos = at
	var rec record
	for {
		ok, err := it.next(&pos, stop)
		if err != nil || !ok {
			return offsets, pos, err
		}
		for it.n > 0 {
			rest, err := it.peek(&rec)
			if err != nil {
				return offsets, pos, err
			}
			offsets = append(offsets, rec.offset)
			pos = max(pos, rec.offset+1)
			it.advance(rest)
		}
	}
}

func TestFramingAndWalking(t *testing.T) {
	t.Parallel()
	data := append(encode(200, 100), encode(3, 400)...)
	got, pos, err := iterate(t, data, 100, noEnd)
	if err != nil || len(got) != 203 || got[0] != 100 || got[199] != 299 || got[202] != 402 || pos != 403 {
		t.Errorf("%d records to %d, %v", len(got), pos, err)
	}
	whole, next, epoch, err := wholeBatches(data[:len(data)-1], 100)
	if err != nil || next != 300 || epoch != -1 || len(whole) >= len(data)-1 {
		t.Errorf("a cut batch: %d bytes to %d, %v", len(whole), next, err)
	}
	if got, pos, _ := iterate(t, data, 100, 350); len(got) != 200 || pos != 350 {
		t.Errorf("with a stop: %d records to %d", len(got), pos)
	}
	// kgo agrees about what was written.
	for _, broken := range []int{17, 61, len(data) / 2} {
		bad := bytes.Clone(data)
		bad[broken] ^= 1
		if _, _, err := iterate(t, bad, 100, noEnd); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("a flipped bit at %d gives %v", broken, err)
		}
	}
	old := bytes.Clone(data)
	old[16] = 1
	if _, _, err := iterate(t, old, 100, noEnd); err == nil || !strings.Contains(err.Error(), "before Kafka 0.11") {
		t.Errorf("an old format gives %v", err)
	}
}

// A topic from before Kafka 0.11 is whole: no other replica and no other offset helps, and the error does not say so.
func TestOldFormat(t *testing.T) {
	data := encode(1, 5)
	data[16] = 1
	_, _, _, err := wholeBatches(data, 5)
	if err == nil {
		t.Fatal("it is read")
	}
	_, code, fix := fault.Split(damaged(&partition{topic: &topicRef{name: "t"}}, 5, err))
	if code != fault.KafkaDamaged || fix != "copy the topic to a new one" {
		t.Errorf("[%s] %s", code, fix)
	}
}

// FuzzBatches walks damaged batches: an error, or an end, never a panic.
func FuzzBatches(f *testing.F) {
	f.Add(encode(3, 0), int64(0))
	f.Add(encode(1, 7), int64(7))
	f.Fuzz(func(_ *testing.T, data []byte, at int64) {
		whole, _, _, err := wholeBatches(data, at)
		if err != nil {
			return
		}
		it := newIter(false)
		it.reset(whole, nil)
		pos := at
		var rec record
		var h headerPacker
		for {
			ok, err := it.next(&pos, noEnd)
			if err != nil || !ok {
				return
			}
			for it.n > 0 {
				rest, err := it.peek(&rec)
				if err != nil {
					return
				}
				h.pack(nil, rec.headers)
				it.advance(rest)
			}
		}
	})
}

func TestMurmur2(t *testing.T) {
	t.Parallel()
	p := kgo.StickyKeyPartitioner(nil).ForTopic("t")
	for n := 1; n <= 40; n++ {
		key := bytes.Repeat([]byte{byte(n * 37)}, n)
		if got, want := keyPartition(key, 7), p.Partition(&kgo.Record{Key: key}, 7); got != want {
			t.Errorf("key of %d bytes: %d, want %d", n, got, want)
		}
	}
}
