// Package awake measures time without this process's own pauses.
//
// A process may be stopped (Ctrl-Z, SIGSTOP), and so may its machine. Clocks go on
// meanwhile. The process then wakes with all timers expired, and has heard nothing of
// others, though nobody was silent. So whoever waits for others, or bounds what takes
// long, looks at the clock again and again. Of the time between two looks no more than
// Longest counts: what is beyond it is a pause.
//
// [Clock] is for those who have a ticker anyway, [Timer] for all others.
package awake

import (
	"context"
	"sync"
	"time"
)

const (
	// Every is how often a Clock is to be read, at least.
	Every = 100 * time.Millisecond

	// Longest is how much of the time between two readings counts. A process that is
	// starved for less than this is not paused.
	Longest = 500 * time.Millisecond
)

// Clock tells time that stands still while this process does. The zero Clock is ready.
type Clock struct{ last, now time.Time }

// Read takes in the time, and returns that of the Clock. At the first call they are
// equal.
func (c *Clock) Read(now time.Time) time.Time {
	if c.last.IsZero() {
		c.last, c.now = now, now
	}
	c.now = c.now.Add(min(now.Sub(c.last), Longest))
	c.last = now
	return c.now
}

// Missed takes in the time, and returns how much of it since the last call was a pause.
func (c *Clock) Missed(now time.Time) time.Duration {
	before := c.now
	gap := now.Sub(c.last)
	if after := c.Read(now); !before.IsZero() {
		return gap - after.Sub(before)
	}
	return 0
}

// Timer is a time.Timer that stands still while this process does.
type Timer struct {
	C <-chan struct{} // of NewTimer: gets one value at the end

	end func()

	mu      sync.Mutex // guards what follows
	timer   *time.Timer
	last    time.Time
	elapsed time.Duration
	at      time.Duration // when it ends, on elapsed
	over    bool
}

// NewTimer returns a timer that sends to C after d.
func NewTimer(d time.Duration) *Timer {
	c := make(chan struct{}, 1)
	t := AfterFunc(d, func() {
		select {
		case c <- struct{}{}:
		default:
		}
	})
	t.C = c
	return t
}

// AfterFunc returns a timer that calls end after d, in a goroutine of its own.
func AfterFunc(d time.Duration, end func()) *Timer {
	t := &Timer{end: end, last: time.Now(), at: d}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = time.AfterFunc(t.next(), t.look)
	return t
}

// look takes in the time, and ends the timer or looks again soon.
func (t *Timer) look() {
	t.mu.Lock()
	t.count()
	due := !t.over && t.elapsed >= t.at
	switch {
	case due:
		t.over = true
	case !t.over:
		t.timer.Reset(t.next())
	}
	t.mu.Unlock()
	if due {
		t.end()
	}
}

func (t *Timer) count() {
	now := time.Now()
	t.elapsed += min(now.Sub(t.last), Longest)
	t.last = now
}

func (t *Timer) next() time.Duration { return max(min(t.at-t.elapsed, Every), 0) }

// Elapsed returns the time since the timer was made. It does not go on after the end.
func (t *Timer) Elapsed() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.count()
	}
	return t.elapsed
}

// Reset has the timer end d from now, unless it has ended or was stopped.
func (t *Timer) Reset(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return
	}
	t.count()
	t.at = t.elapsed + d
	t.timer.Reset(t.next())
}

// Stop ends the timer without a word.
func (t *Timer) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	t.timer.Stop()
}

// WithTimeoutCause is context.WithTimeoutCause by a Timer. The context has no deadline to
// ask for, and its Err is context.Canceled.
func WithTimeoutCause(parent context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	t := AfterFunc(d, func() { cancel(cause) })
	return ctx, func() {
		t.Stop()
		cancel(nil)
	}
}
