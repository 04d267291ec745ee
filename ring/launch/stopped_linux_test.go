package launch

import (
	"regexp"
	"testing"

	"ringtrain/ring"
)

// TestRunStopped verifies that the result names the rank that a signal has told to end, not
// the rank that ended first.
func TestRunStopped(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, codes string
		by          *ring.Cause
		rank        int
		text        string
	}{
		{"by=rank", "143,143", &ring.Cause{Rank: 1, Host: "h", Step: -1, Text: "stopped by a signal", ExitCode: 143}, 1, "^rank 1 on h: stopped by a signal$"},
		{"by=many", "143,143", &ring.Cause{Rank: -1, Step: -1, Text: "stopped by a signal", ExitCode: 143}, -1, "^stopped by a signal$"},
		{"by=unknown", "143,0", nil, 0, `^rank 0 \(pid \d+\) ended with exit code 143$`},
		{"by=rank, failed", "65,0", &ring.Cause{Rank: 1, Step: -1, Text: "stopped by a signal", ExitCode: 143}, 0, `^rank 0 \(pid \d+\) ended with exit code 65$`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := startJob(t, 2, func(c *Config) { c.Server = &server{by: tt.by, goes: true} }, "exit", tt.codes).wait(t)
			if r.Rank != tt.rank || !regexp.MustCompile(tt.text).MatchString(r.Text) {
				t.Errorf("result is %+v, want rank %d, %s", r, tt.rank, tt.text)
			}
		})
	}
}
