package ring

import (
	"errors"
	"testing"
	"time"
)

// TestOwnPause verifies that a worker does not blame a neighbour for a pause of its own process.
// After a gap between two ticks of the watchdog the operation has the time that it had before,
// and no more.
func TestOwnPause(t *testing.T) {
	const timeout = 5 * time.Minute
	g := &Group{config: Config{OpTimeout: timeout}, op: operation{kind: 1, ctx: t.Context()}}
	now := time.Now()
	tick := func(after time.Duration) error {
		now = now.Add(after)
		return g.overdue(now)
	}
	for range 10 {
		if err := tick(watchEvery); err != nil {
			t.Fatal(err)
		}
	}
	if err := tick(24 * time.Hour); err != nil {
		t.Fatalf("after a pause of this process: %v", err)
	}
	waited := time.Duration(0)
	for waited <= timeout && tick(watchEvery) == nil {
		waited += watchEvery
	}
	if err := tick(watchEvery); !errors.Is(err, ErrTimeout) || waited < timeout-2*time.Second || waited > timeout {
		t.Errorf("%v after the pause, without progress: error %v, want ErrTimeout after about %v", waited, err, timeout)
	}
}
