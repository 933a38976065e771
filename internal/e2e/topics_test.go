package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicesql/sluice/internal/realkafka"
)

// newTopic creates an empty topic with a name of its own.
func newTopic(t *testing.T, addr, prefix string, partitions int32) string {
	t.Helper()
	name := realkafka.UniqueName(prefix)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := realkafka.CreateTopic(ctx, addr, name, partitions); err != nil {
		t.Fatal(err)
	}
	return name
}

// produce writes records, placed by key.
func produce(t *testing.T, addr string, records ...*kgo.Record) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := realkafka.Produce(ctx, addr, records...); err != nil {
		t.Fatal(err)
	}
}

// produceTo writes records into the partitions that they name.
func produceTo(t *testing.T, addr string, records ...*kgo.Record) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cl, err := kgo.NewClient(append(realkafka.ProducerOptions(addr), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if err := cl.ProduceSync(ctx, records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// contents reads a topic from beginning to end.
func contents(t *testing.T, addr, topic string) []*kgo.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var all []*kgo.Record
	if err := realkafka.ReadTopic(ctx, addr, topic, func(r *kgo.Record) error {
		all = append(all, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// length is the number of records in a topic that has lost none.
func length(t *testing.T, addr, topic string) int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	n, err := realkafka.EndOffsets(ctx, addr, topic)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// object is a JSON object with exact numbers.
type object map[string]any

func parseObject(t *testing.T, text []byte) object {
	t.Helper()
	var o object
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&o); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return o
}

// line writes the fields of an object, as the tests compare rows.
func (o object) line(fields ...string) string {
	cells := make([]string, len(fields))
	for i, f := range fields {
		cells[i] = fmt.Sprint(o[f])
	}
	return strings.Join(cells, "|")
}

// bag counts rows.
type bag map[string]int

// add counts a row in or out. No row is ever taken out that is not there.
func (b bag) add(t *testing.T, row string, weight int) {
	t.Helper()
	if b[row] += weight; b[row] < 0 {
		t.Errorf("%s is taken back before it was there", row)
	}
}

func (b bag) rows() []string {
	var rows []string
	for r, n := range b {
		for range n {
			rows = append(rows, r)
		}
	}
	slices.Sort(rows)
	return rows
}

// sumOfRetractions adds up Debezium's envelopes in a topic: sorted lines of the
// fields.
func sumOfRetractions(t *testing.T, addr, topic string, fields ...string) []string {
	t.Helper()
	count := bag{}
	for _, r := range contents(t, addr, topic) {
		if r.Value == nil {
			continue
		}
		e := parseObject(t, r.Value)
		for _, image := range []struct {
			field  string
			weight int
		}{{"before", -1}, {"after", 1}} {
			if row, ok := e[image.field].(map[string]any); ok {
				count[object(row).line(fields...)] += image.weight // rows without a key may come out of order between partitions
			}
		}
	}
	for row, n := range count {
		if n < 0 {
			t.Errorf("%s was taken back %d times more than it was there", row, -n)
		}
	}
	return count.rows()
}

// lastOfUpserts keeps the last value of every key in a topic: sorted lines of the
// fields.
func lastOfUpserts(t *testing.T, addr, topic string, fields ...string) []string {
	t.Helper()
	live := map[string]string{}
	for _, r := range contents(t, addr, topic) {
		if r.Value == nil {
			delete(live, string(r.Key))
			continue
		}
		live[string(r.Key)] = parseObject(t, r.Value).line(fields...)
	}
	var rows []string
	for _, row := range live {
		rows = append(rows, row)
	}
	slices.Sort(rows)
	return rows
}

// sumOfChanges adds up what --result json prints: sorted lines of the fields.
func sumOfChanges(t *testing.T, out string, fields ...string) []string {
	t.Helper()
	count := bag{}
	for text := range strings.Lines(out) {
		change := parseObject(t, []byte(text))
		row, _ := change["row"].(map[string]any)
		switch change["op"] {
		case "+I", "+U":
			count.add(t, object(row).line(fields...), 1)
		case "-U", "-D":
			count.add(t, object(row).line(fields...), -1)
		default:
			t.Errorf("unknown op in %s", text)
		}
	}
	return count.rows()
}

// tableRows reads what --result table prints: sorted lines of all cells.
func tableRows(t *testing.T, out string) []string {
	t.Helper()
	var rows []string
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	for i, l := range lines {
		if i < 3 || !strings.HasPrefix(l, "|") { // a rule, the names, a rule
			continue
		}
		cells := strings.Split(strings.Trim(l, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	noun := "rows"
	if len(rows) == 1 {
		noun = "row"
	}
	if want := fmt.Sprintf("%d %s in set", len(rows), noun); lines[len(lines)-1] != want {
		t.Errorf("no %q below the table:\n%s", want, out)
	}
	slices.Sort(rows)
	return rows
}

// same fails the test unless two lists are equal.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\ngot  %d %.20q\nwant %d %.20q", what, len(got), head(got), len(want), head(want))
	}
}

func head(rows []string) []string { return rows[:min(len(rows), 20)] }

// inserted is the event of a new row with a key of one number, {"id":N}.
func inserted(topic string, id int, row string) *kgo.Record {
	return event(topic, id, `{"before":null,"after":`+row+`,"op":"c"}`)
}

// event is a record with a key of one number, {"id":N}.
func event(topic string, id int, value string) *kgo.Record {
	return &kgo.Record{Topic: topic, Key: fmt.Appendf(nil, `{"id":%d}`, id), Value: []byte(value)}
}

// exists reports whether there is such a topic.
func exists(t *testing.T, addr, topic string) bool {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	topics, err := kadm.NewClient(cl).ListTopics(t.Context())
	return err == nil && topics.Has(topic)
}
