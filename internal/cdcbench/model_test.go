package cdcbench

import (
	"encoding/json"
	"testing"

	"github.com/cespare/xxhash/v2"
)

// The figures of the workload as published: another generator of the same
// workload must print the same.
func TestWorkloadIsWhatIsPublished(t *testing.T) {
	for _, c := range []struct {
		size   string
		counts Counts
		want   Result
		stream uint64 // xxhash64 over table, key and value of every event
	}{
		{"XS", Counts{1_609, 3_391, 107, 2_415_573}, Result{2_986, 13932144261782532345}, 0x25a99a437c09ad0c},
		{"S", Counts{162_049, 337_951, 10_044, 244_360_519}, Result{297_866, 10006392390743960303}, 0xc1fb91f54aa19708},
		{"L", Counts{100_000, 300_000, 0, 191_394_915}, Result{294_319, 15221432945572024912}, 0},
	} {
		t.Run(c.size, func(t *testing.T) {
			if testing.Short() && c.size != "XS" {
				t.Skip("hundreds of thousands of events; left out by -short")
			}
			size, err := SizeNamed(c.size)
			if err != nil {
				t.Fatal(err)
			}
			stream := xxhash.New()
			var key []byte
			m, err := Generate(size, DefaultSeed, func(e Event) error {
				key = AppendKey(append(key[:0], byte(e.Table)), e.ID)
				_, _ = stream.Write(key)
				_, _ = stream.Write(e.Value)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if m.Counts != c.counts {
				t.Errorf("counts = %+v, want %+v", m.Counts, c.counts)
			}
			if got := m.Expected(); got != c.want {
				t.Errorf("expected result = %v, want %v", got, c.want)
			}
			if got := stream.Sum64(); c.stream != 0 && got != c.stream {
				t.Errorf("the events' bytes have hash %#x, want %#x", got, c.stream)
			}
		})
	}
}

func TestSizeNamedNamesTheSizes(t *testing.T) {
	_, err := SizeNamed("XXL")
	if err == nil || err.Error() != `unknown size "XXL"; there are L, M, S, XL, XS` {
		t.Errorf("err = %v", err)
	}
}

// row is the union of both tables' columns.
type row struct {
	ID        int32
	UserID    int32 `json:"user_id"`
	FirstName string
	LastName  string
	Name      string `json:"domain_name"`
}

type envelope struct {
	Before, After *row
	Op            string
	Source        struct {
		Table    string
		Snapshot string
		LSN      int64
	}
}

// A naive join of what the events say must be what Expected says, and every
// event's before must be the row as the events before it left it.
func TestEventsTellTheExpectedResult(t *testing.T) {
	users, domains := map[int32]row{}, map[int32]row{}
	m, err := Generate(Size{"test", 200, 3_000}, 7, func(e Event) error {
		if e.Value == nil {
			if _, live := domains[e.ID]; e.Table != Domains || live {
				t.Errorf("tombstone of %d/%d, which is live", e.Table, e.ID)
			}
			return nil
		}
		table, name := users, "users"
		if e.Table == Domains {
			table, name = domains, "domains"
		}
		var got envelope
		if err := json.Unmarshal(e.Value, &got); err != nil {
			return err
		}
		old, live := table[e.ID]
		wantOps := map[bool]string{true: "ud", false: "rc"}[live]
		if got.Op != wantOps[:1] && got.Op != wantOps[1:] || got.Source.Table != name {
			t.Errorf("op %s of table %s for a row that is live: %t", got.Op, got.Source.Table, live)
		}
		if live != (got.Before != nil) || live && *got.Before != old {
			t.Errorf("%s/%d: before = %v, want %v", name, e.ID, got.Before, old)
		}
		if got.After == nil {
			delete(table, e.ID)
		} else {
			table[e.ID] = *got.After
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var want Result
	for _, d := range domains {
		if u, ok := users[d.UserID]; ok {
			want.add(xxhash.Sum64(appendJoined(nil, int64(u.ID), u.FirstName, u.LastName, d.Name)), 1)
		}
	}
	if got := m.Expected(); got != want {
		t.Errorf("Expected = %v, the events tell %v", got, want)
	}
	if got, want := m.LiveRows(), int64(len(users)+len(domains)); got != want {
		t.Errorf("LiveRows = %d, the events leave %d", got, want)
	}
}

func TestEnvelopeBytes(t *testing.T) {
	m := NewModel(Size{"test", 1, 0}, DefaultSeed)
	m.users[1] = user{first: 1, last: 9, number: 7}
	const want = `{"before":null,"after":{"id":1,"firstname":"Béla","lastname":"O'Brien-7"},` +
		`"source":{"version":"3.0.8.Final","connector":"postgresql","name":"app","ts_ms":1764450000001,"snapshot":"true","db":"app",` +
		`"sequence":"[null,\"26541328\"]","ts_us":1764450000001000,"ts_ns":1764450000001000000,"schema":"public","table":"users","txId":771,` +
		`"lsn":26541328,"xmin":null},"transaction":null,"op":"r","ts_ms":1764450000124,"ts_us":1764450000124457,"ts_ns":1764450000124457089}`
	if got := string(m.userEvent(1, nil, &m.users[1], snapshotRead).Value); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
