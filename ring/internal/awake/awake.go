// Package awake measures time without the pauses of this process.
//
// A process may be stopped (Ctrl-Z, SIGSTOP), and so may its machine, while clocks continue.
// When the process continues, all its timers have expired, and it has received nothing,
// although no peer was silent. So code that waits for peers, or bounds a long operation, reads
// the clock at short intervals. At most MaxCounted of the time between two readings counts; the
// rest is a pause.
//
// [Clock] is for code that has a ticker anyway, [Timer] for all other code.
package awake

import (
	"context"
	"sync"
	"time"
)

const (
	// ReadInterval is the maximal interval between two readings of a Clock.
	ReadInterval = 100 * time.Millisecond

	// MaxCounted is the part of the time between two readings that counts, at most. A
	// process that gets no CPU for less than this is not paused.
	MaxCounted = 500 * time.Millisecond
)

// Clock measures time that stands still during a pause. The zero Clock is ready.
type Clock struct{ last, now time.Time }

// Read records the time now and returns the time of the Clock. At the first call the two are
// equal.
func (c *Clock) Read(now time.Time) time.Time {
	if c.last.IsZero() {
		c.last, c.now = now, now
	}
	c.now = c.now.Add(min(now.Sub(c.last), MaxCounted))
	c.last = now
	return c.now
}

// Pause records the time now and returns the length of the pause since the last call.
func (c *Clock) Pause(now time.Time) time.Duration {
	before := c.now
	gap := now.Sub(c.last)
	if after := c.Read(now); !before.IsZero() {
		return gap - after.Sub(before)
	}
	return 0
}

// Timer is a time.Timer that stands still during a pause.
type Timer struct {
	C <-chan struct{} // of NewTimer: receives one value when the timer ends

	end func()

	mu       sync.Mutex // guards the fields below
	timer    *time.Timer
	last     time.Time
	elapsed  time.Duration
	deadline time.Duration // value of elapsed at which the timer ends
	ended    bool
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
	t := &Timer{end: end, last: time.Now(), deadline: d}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = time.AfterFunc(t.next(), t.tick)
	return t
}

// tick updates elapsed, and ends the timer or schedules the next reading.
func (t *Timer) tick() {
	t.mu.Lock()
	t.count()
	due := !t.ended && t.elapsed >= t.deadline
	switch {
	case due:
		t.ended = true
	case !t.ended:
		t.timer.Reset(t.next())
	}
	t.mu.Unlock()
	if due {
		t.end()
	}
}

func (t *Timer) count() {
	now := time.Now()
	t.elapsed += min(now.Sub(t.last), MaxCounted)
	t.last = now
}

func (t *Timer) next() time.Duration { return max(min(t.deadline-t.elapsed, ReadInterval), 0) }

// Elapsed returns the time from the start of the timer to now, or to its end.
func (t *Timer) Elapsed() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.count()
	}
	return t.elapsed
}

// Reset makes the timer end d from now, unless it has ended or was stopped.
func (t *Timer) Reset(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	t.count()
	t.deadline = t.elapsed + d
	t.timer.Reset(t.next())
}

// Stop ends the timer without a call of its function.
func (t *Timer) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	t.timer.Stop()
}

// WithTimeoutCause is context.WithTimeoutCause with a Timer. The context has no deadline, and
// its Err is context.Canceled.
func WithTimeoutCause(parent context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	t := AfterFunc(d, func() { cancel(cause) })
	return ctx, func() {
		t.Stop()
		cancel(nil)
	}
}
