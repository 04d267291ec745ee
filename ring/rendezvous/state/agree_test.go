package state

import (
	"strings"
	"testing"
)

// TestDisagreementShowsDifference verifies that an error about two long values that begin
// alike shows where they differ, within bounds.
func TestDisagreementShowsDifference(t *testing.T) {
	long := strings.Repeat("cat 304908 662 807a13f8 ", 30)
	for _, c := range []struct{ name, a, b, want string }{
		{"short", "1", "2", "batch is 1 on rank 0 and 2 on rank 1"},
		{"one is the beginning of the other", long, long + "dog", "dog on rank 1"},
		{"late", long + "dog 1 end", long + "dog 2 end", "dog 1 end on rank 0"},
		{"late, of runes", strings.Repeat("é", 100) + "1", strings.Repeat("é", 100) + "2", "é1 on rank 0"},
		{"no text", strings.Repeat("\x80", 200) + "1", strings.Repeat("\x80", 200) + "2", "1 on rank 0"},
		{"early", "1" + long, "2" + long, "batch is 1cat"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := &Request{Rank: 0, Agree: []string{"batch=" + c.a}}, &Request{Rank: 1, Agree: []string{"batch=" + c.b}}
			got := disagreement(a, b)
			if !strings.Contains(got, c.want) || len(got) > 2*maxValueNamed+100 {
				t.Errorf("disagreement is %q, want %q in it", got, c.want)
			}
		})
	}
}
