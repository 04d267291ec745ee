package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/join"
)

// TestSignalAfterTheLast verifies that a rank that is signalled when no generation can
// follow prints nothing: its last line must be the cause of the job's end.
func TestSignalAfterTheLast(t *testing.T) {
	for _, before := range []bool{true, false} {
		t.Run(fmt.Sprintf("before=%t", before), func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var people bytes.Buffer
			s := newStopper(cancel, &people)
			s.startTeam(new(join.Team))
			if before {
				s.handle(syscall.SIGTERM)
			}
			s.endTeam(false)
			if !before {
				s.handle(syscall.SIGTERM)
			}
			if people.Len() > 0 || ctx.Err() != nil {
				t.Errorf("people read %q, the context is %v; want nothing", &people, context.Cause(ctx))
			}
		})
	}
}

// TestSignalTwiceAtOnce verifies that a rank that receives the same signal from a user
// and from the launcher does not end without saving its state. Otherwise the test
// process ends.
func TestSignalTwiceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		s := newStopper(cancel, new(bytes.Buffer))
		team := new(join.Team)
		s.startTeam(team)
		defer s.endTeam(false)
		s.handle(syscall.SIGTERM)
		time.Sleep(500*time.Millisecond - 1)
		s.handle(syscall.SIGTERM)
		if team.Stopping() != exitcode.Terminated {
			t.Errorf("ranks are asked to stop with code %d, want 143", team.Stopping())
		}
	})
}

// TestSignalBetweenGenerations verifies that a signal between two generations, or before the first one,
// ends the wait for the next at once, because the ranks can agree on no step.
func TestSignalBetweenGenerations(t *testing.T) {
	for _, when := range []string{"before the first", "in the generation before", "in between"} {
		t.Run("when="+when, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			s := newStopper(cancel, new(bytes.Buffer))
			if when != "before the first" {
				s.startTeam(new(join.Team))
				if when == "in the generation before" {
					s.handle(syscall.SIGTERM)
				}
				if ctx.Err() != nil {
					t.Errorf("in a generation the context ends: %v", context.Cause(ctx))
				}
				s.endTeam(true)
			}
			s.handle(syscall.SIGTERM)
			if code := exitcode.Of(context.Cause(ctx)); code != exitcode.Terminated || s.told() != exitcode.Terminated {
				t.Errorf("the wait ends with code %d, told %d, want 143", code, s.told())
			}
		})
	}
}

// TestSignalIsAnswered verifies that training learns what the rendezvous answers to a signal.
func TestSignalIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStopper(nil, new(bytes.Buffer))
		s.startTeam(new(join.Team))
		defer s.endTeam(false)
		synctest.Wait()
		if s.stop.Err() != nil {
			t.Error("all are told to stop before a signal")
		}
		s.handle(os.Interrupt)
		<-s.stop.Done()
		if code := exitcode.Of(context.Cause(s.stop)); code != exitcode.Interrupted || s.leave.Err() != nil {
			t.Errorf("told to stop with %d, to leave: %v; want 130, and not to leave", code, s.leave.Err())
		}
	})
}
