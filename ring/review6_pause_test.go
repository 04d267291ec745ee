package ring

import (
	"errors"
	"testing"
	"time"
)

// TestReview6OwnPause verifies that a worker does not take its own pause for one of its
// neighbours: after a gap between two looks of the watchdog the operation has the time
// that it had before, and no more.
func TestReview6OwnPause(t *testing.T) {
	const timeout = 5 * time.Minute
	g := &Group{config: Config{OpTimeout: timeout}, op: operation{kind: 1, ctx: t.Context()}}
	now := time.Now()
	look := func(after time.Duration) error {
		now = now.Add(after)
		return g.overdue(now)
	}
	for range 10 {
		if err := look(watchEvery); err != nil {
			t.Fatal(err)
		}
	}
	if err := look(24 * time.Hour); err != nil {
		t.Fatalf("after a pause of this process: %v", err)
	}
	waited := time.Duration(0)
	for waited <= timeout && look(watchEvery) == nil {
		waited += watchEvery
	}
	if err := look(watchEvery); !errors.Is(err, ErrTimeout) || waited < timeout-2*time.Second || waited > timeout {
		t.Errorf("%v after the pause, in which nothing moved: error %v, want ErrTimeout after about %v", waited, err, timeout)
	}
}
