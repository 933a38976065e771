// Package captured reads the captures of a real Debezium in internal/testdata/debezium, for tests.
package captured

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/embed"
)

// Table is a table after the last change of a capture.
type Table struct {
	Key     []string `json:"primary_key"`
	Columns map[string]string
	Rows    []map[string]json.RawMessage
}

// dir is the folder of the captures.
func dir(t testing.TB) string {
	t.Helper()
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		t.Fatal("this file does not know where it is")
	}
	return filepath.Join(filepath.Dir(file), "..", "testdata", "debezium")
}

// Names are those of all captures, such as postgres/keys.
func Names(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(dir(t) + "/*/*.final.json")
	if err != nil || len(files) != 87 {
		t.Fatal("captures are missing: ", len(files), err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(path.Base(path.Dir(filepath.ToSlash(f)))+"/"+path.Base(filepath.ToSlash(f)), ".final.json")
	}
	return files
}

// Finals are the tables after the last change of a capture, by name.
func Finals(t testing.TB, name string) map[string]Table {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir(t), name+".final.json"))
	if err != nil {
		t.Fatal(err)
	}
	var tables map[string]Table
	if err := json.Unmarshal(b, &tables); err != nil {
		t.Fatal(err)
	}
	return tables
}

// Records are a capture's, in order.
func Records(t testing.TB, name string) []embed.Record {
	t.Helper()
	file := filepath.Join(dir(t), name+".jsonl")
	b, err := os.ReadFile(file)
	if err == nil {
		return parse(t, name, bytes.NewReader(b))
	}
	if b, err = os.ReadFile(file + ".gz"); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, name, z)
}

func parse(t testing.TB, name string, r io.Reader) []embed.Record {
	t.Helper()
	records, err := embed.Parse(name, r)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

var notInTopic = regexp.MustCompile(`[^a-zA-Z0-9._-]`)

// TopicOf reports whether a topic is that of the table, or of one of its partitions.
func TopicOf(topic, table string) bool {
	_, name, _ := strings.Cut(topic, ".")
	_, name, ok := strings.Cut(name, ".")
	table = notInTopic.ReplaceAllString(table, "_")
	return ok && (name == table || name == table+"_eu" || name == table+"_us")
}

var yearBC = regexp.MustCompile(`^(\d+)(-.*) BC$`)

// Canonical is a value of the database, of its type from, as a value of typ.
func Canonical(raw json.RawMessage, typ types.Type, from string) string {
	if string(raw) == "null" {
		return "NULL"
	}
	if typ.Kind == types.Array {
		var elems []json.RawMessage
		if err := json.Unmarshal(raw, &elems); err != nil {
			return err.Error()
		}
		var texts []string
		for _, e := range elems {
			texts = append(texts, Canonical(e, *typ.Elem, strings.TrimSuffix(from, "[]")))
		}
		return "[" + strings.Join(texts, ", ") + "]"
	}
	s := string(raw)
	var unquoted string
	if json.Unmarshal(raw, &unquoted) == nil {
		s = unquoted
	}
	switch {
	case typ.IsString() && strings.HasPrefix(from, "json"):
		return string(raw)
	case typ.IsString():
		return s
	case typ.IsBinary():
		return "x'" + strings.ToLower(strings.TrimPrefix(s, `\x`)) + "'"
	case typ.IsNumeric() && strings.HasPrefix(from, "bit"):
		v, err := strconv.ParseUint(s, 2, 64)
		if err != nil {
			return err.Error()
		}
		s = strconv.FormatUint(v, 10)
	case typ.Kind != types.Date && typ.IsTemporal() && strings.HasSuffix(s, "infinity"):
		// The value that Debezium writes for it.
		s = map[string]string{"infinity": "294247-01-10 04:00:25.2", "-infinity": "-290308-12-21 19:59:27.6"}[s]
	case typ.IsNumeric():
		s = strings.NewReplacer("$", "", ",", "").Replace(s)
	}
	if m := yearBC.FindStringSubmatch(s); m != nil {
		year, err := strconv.Atoi(m[1])
		if err != nil {
			return err.Error()
		}
		s = fmt.Sprintf("%05d%s", 1-year, m[2])
	}
	v, err := text.Parse(typ, []byte(s), nil)
	if err != nil {
		return fmt.Sprintf("%s (%v)", s, err)
	}
	return string(text.Append(nil, typ, v, nil))
}
