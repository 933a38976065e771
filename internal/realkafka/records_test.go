package realkafka

import (
	"strings"
	"testing"
)

func TestParseJSONL(t *testing.T) {
	records, err := ParseJSONL(strings.NewReader(
		`{"topic":"t","key":"{\"id\":1}","value":"v","headers":[["a","1"],["b",null]]}` + "\n\n" +
			`{"topic":"t","key":"k","value":null}` + "\n" +
			`{"topic":"t","key":null,"value":""}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != 3 {
		t.Fatalf("%d records, want 3", len(records))
	}
	first, tombstone, noKey := records[0], records[1], records[2]
	if string(first.Key) != `{"id":1}` || string(first.Value) != "v" || len(first.Headers) != 2 ||
		first.Headers[0].Key != "a" || string(first.Headers[0].Value) != "1" || first.Headers[1].Value != nil {
		t.Errorf("first = %+v", first)
	}
	if tombstone.Value != nil || string(tombstone.Key) != "k" {
		t.Errorf("tombstone = %+v", tombstone)
	}
	if noKey.Key != nil || noKey.Value == nil {
		t.Errorf("null key, empty value = %+v", noKey)
	}
}

func TestParseJSONLErrorsNameTheLine(t *testing.T) {
	for _, bad := range []string{`{"key":"k"}`, `{"topic":1}`, `not json`, `{"topic":"t","headers":[[null,"v"]]}`} {
		_, err := ParseJSONL(strings.NewReader(`{"topic":"t"}` + "\n" + bad + "\n"))
		if err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
			t.Errorf("%s: err = %v", bad, err)
		}
	}
}
