package awake

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestClock verifies that at most MaxCounted of the gap between two readings counts, and that
// Pause returns the rest.
func TestClock(t *testing.T) {
	var read, missed Clock
	start := time.Unix(1000, 0)
	for _, step := range []struct {
		after, counts time.Duration
	}{{0, 0}, {ReadInterval, ReadInterval}, {MaxCounted, MaxCounted}, {time.Hour, MaxCounted}, {ReadInterval, ReadInterval}} {
		start = start.Add(step.after)
		before := read.now
		if got := read.Read(start).Sub(before); step.after > 0 && got != step.counts {
			t.Errorf("after %v the clock went on by %v, want %v", step.after, got, step.counts)
		}
		if got, want := missed.Pause(start), step.after-step.counts; got != want {
			t.Errorf("after %v %v was missed, want %v", step.after, got, want)
		}
	}
}

// TestTimer verifies that timers end in time, also after Reset, and never after
// Stop.
func TestTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		a, b, c := NewTimer(time.Minute), NewTimer(10*time.Millisecond), NewTimer(time.Second)
		c.Stop()
		<-b.C
		if got := time.Since(start); got != 10*time.Millisecond || b.Elapsed() != got {
			t.Errorf("the short timer ended after %v and says %v, want 10ms", got, b.Elapsed())
		}
		a.Reset(time.Hour)
		<-a.C
		if got, want := time.Since(start), time.Hour+10*time.Millisecond; got != want || a.Elapsed() != want {
			t.Errorf("the long timer ended after %v and says %v, want %v", got, a.Elapsed(), want)
		}
		select {
		case <-c.C:
			t.Error("a timer that was stopped has ended")
		default:
		}
	})
}

// TestTimerPaused verifies that a timer continues after a pause where it was.
func TestTimerPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := NewTimer(time.Minute)
		defer a.Stop()
		time.Sleep(50 * time.Second)
		a.mu.Lock()
		a.last = a.last.Add(-time.Hour) // simulates a pause since the last reading
		a.mu.Unlock()
		time.Sleep(ReadInterval)
		if got := a.Elapsed(); got < 50*time.Second || got > 51*time.Second {
			t.Errorf("%v have elapsed, want about 50s", got)
		}
		select {
		case <-a.C:
			t.Error("the timer has ended by a pause")
		default:
		}
	})
}

// TestWithTimeoutCause verifies that the context ends with its cause in time, and that it
// also ends with the parent and by cancel.
func TestWithTimeoutCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why, start := errors.New("why"), time.Now()
		ctx, cancel := WithTimeoutCause(t.Context(), time.Minute, why)
		defer cancel()
		<-ctx.Done()
		if got := time.Since(start); got != time.Minute || context.Cause(ctx) != why {
			t.Errorf("the context ended after %v with %v, want 1m and %v", got, context.Cause(ctx), why)
		}
		other, stop := WithTimeoutCause(t.Context(), time.Minute, why)
		stop()
		if !errors.Is(context.Cause(other), context.Canceled) {
			t.Errorf("the context was cancelled with %v", context.Cause(other))
		}
	})
}
