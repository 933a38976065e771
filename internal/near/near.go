// Package near finds the known name that a mistyped one most probably meant. It is a leaf that every room may import.
package near

import "strings"

// Name gives the candidate that a mistyped word most probably meant, or "".
// Case doesn't count, swapping two neighbours counts as one edit, and a
// candidate further away than a third of the word is no suggestion at all.
// Of equally near candidates the first is taken, so pass them in a fixed
// order.
func Name(word string, candidates []string) string {
	w := []rune(strings.ToLower(word))
	limit := max(1, len(w)/3)
	best, bestDist := "", limit+1
	for _, c := range candidates {
		r := []rune(strings.ToLower(c))
		if diff := len(r) - len(w); diff >= bestDist || -diff >= bestDist {
			continue
		}
		// A word of which every letter would change resembles nothing.
		if d := editDistance(w, r); d < bestDist && d < max(len(w), len(r)) {
			best, bestDist = c, d
		}
	}
	return best
}

// editDistance is the optimal string alignment distance: inserts, deletes,
// replacements and swaps of neighbours.
func editDistance(a, b []rune) int {
	prev2 := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
