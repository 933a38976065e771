package cdcbench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cespare/xxhash/v2"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicesql/sluice/internal/realkafka"
)

// Mode is how an output topic tells its changes.
type Mode uint8

const (
	// Retract is Debezium envelopes: before is taken out of the result, after put
	// in.
	Retract Mode = iota
	// Upsert is flat rows that replace what their record key had; a null value
	// deletes.
	Upsert
	// Exact is Retract for a topic whose record key is unique among the rows: each
	// record must follow from what the ones before it left of its key, so that none
	// may come twice and none may be missing.
	Exact
)

// Read replays a whole output topic. It returns the rows that are left and the
// number of records read.
func Read(ctx context.Context, addr, topic string, mode Mode) (Result, int64, error) {
	v := newVerifier(mode)
	err := realkafka.ReadTopic(ctx, addr, topic, func(r *kgo.Record) error { return v.apply(r.Key, r.Value) })
	return v.result, v.records, err
}

// Verify replays a whole output topic and compares the rows that are left with
// want. It returns the number of records read.
func Verify(ctx context.Context, addr, topic string, mode Mode, want Result) (int64, error) {
	got, records, err := Read(ctx, addr, topic, mode)
	if err != nil {
		return records, err
	}
	if got != want {
		return records, fmt.Errorf("topic %s is wrong: its %d records leave %v, expected %v", topic, records, got, want)
	}
	return records, nil
}

// verifier sums up an output topic.
type verifier struct {
	result  Result
	records int64
	replay  func(key, value []byte) error // retract or upsert
	live    map[string]uint64             // Upsert, Exact: hash by record key
	scratch []byte
}

func newVerifier(mode Mode) *verifier {
	v := &verifier{}
	switch mode {
	case Retract:
		v.replay = v.retract
	case Upsert:
		v.replay = v.upsert
		v.live = map[string]uint64{}
	case Exact:
		v.replay = v.exact
		v.live = map[string]uint64{}
	default:
		panic(fmt.Sprintf("cdcbench: no such mode: %d", mode))
	}
	return v
}

func (v *verifier) apply(key, value []byte) error {
	v.records++
	return v.replay(key, value)
}

// outputRow is a joined row as it stands in an output topic. The user's id is in
// user_id or in id.
type outputRow struct {
	ID         *int64  `json:"id"`
	UserID     *int64  `json:"user_id"`
	FirstName  *string `json:"firstname"`
	LastName   *string `json:"lastname"`
	DomainName *string `json:"domain_name"`
}

func (v *verifier) hash(r *outputRow) (uint64, error) {
	id := r.UserID
	if id == nil {
		id = r.ID
	}
	if id == nil || r.FirstName == nil || r.LastName == nil || r.DomainName == nil {
		return 0, errors.New("a joined row lacks user_id (or id), firstname, lastname or domain_name")
	}
	v.scratch = appendJoined(v.scratch[:0], *id, *r.FirstName, *r.LastName, *r.DomainName)
	return xxhash.Sum64(v.scratch), nil
}

// outputEnvelope is a Debezium envelope of joined rows.
type outputEnvelope struct {
	Before *outputRow `json:"before"`
	After  *outputRow `json:"after"`
}

func parseEnvelope(value []byte) (e outputEnvelope, err error) {
	if err := json.Unmarshal(value, &e); err != nil {
		return e, err
	}
	if e.Before == nil && e.After == nil {
		return e, errors.New("an envelope has neither before nor after")
	}
	return e, nil
}

func (v *verifier) retract(_, value []byte) error {
	if value == nil { // the tombstone after a delete
		return nil
	}
	e, err := parseEnvelope(value)
	if err != nil {
		return err
	}
	for _, image := range []struct {
		row    *outputRow
		weight int64
	}{{e.Before, -1}, {e.After, 1}} {
		if image.row == nil {
			continue
		}
		h, err := v.hash(image.row)
		if err != nil {
			return err
		}
		v.result.add(h, image.weight)
	}
	return nil
}

func (v *verifier) exact(key, value []byte) error {
	if key == nil || value == nil {
		return errors.New("a record lacks its key or its envelope")
	}
	e, err := parseEnvelope(value)
	if err != nil {
		return err
	}
	now, live := v.live[string(key)]
	switch {
	case e.Before == nil && live:
		return fmt.Errorf("%s is inserted where a row of this key is already", value)
	case e.Before == nil:
	case !live:
		return fmt.Errorf("%s takes out a row where there is none of this key", value)
	default:
		h, err := v.hash(e.Before)
		if err != nil {
			return err
		}
		if h != now {
			return fmt.Errorf("%s takes out another row than the one of this key", value)
		}
		delete(v.live, string(key))
		v.result.add(h, -1)
	}
	if e.After != nil {
		h, err := v.hash(e.After)
		if err != nil {
			return err
		}
		v.live[string(key)] = h
		v.result.add(h, 1)
	}
	return nil
}

func (v *verifier) upsert(key, value []byte) error {
	if key == nil {
		return errors.New("a record of an upsert topic has no key")
	}
	if old, ok := v.live[string(key)]; ok {
		v.result.add(old, -1)
		delete(v.live, string(key))
	}
	if value == nil || bytes.Equal(value, []byte("null")) {
		return nil
	}
	var row outputRow
	if err := json.Unmarshal(value, &row); err != nil {
		return err
	}
	h, err := v.hash(&row)
	if err != nil {
		return err
	}
	v.live[string(key)] = h
	v.result.add(h, 1)
	return nil
}
