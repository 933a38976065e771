package debezium

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

const capturesDir = "../../../internal/testdata/debezium"

type record struct {
	Topic      string
	Key, Value *string
}

func (r record) message() spi.Message {
	var m spi.Message
	if r.Key != nil {
		m.Key = []byte(*r.Key)
	}
	if r.Value != nil {
		m.Value = []byte(*r.Value)
	}
	return m
}

// captures are the names of all captures, DIR/NAME.
func captures(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(capturesDir + "/*/users_domains.*.final.json")
	if err != nil || len(files) < 5 {
		t.Fatal("captures are missing: ", files, err)
	}
	for i, f := range files {
		rel, err := filepath.Rel(capturesDir, f)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = strings.TrimSuffix(filepath.ToSlash(rel), ".final.json")
	}
	return files
}

func capture(t testing.TB, name string) (records []record) {
	t.Helper()
	file := filepath.Join(capturesDir, name+".jsonl")
	b, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		b, err = gunzip(file + ".gz")
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	return records
}

func gunzip(file string) ([]byte, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// final are the rows of a table after the last change, as show writes them, in order.
func final(t testing.TB, name, table string, cols []spi.Column) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(capturesDir, name+".final.json"))
	if err != nil {
		t.Fatal(err)
	}
	var tables map[string]struct {
		Rows []map[string]any
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&tables); err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, r := range tables[table].Rows {
		values := make([]string, len(cols))
		for i, c := range cols {
			switch v := r[c.Name].(type) {
			case nil:
				values[i] = "NULL"
			case json.Number:
				values[i] = v.String()
			case string:
				values[i] = v
			default:
				t.Fatalf("%s: %T", c.Name, v)
			}
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
	for _, r := range capture(t, name) {
		if !strings.HasSuffix(r.Topic, "."+table) {
			continue
		}
		s.out.Batch.Reset()
		err := s.Decode(r.message(), s.out)
		if mode == spi.Retract && strings.HasSuffix(name, ".default") && err != nil {
			e := decodeError(t, err)
			if e.Field != "before" || !strings.Contains(e.Fix, "ALTER TABLE public."+table+" REPLICA IDENTITY FULL") {
				t.Error(err)
			}
			return // without the rows before, a table without a key can't be replayed
		}
		if err != nil {
			t.Fatalf("%s\n%v", *r.Value, err)
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
		for _, r := range capture(t, name) {
			fresh := open(t, spi.DecodeSpec{Columns: cols, Mode: spi.Upsert, Key: []int{0}}, nil)
			fresh.deleted = append(fresh.deleted, one.deleted...)
			one.out.Batch.Reset()
			err, want := one.Decode(r.message(), one.out), fresh.Decode(r.message(), fresh.out)
			if err != nil || want != nil || changes(one.out.Batch, cols) != changes(fresh.out.Batch, cols) {
				t.Fatalf("%s: %v %v", name, err, want)
			}
		}
	}
}
