package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/rendezvous/state"
)

// fakeMembers answers for each address as set.
type fakeMembers struct {
	mu     sync.Mutex
	states map[string]string
	called map[string]int
}

func (n *fakeMembers) set(addr, state string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.states[addr] = state
}

func (n *fakeMembers) isMember(ctx context.Context, w ring.Worker) (bool, error) {
	n.mu.Lock()
	state := n.states[w.Addr]
	n.called[w.Addr]++
	n.mu.Unlock()
	switch state {
	case "member":
		return true, nil
	case "fresh":
		return false, nil
	case "gone":
		return false, exitcode.With(exitcode.Retry, fmt.Errorf("x: %w", rendezvous.ErrGone))
	case "stranger":
		return false, exitcode.With(exitcode.Auth, errors.New("not the token"))
	}
	<-ctx.Done() // stopped
	return false, context.Cause(ctx)
}

func newFakeMembers(states ...string) (*fakeMembers, []ring.Worker) {
	n := &fakeMembers{states: map[string]string{}, called: map[string]int{}}
	var members []ring.Worker
	for rank, s := range states {
		w := ring.Worker{Rank: rank, Addr: fmt.Sprintf("h%d:1", rank)}
		n.states[w.Addr], members = s, append(members, w)
	}
	return n, members
}

// TestMemberCheck verifies when a fresh worker may campaign: at once if all members are gone, never
// while one answers, and after the limit if none answers. A server without the token counts as no
// answer.
func TestMemberCheck(t *testing.T) {
	tests := []struct {
		name   string
		states []string
		after  time.Duration // -1: never
		words  string
	}{
		{"members=none", nil, 0, ""},
		{"members=gone", []string{"gone", "gone"}, 0, ""},
		{"members=gone, others there", []string{"fresh", "gone"}, 0, ""},
		{"members=one there", []string{"gone", "stopped", "member"}, -1, "job j goes on: rank 2 at h2:1 answers"},
		{"members=stopped", []string{"gone", "stopped"}, 15 * time.Second, "job j may go on: 1 of 2 ranks are silent"},
		{"members=strangers there", []string{"gone", "stranger", "fresh"}, 15 * time.Second, "job j may go on: 1 of 3 ranks are silent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, members := newFakeMembers(tt.states...)
				r := newMemberCheck(Config{JobID: "j"})
				r.isMember = n.isMember
				start := time.Now()
				err := r.check(t.Context(), members)
				for err != nil && time.Since(start) < time.Minute {
					if !strings.Contains(err.Error(), tt.words) {
						t.Fatalf("after %v: %v, want %q", time.Since(start), err, tt.words)
					}
					time.Sleep(500 * time.Millisecond)
					err = r.check(t.Context(), members)
				}
				took := time.Since(start)
				if (err != nil) != (tt.after < 0) || err == nil && (took < tt.after || took > tt.after+4*time.Second) {
					t.Errorf("after %v: %v, want that it may campaign after %v", took, err, tt.after)
				}
			})
		})
	}
}

// TestMemberCheckAgain verifies that two silences with an answer in between do not add up.
func TestMemberCheckAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, members := newFakeMembers("stopped")
		r := newMemberCheck(Config{JobID: "j", Silence: 10 * time.Second})
		r.isMember = n.isMember
		for _, state := range []string{"stopped", "member", "stopped"} {
			n.set("h0:1", state)
			if err := r.check(t.Context(), members); err == nil {
				t.Fatalf("%s: it may campaign", state)
			}
			time.Sleep(7 * time.Second)
		}
		if err := r.check(t.Context(), members); err == nil {
			t.Error("silent for 7 s, and it may campaign")
		}
		time.Sleep(4 * time.Second)
		if err := r.check(t.Context(), members); err != nil {
			t.Errorf("silent for 11 s: %v", err)
		}
	})
}

// TestMemberCheckOfMany verifies that a check asks a bounded, changing sample of the members of a
// large job.
func TestMemberCheckOfMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		states := make([]string, 1000)
		for i := range states {
			states[i] = "stopped"
		}
		n, members := newFakeMembers(states...)
		r := newMemberCheck(Config{JobID: "j"})
		r.isMember = n.isMember
		for range 2 {
			if err := r.check(t.Context(), members); err == nil {
				t.Error("it may campaign")
			}
		}
		calls := 0
		for _, c := range n.called {
			calls += c
		}
		if calls != 2*maxAsked || len(n.called) == maxAsked {
			t.Errorf("%d calls to %d members, want %d to more of them", calls, len(n.called), 2*maxAsked)
		}
	})
}

// TestLastMembers verifies that the members are those of the last generation, and that an ended job
// has none.
func TestLastMembers(t *testing.T) {
	second := state.GenerationRecord{Generation: 2, Workers: []ring.Worker{{Addr: "h:2"}}}
	for _, tt := range []struct {
		name    string
		records []state.Record
		want    string
	}{
		{"records=none", nil, ""},
		{"records=no generation", []state.Record{jobRecord}, ""},
		{"records=a generation", []state.Record{jobRecord, firstGen}, "h:1"},
		{"records=a loss", []state.Record{jobRecord, firstGen, lossOne}, "h:1"},
		{"records=two generations", []state.Record{jobRecord, firstGen, lossOne, second}, "h:2"},
		{"records=the end", []state.Record{jobRecord, firstGen, state.EndRecord{}}, ""},
	} {
		got := ""
		if m := lastMembers(tt.records); len(m) > 0 {
			got = m[0].Addr
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
