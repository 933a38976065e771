package runtime

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-json"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/internal/near"
)

// skipsKey is where a state directory keeps the messages that were skipped by name.
const skipsKey = "skips"

// Skip names one message of a source, which is not read.
type Skip struct {
	Table     string `json:"table"`
	Topic     string `json:"topic,omitempty"` // may be left out where the table has one topic
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

// String writes the skip as ParseSkip reads it.
func (s Skip) String() string {
	at := s.Table
	if s.Topic != "" {
		at += "/" + s.Topic
	}
	return fmt.Sprintf("%s/%d@%d", at, s.Partition, s.Offset)
}

// ParseSkip reads TABLE/PARTITION@OFFSET or TABLE/TOPIC/PARTITION@OFFSET.
func ParseSkip(text string) (Skip, error) {
	bad := fmt.Errorf("%q: write TABLE/PARTITION@OFFSET, such as users/3@8812, or TABLE/TOPIC/PARTITION@OFFSET", text)
	at, offset, ok := strings.Cut(text, "@")
	parts := strings.Split(at, "/")
	if !ok || len(parts) < 2 || len(parts) > 3 {
		return Skip{}, bad
	}
	s := Skip{Table: parts[0]}
	if len(parts) == 3 {
		s.Topic = parts[1]
	}
	p, perr := strconv.ParseInt(parts[len(parts)-1], 10, 32)
	o, oerr := strconv.ParseInt(offset, 10, 64)
	if perr != nil || oerr != nil || p < 0 || o < 0 || s.Table == "" {
		return Skip{}, bad
	}
	s.Partition, s.Offset = int32(p), o
	return s, nil
}

// applySkips tells the sources which messages to leave out: those that the state directory names and those that are
// asked for now, which it notes in a, with their topic: the table may be read from another one later. A message that was
// read is an error: it lies before the last checkpoint, or within the logged epochs, which are repeated as they were.
func (j *Job) applySkips(a *adoption, replay []cutRecord) error {
	noted, err := j.notedSkips()
	if err != nil {
		return err
	}
	all := slices.Clone(noted)
	for _, s := range j.cfg.Skips {
		at, err := j.resolveSkip(s, replay)
		if err != nil {
			return fmt.Errorf("--skip %s: %w", s, err)
		}
		named := s
		named.Topic = at.Topic
		switch {
		case slices.Contains(all, named): // the same command line again
		case s.Offset < at.Offset:
			return fault.Errorf(fault.JobRequest, "--skip %s: this message was read already, or lies before where the job begins: it goes on at offset %d", s, at.Offset).Fix("leave it out of --skip")
		default:
			all = append(all, named)
		}
	}
	for _, t := range j.sources {
		var pos []spi.Position
		for _, s := range all {
			if s.Table == t.table {
				pos = append(pos, spi.Position{Topic: s.Topic, Partition: s.Partition, Offset: s.Offset})
			}
		}
		if k, ok := t.source.(spi.Skipper); ok && len(pos) > 0 {
			k.Skip(pos)
		}
	}
	if len(all) == len(noted) {
		return nil
	}
	b, err := json.Marshal(all)
	if err != nil {
		return err
	}
	a.note(skipsKey, b)
	return nil
}

func (j *Job) notedSkips() ([]Skip, error) {
	b, err := j.store.Meta(skipsKey)
	if err != nil || b == nil {
		return nil, err
	}
	return decodeSkips(b, j.cfg.StateDir)
}

func decodeSkips(b []byte, dir string) (skips []Skip, err error) {
	if err := json.Unmarshal(b, &skips); err != nil {
		return nil, state.Damaged("%s holds no readable list of skipped messages: %w", dir, err)
	}
	return skips, nil
}

// resolveSkip finds how far the partition of a skip was read, the epochs to be repeated included.
func (j *Job) resolveSkip(s Skip, replay []cutRecord) (spi.Position, error) {
	var tables []string
	for _, t := range j.sources {
		tables = append(tables, t.table)
		if t.table != s.Table {
			continue
		}
		if _, ok := t.source.(spi.Skipper); !ok {
			return spi.Position{}, fault.Errorf(fault.JobRequest, "the connector of table %s has no messages that could be skipped", s.Table).Fix("leave it out of --skip: tables of Kafka topics have such messages")
		}
		at, err := findPosition(s, t.source.Positions())
		if err != nil || len(replay) == 0 {
			return at, err
		}
		for _, p := range replay[len(replay)-1].Sources[t.name] {
			if p.Topic == at.Topic && p.Partition == at.Partition {
				at.Offset = max(at.Offset, p.Offset)
			}
		}
		return at, nil
	}
	return spi.Position{}, fault.Errorf(fault.JobRequest, "the job reads no table %s", s.Table).Fix("%s", amongKnown(s.Table, "it reads", tables))
}

// amongKnown is the remedy for a name that is not one of those known: the one that it is near to, or all.
func amongKnown(name, verb string, known []string) string {
	if n := near.Name(name, known); n != "" {
		return fmt.Sprintf("did you mean %s?", n)
	}
	return verb + " " + strings.Join(known, ", ")
}

func findPosition(s Skip, positions []spi.Position) (spi.Position, error) {
	var found []spi.Position
	var topics []string
	for _, p := range positions {
		if !slices.Contains(topics, p.Topic) {
			topics = append(topics, p.Topic)
		}
		if p.Partition == s.Partition && (s.Topic == "" || s.Topic == p.Topic) {
			found = append(found, p)
		}
	}
	switch {
	case s.Topic == "" && len(topics) > 1:
		return spi.Position{}, fault.Errorf(fault.JobRequest, "the table has several topics").
			Fix("write %s/TOPIC/%d@%d, with one of %s", s.Table, s.Partition, s.Offset, strings.Join(topics, ", "))
	case len(found) == 0:
		return spi.Position{}, fault.Errorf(fault.JobRequest, "the table has no such partition").
			Fix("it reads %s with %d partitions in all", strings.Join(topics, ", "), len(positions))
	}
	return found[0], nil
}
