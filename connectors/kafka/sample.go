package kafka

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/internal/fault"
)

// Sampled is a record of a sample.
type Sampled struct {
	Topic     string
	Partition int32
	Offset    int64
	spi.Message
}

// Sample is the beginning of a table's topics.
type Sample struct {
	Records    []Sampled // partition by partition, in order
	Partitions int
}

// ReadSample reads up to n records from the beginnings of the partitions of the topics that a table's options name ('topic'
// or 'topic-pattern'), the same number from each as far as they have them.
func ReadSample(ctx context.Context, o spi.Options, n int) (_ *Sample, err error) {
	cfg := sourceConfig{start: point{kind: earliest}, end: point{kind: latest}}
	if cfg.settings, err = parseProperties(o); err != nil {
		return nil, err
	}
	cfg.readCommitted, cfg.commitOffsets = true, false
	if err := cfg.readTopics(o); err != nil {
		return nil, err
	}
	s := &sampler{}
	cfg.layout = &Layout{table: &spi.Table{}, ValueFormat: samplerFormat{sampler: s}}
	src, err := openSource(ctx, cfg, spi.Scan{Table: &spi.Table{Options: o}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	s.r = src.readers[0]
	records, err := s.read(ctx, n)
	return &Sample{records, len(s.r.parts)}, err
}

// sampler reads a sample by a source, whose one reader it is.
type sampler struct {
	r       *reader
	records []Sampled
}

// part is a partition of a sample.
type part struct {
	*partition
	want int // records
}

// open reports whether there is more to be read.
func (p *part) open() bool { return p.want > 0 && p.pos < p.end }

// read reads n records, if there are so many.
func (s *sampler) read(ctx context.Context, n int) ([]Sampled, error) {
	var parts []*part
	for _, p := range s.r.parts {
		if p.pos < p.end {
			parts = append(parts, &part{p, int(min(p.end-p.pos, int64(n)))})
		}
	}
	share(parts, n)
	s.r.out.Batch = &changelog.Batch{} // stays empty
	for slices.ContainsFunc(parts, (*part).open) {
		select {
		case <-s.r.Ready():
		case <-ctx.Done():
			return nil, fault.Errorf(fault.KafkaTimeout, "the sample of %s did not come: %w", s.r.src.c.seeds, context.Cause(ctx)).Fix("see to the cluster, or ask for fewer messages")
		}
		for _, p := range parts {
			got, err := s.r.readPartition(p.partition, p.want)
			if err != nil {
				return nil, err
			}
			if p.want -= got; !p.open() {
				s.r.drop(p.partition)
			}
		}
	}
	slices.SortStableFunc(s.records, func(a, b Sampled) int {
		return cmp.Or(strings.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return s.records, nil
}

// share divides n records among partitions, so that the most any of them gives is as small as it can be.
func share(parts []*part, n int) {
	slices.SortFunc(parts, func(a, b *part) int { return a.want - b.want })
	for i, p := range parts {
		left := len(parts) - i
		p.want = min(p.want, (n+left-1)/left)
		n -= p.want
	}
}

// samplerFormat has messages kept as they are. Nothing else of a format is asked for.
type samplerFormat struct {
	spi.Format
	sampler *sampler
}

// NewDecoder implements spi.Format.
func (f samplerFormat) NewDecoder(spi.DecodeSpec, spi.Options) (spi.Decoder, error) {
	return f.sampler, nil
}

// Decode implements spi.Decoder: it keeps the message, which emits nothing.
func (s *sampler) Decode(m spi.Message, _ *spi.Out) error {
	at := &s.r.cur
	m.Key, m.Value = bytes.Clone(m.Key), bytes.Clone(m.Value)
	s.records = append(s.records, Sampled{at.part.topic.name, at.part.id, at.rec.offset, m})
	return nil
}
