package phrase

import (
	"fmt"
	"strconv"
	"strings"
)

// Quote returns the beginning of s in quotation marks.
func Quote(s string) string {
	const most = 60 // bytes
	return strconv.Quote(Clip(s, most))
}

// And is "A", "A and B", or "A, B and C".
func And(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Names is "A, B, C and 7 more": at most so many names out of data.
func Names(names []string, most int) string {
	shown := make([]string, min(len(names), most))
	for i := range shown {
		shown[i] = Name(names[i])
	}
	text := strings.Join(shown, ", ")
	if n := len(names) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// Are is "A is", or "A, B and C are".
func Are(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return And(names) + " are"
}

// Count is "1 host", "2 hosts".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Ranks is "rank 1", "ranks 1, 3" or "ranks 1-4". There is at least one, in
// ascending order.
func Ranks(ranks []int) string {
	n := len(ranks)
	switch {
	case n == 1:
		return fmt.Sprint("rank ", ranks[0])
	case n > 2 && ranks[n-1]-ranks[0] == n-1:
		return fmt.Sprintf("ranks %d-%d", ranks[0], ranks[n-1])
	}
	return "ranks " + strings.Trim(strings.ReplaceAll(fmt.Sprint(ranks), " ", ", "), "[]")
}
