package state

import (
	"strings"
	"testing"
)

// TestOwnPause verifies that a rendezvous restarts its waits after a pause of its own
// process: for missing ranks at the start or after a loss, and for heartbeats, also with the
// shortest lease. It also verifies that the waits are not longer than before.
func TestOwnPause(t *testing.T) {
	for name, tt := range map[string]struct {
		script string
		end    string // last effect, "" for none
	}{
		"start": {`config size=2 start=10s lease=5s
join a rank=0 size=2 host=h1
run 9s a
at 1000s
tick
run 1000.4s a`, ""},
		"start, over": {`config size=2 start=10s lease=5s
join a rank=0 size=2 host=h1
run 9s a
at 1000s
tick
run 1001.6s a`, "finish 138: rank 1 missing after 10s: no word yet; want 2 workers"},
		"recovering": {`config size=2 start=10s lease=5s restarts=1
join a rank=0 size=2 host=h1
join b rank=1 size=2 host=h2
run 2s a b
broken b : connection reset
run 3s a
ready a generation=1 step=41
run 11s a
at 1000s
tick
run 1000.4s a`, ""},
		"beats": {`config size=2 lease=1s
join a rank=0 size=2 host=h1
join b rank=1 size=2 host=h2
run 2s a b
at 2.6s
tick
at 1000s
tick
at 1000.2s
tick
at 1000.4s
tick
run 1010s a b`, ""},
		"beats, none": {`config size=2 lease=1s
join a rank=0 size=2 host=h1
join b rank=1 size=2 host=h2
run 2s a b
at 1000s
tick
run 1001.2s a`, "finish 138: lost rank 1 (h2 ): silent for 1s"},
	} {
		t.Run("waits for="+name, func(t *testing.T) {
			p := &scenario{streams: map[string]uint64{}, beats: map[string]Heartbeat{}}
			for line := range strings.Lines(tt.script) {
				if err := p.line(strings.TrimSuffix(line, "\n")); err != nil {
					t.Fatalf("line %q: %v", line, err)
				}
			}
			_, end, _ := strings.Cut(p.out.String(), "finish")
			end, _, _ = strings.Cut(end, "\n")
			if want := strings.TrimPrefix(tt.end, "finish"); end != want {
				t.Errorf("the end is %q, want %q; all effects:\n%s", end, want, &p.out)
			}
		})
	}
}
