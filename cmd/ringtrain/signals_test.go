package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
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
			s := &stopper{cancel: cancel, people: &people}
			s.startTeam(new(join.Team))
			if before {
				s.handle(syscall.SIGTERM)
			}
			s.endTeam(false)
			if !before {
				s.handle(syscall.SIGTERM)
			}
			if people.Len() > 0 || ctx.Err() != nil || s.nextTimer != nil {
				t.Errorf("people read %q, the context is %v, timer %v; want nothing", &people, context.Cause(ctx), s.nextTimer)
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
		s := &stopper{cancel: cancel, people: new(bytes.Buffer)}
		team := new(join.Team)
		s.startTeam(team)
		s.handle(syscall.SIGTERM)
		time.Sleep(500*time.Millisecond - 1)
		s.handle(syscall.SIGTERM)
		if team.Stopping() != exitcode.Terminated {
			t.Errorf("ranks are asked to stop with code %d, want 143", team.Stopping())
		}
	})
}

// TestSignalBetweenGenerations verifies that a rank signalled between two generations
// waits for the next one for a bounded time and reports the wait: the other ranks may
// need its state.
func TestSignalBetweenGenerations(t *testing.T) {
	tests := []struct {
		name           string
		before, during bool // the signal comes during the generation, or after it
		next           bool // the next one begins
	}{
		{"signal=in between, next=begins", false, true, true},
		{"signal=in between, next=does not", false, true, false},
		{"signal=before the loss, next=begins", true, false, true},
		{"signal=before the loss, next=does not", true, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				var people bytes.Buffer
				s := &stopper{cancel: cancel, people: &people}
				s.startTeam(new(join.Team))
				if tt.before {
					s.handle(syscall.SIGTERM)
				}
				s.endTeam(true)
				if tt.during {
					s.handle(syscall.SIGTERM)
				}
				time.Sleep(nextGenerationTimeout - time.Second)
				if ctx.Err() != nil || !strings.Contains(people.String(), "leaves in the next one") {
					t.Errorf("before time is up: %v; people read %q", context.Cause(ctx), &people)
				}
				next := new(join.Team)
				if tt.next {
					s.startTeam(next)
				}
				time.Sleep(nextGenerationTimeout)
				if tt.next && (ctx.Err() != nil || next.Stopping() != exitcode.Terminated) {
					t.Errorf("in the next generation: %v, it asks for code %d", context.Cause(ctx), next.Stopping())
				}
				if err := context.Cause(ctx); !tt.next && (exitcode.Of(err) != exitcode.Terminated || !strings.Contains(err.Error(), "has not begun")) {
					t.Errorf("without a next generation: %v with code %d", err, exitcode.Of(err))
				}
			})
		})
	}
}
