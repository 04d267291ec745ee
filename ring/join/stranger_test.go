package join

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
		var lines []string
		told := refusalNotices(listenConfig{notice: func(line string) { lines = append(lines, line) }}, nil)
		for range 120 {
			told(ring.Worker{Rank: 1}, &ring.Cause{Rank: 1, Text: "not the token", ExitCode: exitcode.Auth})
			time.Sleep(500 * time.Millisecond)
		}
		if n := len(lines); n < 1 || n > 12 || !strings.Contains(lines[0], "claims rank 1: not the token") {
			t.Errorf("%d notices of 120 visits within a minute, the first %q; want 1 to 12", n, lines[:min(n, 1)])
		}
		lines = nil
		for pid := range 3 {
			told(ring.Worker{Rank: 2, PID: 7 + pid}, &ring.Cause{Rank: 2, Text: "rank 2 is taken", ExitCode: exitcode.Retry})
		}
		if len(lines) != 3 {
			t.Errorf("%d notices of 3 workers with the token that were refused", len(lines))
		}
	})
}
