package kafka

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	// retentionEvery is how often positions are compared with where the logs begin.
	retentionEvery = time.Minute
	// retentionRepeat is how often people are told again while records are about to be removed unread.
	retentionRepeat = 15 * time.Minute
	// retentionHorizon is how far ahead the pace at which a log is cut is trusted.
	retentionHorizon = time.Hour
)

// retentionWatch tells when the retention of a topic is about to remove records that were not read yet.
type retentionWatch struct {
	s     *source
	seen  map[*partition]retentionSeen
	alarm alarm
}

// retentionSeen is what is kept of a partition between two looks.
type retentionSeen struct {
	last retentionSample // at the last look
	cut  retentionSample // at the last look that found the log cut, or the first
}

// retentionSample is a partition at a moment.
type retentionSample struct {
	at         time.Time
	first, pos int64
	read       time.Time // timestamp of the record read last; zero for none
}

// age is how far behind the present the reader is.
func (s retentionSample) age() time.Duration { return s.at.Sub(s.read) }

// run looks until ctx ends.
func (w *retentionWatch) run(ctx context.Context) {
	t := time.NewTicker(retentionEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			w.look(ctx, now)
		}
	}
}

// look warns of the partition that is nearest to losing records.
func (w *retentionWatch) look(ctx context.Context, now time.Time) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	w.s.mu.Lock()
	parts := append([]*partition(nil), w.s.parts...)
	w.s.mu.Unlock()
	firsts, err := w.s.c.listOffsets(ctx, parts, listEarliest, false)
	if err != nil {
		return // whoever reads meets the trouble too, and tells of it
	}
	keeps := w.retentions(ctx, parts)
	waiting := w.waiting(ctx, parts, keeps, now)
	worst, threatened := "", 0
	var least time.Duration
	for _, p := range parts {
		now := retentionSample{at: now, first: firsts[p].offset, pos: p.position.Load()}
		if ms := p.lastTime.Load(); ms > 0 {
			now.read = time.UnixMilli(ms)
		}
		seen, ok := w.seen[p]
		if !ok {
			seen = retentionSeen{now, now}
		}
		left, why := now.threat(seen, keeps[p.topic.name])
		if why == "" && waiting[p] && ok && seen.last.pos == now.pos {
			left, why = keeps[p.topic.name]/4, fmt.Sprintf("the record to be read next is older than three quarters of the %s for which the topic keeps records", keeps[p.topic.name])
		}
		if why != "" && (waiting[p] || now.pos < p.logEnd.Load()) { // who has read everything has nothing to lose
			if threatened++; worst == "" || left < least {
				worst, least = fmt.Sprintf("kafka %s@%d: %s", p, now.pos, why), left
			}
		}
		seen.last = now
		if now.first > seen.cut.first {
			seen.cut = now
		}
		w.seen[p] = seen
	}
	switch {
	case threatened == 0:
		w.alarm.over()
	case w.alarm.due(now, retentionRepeat):
		more := ""
		if threatened > 1 {
			more = fmt.Sprintf(" (and %d more partitions)", threatened-1)
		}
		w.s.warn(fmt.Sprintf("%s%s: retention is about to remove records that were not read, in about %s; give the topic a longer retention, or read faster", worst, more, least.Round(time.Second)))
	}
}

// waiting are the partitions of which this process has read nothing, and whose next record is older than three quarters
// of the topic's retention: those of a job that was started paused.
func (w *retentionWatch) waiting(ctx context.Context, parts []*partition, keeps map[string]time.Duration, now time.Time) map[*partition]bool {
	unread := map[time.Duration][]*partition{}
	for _, p := range parts {
		if keep := keeps[p.topic.name]; keep > 0 && p.lastTime.Load() <= 0 {
			unread[keep] = append(unread[keep], p)
		}
	}
	out := map[*partition]bool{}
	for keep, ps := range unread {
		young, err := w.s.c.listOffsets(ctx, ps, now.Add(-keep/4*3).UnixMilli(), false)
		if err != nil {
			continue // whoever reads meets the trouble too
		}
		for _, p := range ps {
			pos := p.position.Load()
			if at, ok := young[p]; ok && (at.offset > pos || at.offset < 0 && pos < p.logEnd.Load()) {
				out[p] = true
			}
		}
	}
	return out
}

// threat says how long it takes until records are removed unread, and why; why is empty when they are not, as far as
// can be seen. keeps is the topic's retention, 0 where it is not known or endless.
func (s retentionSample) threat(seen retentionSeen, keeps time.Duration) (left time.Duration, why string) {
	// By time: less than a quarter of the retention is left, and the reader is not catching up.
	if keeps > 0 && !s.read.IsZero() && !seen.last.read.IsZero() && s.at.After(seen.last.at) {
		left = max(keeps-s.age(), 0)
		if left < keeps/4 && s.age() >= seen.last.age() {
			return left, fmt.Sprintf("the record read last is %s old, and the topic keeps records for %s", s.age().Round(time.Second), keeps)
		}
	}
	// By size, or by hand: between two cuts the log's beginning came nearer to the position, and goes on so.
	if nearer := (s.first - seen.cut.first) - (s.pos - seen.cut.pos); s.first > seen.cut.first && nearer > 0 {
		pace := float64(nearer) / s.at.Sub(seen.cut.at).Seconds()
		left = time.Duration(float64(max(s.pos-s.first, 0)) / pace * float64(time.Second))
		if left < retentionHorizon {
			return left, fmt.Sprintf("the log begins at %d, and its beginning came %d records nearer in %s", s.first, nearer, s.at.Sub(seen.cut.at).Round(time.Second))
		}
	}
	return 0, ""
}

// retentions are the retention times of topics that have one, as far as the user may know.
func (w *retentionWatch) retentions(ctx context.Context, parts []*partition) map[string]time.Duration {
	out := map[string]time.Duration{}
	var topics []string
	for _, p := range parts {
		if _, ok := out[p.topic.name]; !ok {
			out[p.topic.name] = 0
			topics = append(topics, p.topic.name)
		}
	}
	configs, err := w.s.c.adm.DescribeTopicConfigs(ctx, topics...)
	if err != nil {
		return out
	}
	for _, t := range configs {
		ms, deletes := int64(0), false
		for _, c := range t.Configs {
			switch c.Key {
			case "retention.ms":
				ms, _ = strconv.ParseInt(c.MaybeValue(), 10, 64)
			case "cleanup.policy":
				deletes = strings.Contains(c.MaybeValue(), "delete")
			}
		}
		if t.Err == nil && deletes && ms > 0 {
			out[t.Name] = time.Duration(min(ms, 1<<43)) * time.Millisecond
		}
	}
	return out
}
