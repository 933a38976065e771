package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/fault"
)

// onceSink implements spi.TransactionalSink: the records of a checkpoint reach the topic in a transaction. The marker
// is the metadata of an offset that a consumer group, named as the transactional id, commits for partition 0 in the
// same transaction.
//
// Whatever happens to a transaction, the broker's answer to InitProducerID ends it, and the marker then says how. So
// there is one way to recover, from errors that leave its outcome open too.
type onceSink struct {
	outTopic
	packers []*packer
	txn     *transaction
	stored  spi.Marker // the marker as this sink knows it
	found   bool
}

// classicTransactions are the requests of transactions as Kafka 3.9 knows them, and all brokers since 2.5 and up to
// 4.x: the later protocol would have to be told apart by a feature of the cluster and saves little here.
func classicTransactions() kgo.Opt {
	v := kversion.V3_9_0()
	v.SetMaxKeyVersion(24, 3) // AddPartitionsToTxn; later versions are for brokers among themselves
	return kgo.MaxVersions(v)
}

func openOnceSink(ctx context.Context, cfg sinkConfig, spec spi.SinkSpec) (_ *onceSink, err error) {
	s := &onceSink{outTopic: outTopic{cfg: cfg}}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if err := s.open(ctx, spec, classicTransactions()); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.c.close()
		}
	}()
	s.txn = newTransaction(&s.outTopic, cfg.txnPrefix+"-"+spec.Name)
	for i := range max(spec.Writers, 1) {
		p, err := newPacker(&s.outTopic, spec, i)
		if err != nil {
			return nil, err
		}
		s.packers = append(s.packers, p)
	}
	return s, nil
}

// Writer implements spi.Sink.
func (s *onceSink) Writer(int) spi.Writer { panic("kafka: a transactional sink has packers") }

// Packer implements spi.TransactionalSink.
func (s *onceSink) Packer(i int) spi.Packer { return s.packers[i] }

// Marker implements spi.TransactionalSink.
func (s *onceSink) Marker(ctx context.Context) (spi.Marker, bool, error) {
	m, found, err := s.readMarker(ctx)
	if err == nil {
		s.stored, s.found = m, found
	}
	return m, found, err
}

func (s *onceSink) readMarker(ctx context.Context) (spi.Marker, bool, error) {
	text, found, err := s.txn.readMarker(ctx)
	if err != nil || !found {
		return spi.Marker{}, false, err
	}
	m, err := spi.ParseMarker(text)
	if err != nil {
		return spi.Marker{}, false, fault.Errorf(fault.StateSink, "kafka group %s at %s, which is to hold the marker of topic %s, holds something else: %w", s.txn.id, s.c.seeds, s.cfg.topic, err).Fix("choose another 'sink.transactional-id-prefix'")
	}
	return m, true, nil
}

// MarkerPlace says where the marker lies.
func (s *onceSink) MarkerPlace() string {
	return fmt.Sprintf("If that job is gone for good, its marker goes with: kafka-consumer-groups.sh --bootstrap-server %s --delete --group %s", s.c.seeds, s.txn.id)
}

// Fence implements spi.TransactionalSink.
func (s *onceSink) Fence(ctx context.Context) error { return s.txn.init(ctx) }

// Deliver implements spi.TransactionalSink.
func (s *onceSink) Deliver(ctx context.Context, m spi.Marker, blocks spi.Blocks) error {
	start := time.Now()
	for attempt := 1; ; attempt++ {
		err := s.attempt(ctx, m, blocks)
		if err == nil {
			s.stored, s.found = m, true
			return nil
		}
		done, rerr := s.recover(ctx, m, err)
		switch {
		case done:
			return nil
		case rerr != nil:
			return rerr
		case time.Since(start) > s.cfg.deliveryTimeout:
			return tooLate(err, "kafka topic %s at %s: the output of checkpoint %d could not be written within 'properties.delivery.timeout.ms' = %d", s.cfg.topic, s.c.seeds, m.Checkpoint, s.cfg.deliveryTimeout.Milliseconds())
		case attempt == 3:
			s.warn(fmt.Sprintf("kafka topic %s at %s: a transaction failed, trying again: %v", s.cfg.topic, s.c.seeds, err))
		}
		pauseFor(ctx)
	}
}

// attempt is one transaction. It is given up well before the broker would.
func (s *onceSink) attempt(ctx context.Context, m spi.Marker, blocks spi.Blocks) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.cfg.transactionTimeout*3/4, errSlow)
	defer cancel()
	err := s.txn.run(ctx, m.String(), blocks)
	if err != nil && errors.Is(context.Cause(ctx), errSlow) {
		return errSlow
	}
	return err
}

var errSlow = errors.New("a transaction took longer than three quarters of 'properties.transaction.timeout.ms'")

// recover ends a transaction that failed. done says that it had come to its end nevertheless; after a nil error it may
// be tried again.
func (s *onceSink) recover(ctx context.Context, m spi.Marker, cause error) (done bool, err error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if !curable(cause) {
		return false, cause
	}
	if err := s.txn.init(ctx); err != nil {
		if curable(err) {
			return false, nil // the next attempt fails as well, until the time is over
		}
		return false, err
	}
	now, found, err := s.readMarker(ctx)
	switch {
	case err != nil && curable(err):
		return false, nil
	case err != nil:
		return false, err
	case found && now == m:
		s.stored, s.found = m, true
		return true, nil
	case found != s.found || now != s.stored:
		return false, fault.Errorf(fault.KafkaFenced, "kafka topic %s at %s: the marker of group %s is %q where this job had left %q: another process has written in its name", s.cfg.topic, s.c.seeds, s.txn.id, now, s.stored).Fix(fencedFix)
	}
	return false, nil
}

// Close implements spi.Sink.
func (s *onceSink) Close() error {
	s.txn.close()
	s.c.close()
	return nil
}
