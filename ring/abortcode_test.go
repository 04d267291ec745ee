package ring

import (
	"testing"

	"ringtrain/ring/exitcode"
)

// TestAbortExitCode verifies the exit code of a worker that receives an Abort. All ranks must
// end with one code, whether the root of a broadcast or an Abort tells them first.
func TestAbortExitCode(t *testing.T) {
	for code, want := range map[int]int{
		exitcode.OK: exitcode.Retry, exitcode.Failed: exitcode.Retry, exitcode.CannotCreate: exitcode.CannotCreate,
		exitcode.Protocol: exitcode.Protocol, exitcode.NotFinite: exitcode.NotFinite, exitcode.Retry: exitcode.Retry,
		exitcode.Terminated: exitcode.Retry, 1 << 15: exitcode.Retry,
	} {
		if got := exitcode.Of((&Abort{Rank: 0, By: 1, Code: code}).exchangeError()); got != want {
			t.Errorf("an abort with code %d: %d, want %d", code, got, want)
		}
	}
}
