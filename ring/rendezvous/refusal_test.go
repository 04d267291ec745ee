package rendezvous

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// TestStrangersAreTold refuses a worker without the token twice a second for a minute. It
// verifies that there are notices, but not one for each attempt, and that each refusal of a
// worker with the token is reported.
func TestStrangersAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told notices
		s := serveInMemory(t, ServerConfig{Notice: told.add})
		for range 120 {
			s.noteRefusal(ring.Worker{Rank: 1}, &ring.Cause{Rank: 1, Text: "not the token", ExitCode: exitcode.Auth})
			time.Sleep(500 * time.Millisecond)
		}
		if n := strings.Count(told.text(), "claims rank 1: not the token"); n < 1 || n > 12 {
			t.Errorf("%d notices of 120 visits within a minute, want 1 to 12", n)
		}
		for pid := range 3 {
			s.noteRefusal(ring.Worker{Rank: 2, PID: 7 + pid}, &ring.Cause{Rank: 2, Text: "rank 2 is taken", ExitCode: exitcode.Retry})
		}
		synctest.Wait()
		if n := strings.Count(told.text(), "rank 2 is taken"); n != 3 {
			t.Errorf("%d notices of 3 workers with the token that were refused", n)
		}
	})
}
