package child

import (
	"fmt"
	"testing"
)

// TestTail verifies that a Tail keeps the last lines, which usually have the reason.
func TestTail(t *testing.T) {
	var stderr Tail
	for i := range 10000 {
		fmt.Fprintf(&stderr, "line %d\n", i)
	}
	if got, want := stderr.String(), ": line 9997 | line 9998 | line 9999"; got != want || len(stderr.text) > tailBytes {
		t.Errorf("%q is kept, want %q", got, want)
	}
	if got := new(Tail).String(); got != "" {
		t.Errorf("an empty Tail is %q", got)
	}
}
