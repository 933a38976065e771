package debezium

import (
	"slices"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/captured"
	"github.com/sluicesql/sluice/internal/embed"
)

func messageOf(r embed.Record) spi.Message { return spi.Message{Key: r.Key, Value: r.Value} }

// captures are the names of the captures of the tables users and domains.
func captures(t testing.TB) []string {
	t.Helper()
	names := slices.DeleteFunc(captured.Names(t), func(name string) bool { return !strings.Contains(name, "/users_domains.") })
	if len(names) < 5 {
		t.Fatal("captures are missing: ", names)
	}
	return names
}

// final are the rows of a table after the last change, as show writes them, in order.
func final(t testing.TB, name, table string, cols []spi.Column) []string {
	t.Helper()
	var rows []string
	for _, r := range captured.Finals(t, name)[table].Rows {
		values := make([]string, len(cols))
		for i, c := range cols {
			values[i] = captured.Canonical(r[c.Name], c.Type, "")
		}
		rows = append(rows, "("+strings.Join(values, ", ")+")")
	}
	slices.Sort(rows)
	return rows
}

var tables = []struct {
	name string
	cols []spi.Column
}{
	{"users", []spi.Column{col("id", types.Of(types.Int)), col("firstname", types.String()), col("lastname", types.String())}},
	{"domains", domainColumns},
}

// TestCaptures replays every capture and compares the result with the database's tables.
func TestCaptures(t *testing.T) {
	for _, name := range captures(t) {
		for _, table := range tables {
			for _, mode := range []spi.Mode{spi.Retract, spi.Upsert} {
				t.Run(name+"/"+table.name+"/"+mode.String(), func(t *testing.T) {
					replay(t, name, table.name, table.cols, mode)
				})
			}
		}
	}
}

func replay(t *testing.T, name, table string, cols []spi.Column, mode spi.Mode) {
	s := open(t, spi.DecodeSpec{Columns: cols, Mode: mode, Key: []int{0}}, nil)
	byKey, bag := map[int64]string{}, map[string]int{}
	events := 0
	for _, r := range captured.Records(t, name) {
		if !strings.HasSuffix(r.Topic, "."+table) {
			continue
		}
		s.out.Batch.Reset()
		err := s.Decode(messageOf(r), s.out)
		if mode == spi.Retract && strings.HasSuffix(name, ".default") && err != nil {
			e := decodeError(t, err)
			if e.Field != "before" || !strings.Contains(e.Fix, "ALTER TABLE public."+table+" REPLICA IDENTITY FULL") {
				t.Error(err)
			}
			return // without the rows before, a table without a key can't be replayed
		}
		if err != nil {
			t.Fatalf("%s\n%v", r.Value, err)
		}
		events++
		for i := range s.out.Batch.Len() {
			op, r := s.out.Batch.Op(i), s.out.Batch.Row(i)
			apply(byKey, bag, op, r, show(r, cols))
		}
	}
	var got []string
	if mode == spi.Upsert {
		for _, r := range byKey {
			got = append(got, r)
		}
	} else {
		for r, n := range bag {
			for range n {
				got = append(got, r)
			}
			if n < 0 {
				t.Errorf("%s was deleted too often", r)
			}
		}
	}
	slices.Sort(got)
	if want := final(t, name, table, cols); !slices.Equal(got, want) || len(want) == 0 {
		t.Errorf("after %d events\ngot  %s\nwant %s", events, got, want)
	}
}

func apply(byKey map[int64]string, bag map[string]int, op changelog.Op, r row.Row, shown string) {
	bag[shown] += op.Weight()
	if op.Negative() {
		delete(byKey, r.Int64(0))
	} else {
		byKey[r.Int64(0)] = shown
	}
}

// TestSharedStream reads both tables' records with one decoder, whose predictions then fail at each turn.
func TestSharedStream(t *testing.T) {
	cols := []spi.Column{col("id", types.Of(types.Int)), col("lastname", types.String()), col("domain_name", types.String())}
	for _, name := range captures(t) {
		one := open(t, spi.DecodeSpec{Columns: cols, Mode: spi.Upsert, Key: []int{0}}, nil)
		for _, r := range captured.Records(t, name) {
			fresh := open(t, spi.DecodeSpec{Columns: cols, Mode: spi.Upsert, Key: []int{0}}, nil)
			fresh.deleted = append(fresh.deleted, one.deleted...)
			one.out.Batch.Reset()
			err, want := one.Decode(messageOf(r), one.out), fresh.Decode(messageOf(r), fresh.out)
			if err != nil || want != nil || changes(one.out.Batch, cols) != changes(fresh.out.Batch, cols) {
				t.Fatalf("%s: %v %v", name, err, want)
			}
		}
	}
}
