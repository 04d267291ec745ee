package phrase

import (
	"fmt"
	"math"
	"strings"
)

// DidYouMean is " (did you mean amount?)" with the name that is nearest to a misspelt name, "" for none.
func DidYouMean(name string, names []string) string {
	if near := Nearest(name, names); near != "" {
		return fmt.Sprintf(" (did you mean %s?)", near)
	}
	return ""
}

// Nearest returns the name that a misspelt name was probably meant to be, "" for none. It is a name at
// most two edits away. Else it is the name, nearest in length, that begins with the misspelt name or
// that the misspelt name begins with.
func Nearest(name string, names []string) string {
	best, bestDistance := "", min(3, len(name))
	for _, n := range names {
		if d := editDistance(name, n); d < bestDistance {
			best, bestDistance = n, d
		}
	}
	if best != "" {
		return best
	}
	const minPrefix = 3 // letters
	bestDistance = math.MaxInt
	for _, n := range names {
		begins := strings.HasPrefix(name, n) || strings.HasPrefix(n, name)
		if d := len(n) - len(name); begins && min(len(n), len(name)) >= minPrefix && max(d, -d) < bestDistance {
			best, bestDistance = n, max(d, -d)
		}
	}
	return best
}

// editDistance returns Levenshtein's distance: insertions, deletions and replacements of bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
