package kafka

// nearest is the name most like s, or "" when none is like it.
func nearest(s string, names []string) string {
	best, at := "", len(s)/3+2
	for _, n := range names {
		if d := distance(s, n); d < at {
			best, at = n, d
		}
	}
	return best
}

// distance is the number of edits between a and b: insert, delete, replace, swap of neighbours.
func distance(a, b string) int {
	prev2, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
		}
		prev2, prev, row = prev, row, prev2
	}
	return prev[len(b)]
}
