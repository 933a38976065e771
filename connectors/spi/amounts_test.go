package spi

import (
	"testing"
	"time"
)

func TestParseMemory(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "17": 17, "17b": 17, "2 kb": 2048, "256 mb": 256 << 20, "1g": 1 << 30, " 3 TB ": 3 << 40,
		"": -1, "mb": -1, "1 pb": -1, "-1 mb": -1, "9223372036854775807 kb": -1, "1.5 gb": -1,
	} {
		got, err := ParseMemory(text)
		if err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("ParseMemory(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"5 min": 5 * time.Minute, "100ms": 100 * time.Millisecond, " 1 D ": 24 * time.Hour, "7": 7 * time.Millisecond,
		"3 µs": 3 * time.Microsecond, "0 s": 0, "106751 d": 106751 * 24 * time.Hour,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "min", "-1 s", "1.5 s", "5 fortnights", "106752 d", "99999999999999999999 s"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
