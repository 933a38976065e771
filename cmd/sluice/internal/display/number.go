package display

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Count writes n with commas between groups of three digits.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(s) - 3; i > first; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Counts lists counts by name, as in "3 syntax, 1 type"; empty for none.
func Counts(counts map[string]int64) string {
	var all []string
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, Count(counts[what])+" "+what)
	}
	return strings.Join(all, ", ")
}

// Size writes a number of bytes in the unit that suits it, of powers of 1000: 398 MB.
func Size(n int64) string {
	const units = "kMGTPE"
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	f := float64(n) / 1000
	i := 0
	for f >= 999.5 && i < len(units)-1 {
		f /= 1000
		i++
	}
	if f < 9.95 {
		return fmt.Sprintf("%.1f %cB", f, units[i])
	}
	return fmt.Sprintf("%.0f %cB", f, units[i])
}
