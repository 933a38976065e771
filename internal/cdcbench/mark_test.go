package cdcbench

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
)

func TestNewestMark(t *testing.T) {
	const older, newer = "1764450000000000001", "1764450000000000009"
	for _, c := range []struct {
		value string
		mark  int64
		added bool
	}{
		{`{"before":null,"after":{"lastname":"L` + older + `","domain_name":"L` + newer + `.site-1"},"op":"c"}`, 1764450000000000009, true},
		{`{"before":{"lastname":"L` + newer + `"},"after":{"lastname":"L` + older + `"},"op":"u"}`, 1764450000000000001, true},
		{`{"before":{"lastname":"L` + newer + `"},"after":null,"op":"d"}`, 0, false},
		{`{"lastname":"L` + newer + `"}`, 1764450000000000009, true},
		{`{"lastname":"L17","domain_name":"L1"}`, 0, true},
		{`{"lastname":"L` + newer + `0"}`, 0, true},
		{"", 0, false},
	} {
		if mark, added := newestMark([]byte(c.value)); mark != c.mark || added != c.added {
			t.Errorf("newestMark(%s) = %d, %t; want %d, %t", c.value, mark, added, c.mark, c.added)
		}
	}
}

func TestMarkPutsTheTimeIntoTheRow(t *testing.T) {
	m := NewModel(Size{"test", 50, 0}, DefaultSeed)
	var tables [2]int
	for i := range 1000 {
		mark := 1_764_450_000_000_000_000 + int64(i)
		e := m.Mark(mark)
		tables[e.Table]++
		if got, _ := newestMark(e.Value); got != mark {
			t.Fatalf("mark %d is not in %s", mark, e.Value)
		}
		var got envelope
		if err := json.Unmarshal(e.Value, &got); err != nil {
			t.Fatal(err)
		}
		if got.Op != "u" || got.Before.UserID != got.After.UserID || !strings.HasPrefix(got.After.LastName+got.After.Name, "L1") {
			t.Fatalf("not a marked update that keeps the join key: %s", e.Value)
		}
	}
	if tables[Users] < 800 || tables[Domains] < 100 {
		t.Errorf("updates by table: %v", tables)
	}
}

func TestMarkedWorkloadIsWhatIsPublished(t *testing.T) {
	size, err := SizeNamed("XS")
	if err != nil {
		t.Fatal(err)
	}
	m, stream := NewModel(size, DefaultSeed), xxhash.New()
	for i := range 5000 {
		_, _ = stream.Write(m.Mark(1_764_450_000_000_000_000 + int64(i)*1_000_000).Value)
	}
	if got, want := stream.Sum64(), uint64(0x6a8c970370fc4f47); got != want {
		t.Errorf("the events' bytes have hash %#x, want %#x", got, want)
	}
}
