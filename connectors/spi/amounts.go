package spi

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// unit is a unit of an amount under all its names, in lower case; "" is an amount without one.
type unit struct {
	size  int64
	names []string
}

var durationUnits = []unit{
	{int64(24 * time.Hour), []string{"d", "day", "days"}},
	{int64(time.Hour), []string{"h", "hour", "hours"}},
	{int64(time.Minute), []string{"m", "min", "minute", "minutes"}},
	{int64(time.Second), []string{"s", "sec", "second", "seconds"}},
	{int64(time.Millisecond), []string{"", "ms", "milli", "millis", "millisecond", "milliseconds"}},
	{int64(time.Microsecond), []string{"us", "µs", "micro", "micros", "microsecond", "microseconds"}},
	{int64(time.Nanosecond), []string{"ns", "nano", "nanos", "nanosecond", "nanoseconds"}},
}

var memoryUnits = []unit{
	{1, []string{"", "b", "bytes"}},
	{1 << 10, []string{"k", "kb", "kibibytes"}},
	{1 << 20, []string{"m", "mb", "mebibytes"}},
	{1 << 30, []string{"g", "gb", "gibibytes"}},
	{1 << 40, []string{"t", "tb", "tebibytes"}},
}

// ParseDuration reads a duration in Flink's form: a whole number and a unit, "5 min", "100ms", "1 d"; a
// number alone is milliseconds.
func ParseDuration(s string) (time.Duration, error) {
	n, err := parseAmount(s, durationUnits, amountWords{
		"%q is no duration; write a number and a unit, as in '5 min' or '100 ms'", "duration %q is too long", "d, h, min, s, ms, us, ns",
	})
	return time.Duration(n), err
}

// ParseMemory reads an amount of memory in Flink's form, "256 mb", as a number of bytes; units are powers
// of 1024, and a number alone is bytes.
func ParseMemory(s string) (int64, error) {
	return parseAmount(s, memoryUnits, amountWords{
		"%q is no amount of memory; write a number and a unit, as in '256 mb'", "%q is too much memory", "b, kb, mb, gb, tb",
	})
}

// amountWords are what errors say of an amount.
type amountWords struct {
	noNumber, tooMuch string // formats of the text
	units             string
}

// parseAmount reads a whole number with a unit, as a number of units of size 1.
func parseAmount(s string, units []unit, words amountWords) (int64, error) {
	t := strings.ToLower(strings.TrimSpace(s))
	i := 0
	for i < len(t) && t[i] >= '0' && t[i] <= '9' {
		i++
	}
	n, err := strconv.ParseInt(t[:i], 10, 64)
	if err != nil {
		return 0, fmt.Errorf(words.noNumber, s)
	}
	name := strings.TrimSpace(t[i:])
	for _, u := range units {
		if !slices.Contains(u.names, name) {
			continue
		}
		if n > math.MaxInt64/u.size {
			return 0, fmt.Errorf(words.tooMuch, s)
		}
		return n * u.size, nil
	}
	return 0, fmt.Errorf("%q has the unknown unit %q; known are %s", s, name, words.units)
}
