package cdcbench

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicesql/sluice/internal/realkafka"
)

func resultOf(rows ...string) Result {
	var r Result
	for _, row := range rows {
		r.add(xxhash.Sum64String(row), 1)
	}
	return r
}

func flat(id int, first, last, name string) string {
	return fmt.Sprintf(`{"id":%d,"firstname":%q,"lastname":%q,"domain_name":%q}`, id, first, last, name)
}

func TestVerifierReplays(t *testing.T) {
	a, b, c := flat(1, "Zoé", "O'Brien-1", "site-1"), flat(1, "Zoé", "Sato-2", "site-1"), flat(2, "Uma", "Silva-3", "site-2")
	envelope := func(before, after, op string) string {
		return `{"before":` + before + `,"after":` + after + `,"op":"` + op + `"}`
	}
	for _, test := range []struct {
		name    string
		mode    Mode
		records [][2]string // an empty value is null
		want    Result
	}{
		{"retract, delete and insert", Retract, [][2]string{
			{"", envelope("null", a, "c")}, {"", envelope("null", c, "c")}, {"", envelope(a, "null", "d")}, {"", ""}, {"", envelope("null", b, "c")},
		}, resultOf("1|Zoé|Sato-2|site-1", "2|Uma|Silva-3|site-2")},
		{"retract, update in one", Retract, [][2]string{
			{"", envelope("null", a, "c")}, {"", envelope(a, b, "u")},
		}, resultOf("1|Zoé|Sato-2|site-1")},
		{"retract before insert", Retract, [][2]string{
			{"", envelope(a, "null", "d")}, {"", envelope("null", a, "c")},
		}, resultOf()},
		{"equal rows are two rows", Retract, [][2]string{
			{"", envelope("null", a, "c")}, {"", envelope("null", a, "c")},
		}, resultOf("1|Zoé|O'Brien-1|site-1", "1|Zoé|O'Brien-1|site-1")},
		{"exact", Exact, [][2]string{
			{"k1", envelope("null", a, "c")}, {"k2", envelope("null", c, "c")}, {"k1", envelope(a, b, "u")}, {"k2", envelope(c, "null", "d")},
		}, resultOf("1|Zoé|Sato-2|site-1")},
		{"upsert", Upsert, [][2]string{
			{"k1", a}, {"k2", c}, {"k1", b}, {"k2", ""}, {"k3", c}, {"k3", "null"}, {"k4", ""},
		}, resultOf("1|Zoé|Sato-2|site-1")},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := newVerifier(test.mode)
			for _, r := range test.records {
				var value []byte
				if r[1] != "" {
					value = []byte(r[1])
				}
				if err := v.apply([]byte(r[0]), value); err != nil {
					t.Fatal(err)
				}
			}
			if v.result != test.want || v.records != int64(len(test.records)) {
				t.Errorf("%d records leave %v, want %v", v.records, v.result, test.want)
			}
		})
	}
}

func TestVerifierRefuses(t *testing.T) {
	for _, c := range []struct {
		mode  Mode
		value string
	}{
		{Retract, `{}`},
		{Retract, `{"before":null,"after":{"id":1},"op":"c"}`},
		{Retract, `not json`},
		{Upsert, `{"id":1,"firstname":null,"lastname":"a","domain_name":"b"}`},
	} {
		if err := newVerifier(c.mode).apply([]byte("k"), []byte(c.value)); err == nil {
			t.Errorf("%s was taken", c.value)
		}
	}
	if err := newVerifier(Upsert).apply(nil, []byte(flat(1, "a", "b", "c"))); err == nil {
		t.Error("an upsert without a key was taken")
	}
}

// Exact finds a record that comes twice, and one that is missing, whatever is left in the end.
func TestExactIsExact(t *testing.T) {
	a, b := flat(1, "Zoé", "O'Brien-1", "site-1"), flat(1, "Zoé", "Sato-2", "site-1")
	inserted, changed, deleted := `{"before":null,"after":`+a+`}`, `{"before":`+a+`,"after":`+b+`}`, `{"before":`+b+`,"after":null}`
	for _, values := range [][]string{{inserted, inserted}, {inserted, changed, changed}, {inserted, changed, deleted, deleted}, {inserted, deleted}, {changed}} {
		v := newVerifier(Exact)
		for i, value := range values {
			if err := v.apply([]byte("k"), []byte(value)); (err != nil) != (i == len(values)-1) {
				t.Errorf("%s after %s: %v", value, values[:i], err)
			}
		}
	}
}

// Loading and reading back through a real broker: the topics' contents replay to
// the published counts, and a topic that lacks one row is found out.
func TestVerifyOnKafka(t *testing.T) {
	addr := realkafka.ForTest(t).Addr()
	size, err := SizeNamed("XS")
	if err != nil {
		t.Fatal(err)
	}
	size.Name = realkafka.UniqueName("verify")
	m, err := Load(t.Context(), addr, size, DefaultSeed)
	if err != nil {
		t.Fatal(err)
	}
	events := int64(0)
	for _, topic := range []string{size.UsersTopic(), size.DomainsTopic()} {
		n, err := realkafka.EndOffsets(t.Context(), addr, topic)
		if err != nil {
			t.Fatal(err)
		}
		events += n
	}
	if want := m.Counts.Envelopes() + m.Counts.Tombstones; events != want {
		t.Errorf("%d records in the topics, want %d", events, want)
	}

	output := realkafka.UniqueName("joined")
	if err := realkafka.CreateTopic(t.Context(), addr, output, Partitions); err != nil {
		t.Fatal(err)
	}
	var records []*kgo.Record
	for id := int32(1); int(id) < len(m.domains); id++ {
		d := m.domains[id]
		if !d.live || int(d.user) >= len(m.users) {
			continue
		}
		u := m.users[d.user]
		value := `{"before":null,"after":` + flat(int(d.user), firstNames[u.first], string(u.appendLastName(nil)), string(d.appendName(nil, id))) + `,"op":"c"}`
		records = append(records, &kgo.Record{Topic: output, Value: []byte(value)})
	}
	missing := records[len(records)-1]
	if err := realkafka.Produce(t.Context(), addr, records[:len(records)-1]...); err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(t.Context(), addr, output, Retract, m.Expected()); err == nil || !strings.Contains(err.Error(), "is wrong") {
		t.Errorf("without its last row: err = %v", err)
	}
	if err := realkafka.Produce(t.Context(), addr, missing); err != nil {
		t.Fatal(err)
	}
	n, err := Verify(t.Context(), addr, output, Retract, m.Expected())
	if err != nil || n != int64(len(records)) {
		t.Errorf("Verify = %d, %v; want %d records", n, err, len(records))
	}
}
