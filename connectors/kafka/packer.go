package kafka

import (
	"context"
	"encoding/binary"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
)

const (
	// packerMemory is what a packer may hold of all partitions together.
	packerMemory = 4 << 20
	// The bounds of what it holds of one: a broker's work is more by the batch than by the byte.
	minPackedBatch, maxPackedBatch = 16 << 10, 256 << 10
)

// packer implements spi.Packer. A block is a record batch as it will be sent, compressed already, but for what the
// producer's identity decides. In the place of the first offset, which the broker sets, lies the partition.
type packer struct {
	encoder
	batchSize  int
	batch      outBatch
	compressor kgo.Compressor
	out        spi.Outbox
}

func newPacker(t *outTopic, spec spi.SinkSpec, index int) (*packer, error) {
	e, err := newEncoder(t, spec, index)
	if err != nil {
		return nil, err
	}
	p := &packer{encoder: e, batchSize: t.batchSize(), compressor: newCompressor(t.cfg.compression)}
	p.stage = min(p.batchSize, max(minPackedBatch, min(maxPackedBatch, packerMemory/t.use)))
	p.full = func(_ context.Context, partition int) error { return p.pack(partition) }
	p.batch.reset()
	return p, nil
}

// Pack implements spi.Packer.
func (p *packer) Pack(b *changelog.Batch, out spi.Outbox) error {
	p.out = out
	return p.encode(context.Background(), b)
}

// Flush implements spi.Packer.
func (p *packer) Flush(out spi.Outbox) error {
	p.out = out
	for i := range p.staged {
		if p.staged[i].n > 0 {
			if err := p.pack(i); err != nil {
				return err
			}
		}
	}
	p.epochEnds()
	return nil
}

// pack makes blocks of what is staged for a partition.
func (p *packer) pack(partition int) error {
	s := &p.staged[partition]
	for body, at := range s.records() {
		if p.batch.n > 0 && p.batch.size(body, at) > p.batchSize {
			if err := p.emit(partition); err != nil {
				return err
			}
		}
		p.batch.add(body, at)
	}
	s.clear()
	return p.emit(partition)
}

func (p *packer) emit(partition int) error {
	p.batch.seal(-1, -1, -1, true, p.compressor)
	binary.BigEndian.PutUint64(p.batch.wire, uint64(partition))
	err := p.out.Append(p.batch.wire)
	p.batch.reset()
	return err
}
