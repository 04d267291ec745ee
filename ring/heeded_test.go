package ring

import (
	"testing"

	"ringtrain/ring/exitcode"
)

// TestHeeded verifies with which code a worker ends that hears an abort: the root of a
// broadcast and an abort that overtakes its word must lead to one code on all ranks.
func TestHeeded(t *testing.T) {
	for said, want := range map[int]int{
		exitcode.OK: exitcode.Retry, exitcode.Failed: exitcode.Retry, exitcode.CannotCreate: exitcode.CannotCreate,
		exitcode.Protocol: exitcode.Protocol, exitcode.NotFinite: exitcode.NotFinite, exitcode.Retry: exitcode.Retry,
		exitcode.Terminated: exitcode.Retry, 1 << 15: exitcode.Retry,
	} {
		if got := exitcode.Of((&Abort{Rank: 0, By: 1, Code: said}).heeded()); got != want {
			t.Errorf("an abort with code %d: %d, want %d", said, got, want)
		}
	}
}
