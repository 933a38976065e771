package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluicesql/sluice/internal/fault"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var errNoLeader = errors.New("the partition has no leader that answers")

// manage follows the leaders of the partitions, and looks for new ones.
func (f *fetcher) manage() {
	defer f.wg.Done()
	age := time.NewTicker(max(f.s.metadataMaxAge, time.Second))
	defer age.Stop()
	var discovery <-chan time.Time
	if f.discover != nil {
		t := time.NewTicker(f.interval)
		defer t.Stop()
		discovery = t.C
	}
	wait := 10 * time.Millisecond
	for {
		select {
		case <-f.ctx.Done():
			return
		case <-discovery:
			f.discover(f.ctx)
			continue
		case <-age.C:
		case <-f.refresh:
		}
		if f.update() {
			wait = 10 * time.Millisecond
			continue
		}
		f.pause(wait)
		wait = min(2*wait, time.Second)
		f.askLeaders()
	}
}

// update asks for the leaders, and reports false when it must be asked again.
func (f *fetcher) update() bool {
	f.mu.Lock()
	names := make([]string, 0, len(f.topics))
	for n := range f.topics {
		names = append(names, n)
	}
	f.mu.Unlock()
	m, err := f.c.metadata(f.ctx, names, false)
	if err != nil {
		if f.ctx.Err() != nil {
			return false
		}
		f.errors.Add(1)
		if f.alarm.due(time.Now(), alarmEvery) {
			f.warn(fmt.Sprintf("%v; trying again", err))
		}
		f.mu.Lock()
		for _, p := range f.parts {
			if p.leader < 0 {
				f.trouble(p, err)
			}
		}
		f.mu.Unlock()
		return false
	}
	f.alarm.over()
	all := true
	var moved []*partition
	f.mu.Lock()
	for name, t := range f.topics {
		tm := m.topics[name]
		if tm == nil {
			if since, ok := f.missing[name]; !ok {
				f.missing[name] = time.Now()
			} else if time.Since(since) > missingFor {
				f.failTopic(t, "was deleted")
				continue
			}
			all = false
			continue
		}
		delete(f.missing, name)
		if isOther(t.id, tm.id) {
			f.failTopic(t, "was deleted and created again")
			continue
		}
		for _, p := range t.parts {
			if p == nil || p.fetchAt >= p.end {
				continue
			}
			if int(p.id) >= len(tm.partitions) { // the broker does not know them all yet
				f.trouble(p, errNoLeader)
				all = false
				continue
			}
			pm := tm.partitions[p.id]
			switch {
			case pm.leader < 0:
				f.trouble(p, errNoLeader)
				all = false
			case p.leader != pm.leader || p.leaderEpoch != pm.leaderEpoch:
				if p.inFlight { // the request under way will end and say so
					all = false
					continue
				}
				p.leader, p.leaderEpoch = -1, pm.leaderEpoch
				p.inFlight = true // nobody fetches it while it is checked
				moved = append(moved, p)
			}
		}
	}
	f.mu.Unlock()
	for _, p := range moved {
		pm := m.topics[p.topic.name].partitions[p.id]
		err, again := f.checkTruncation(p, pm)
		f.mu.Lock()
		p.inFlight = false
		switch {
		case again:
			f.trouble(p, errNoLeader)
			all = false
		case err != nil:
			f.fail(p, err)
		default:
			p.leader = pm.leader
			f.loop(pm.leader).signal()
		}
		f.mu.Unlock()
	}
	return all
}

// isOther reports whether a topic's id is not the one it was; an answer that tells of a trouble has none.
func isOther(was, now [16]byte) bool {
	return was != [16]byte{} && now != [16]byte{} && was != now
}

func (f *fetcher) failTopic(t *topicRef, what string) {
	for _, p := range t.parts {
		if p != nil && p.fetchAt < p.end {
			f.fail(p, fault.Errorf(fault.KafkaTopicChanged, "kafka %s@%d at %s: the topic %s while it was read; its offsets mean nothing any more", p, p.fetchAt, f.c.seeds, what).Fix("start anew with a new state directory"))
		}
	}
}

// loop returns the goroutine of a broker, started when it is first needed. The caller holds mu.
func (f *fetcher) loop(id int32) *brokerLoop {
	b := f.brokers[id]
	if b == nil {
		b = &brokerLoop{id: id, wake: make(chan struct{}, 1)}
		f.brokers[id] = b
		if f.ctx.Err() == nil {
			f.wg.Add(1) // the manager, which calls this, is waited for too: the count is not 0 here
			go f.run(b)
		}
	}
	return b
}

// checkTruncation asks a new leader where its log left the epoch that was read last (KIP-320). When that
// lies before what was read, records were lost that this job has already counted in.
func (f *fetcher) checkTruncation(p *partition, pm partitionMeta) (err error, again bool) {
	if p.fetchEpoch < 0 || pm.leaderEpoch < 0 || p.fetchEpoch == pm.leaderEpoch {
		return nil, false
	}
	req := kmsg.NewPtrOffsetForLeaderEpochRequest()
	req.ReplicaID = -1
	rt := kmsg.NewOffsetForLeaderEpochRequestTopic()
	rt.Topic = p.topic.name
	rp := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
	rp.Partition, rp.CurrentLeaderEpoch, rp.LeaderEpoch = p.id, pm.leaderEpoch, p.fetchEpoch
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	ctx, cancel := context.WithTimeout(f.ctx, f.s.requestTimeout)
	defer cancel()
	kresp, err := f.c.cl.Broker(int(pm.leader)).Request(ctx, req)
	if err != nil {
		f.errors.Add(1)
		return nil, true
	}
	resp := kresp.(*kmsg.OffsetForLeaderEpochResponse)
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return nil, true
	}
	r := resp.Topics[0].Partitions[0]
	if err := kerr.ErrorForCode(r.ErrorCode); err != nil {
		if retriable(err) {
			f.errors.Add(1)
			return nil, true
		}
		return answered(err, "kafka %s@%d: %w", p, p.fetchAt, err), false
	}
	if r.EndOffset >= 0 && r.EndOffset < p.fetchAt {
		return fault.Errorf(fault.KafkaTopicChanged, "kafka %s@%d: the broker lost records %d to %d, which were read already (an unclean leader election); the result holds them and later records would contradict it", p, p.fetchAt, r.EndOffset, p.fetchAt-1).
			Fix("start anew with a new state directory"), false
	}
	return nil, false
}
