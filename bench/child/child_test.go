package child

import (
	"fmt"
	"strings"
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

// TestRunEndsTogether verifies that the failure of one process ends the others, and
// that the error is of the first failure.
func TestRunEndsTogether(t *testing.T) {
	processes := []Process{{Argv: []string{"sh", "-c", "echo out; exec sleep 1000"}}, {Argv: []string{"sh", "-c", "echo $WHY >&2; exit 7"}, Env: []string{"WHY=reason"}}}
	var out strings.Builder
	processes[0].Stdout = &out
	err := Run(t.Context(), processes)
	if err == nil || err.Error() != "process 1 of 2: exit status 7: reason" {
		t.Errorf("error is %v, want that of the second process", err)
	}
	if out.String() != "" && out.String() != "out\n" {
		t.Errorf("output is %q", out.String())
	}
	if err := Run(t.Context(), []Process{{Argv: []string{"/no/such/program"}}}); err == nil {
		t.Error("a program that is not there has run")
	}
}
