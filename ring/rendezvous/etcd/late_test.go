package etcd

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring/rendezvous"
)

// slowClient is a connection to a coordinator that may not answer. It ends with its context, as a
// rendezvous.StatusClient does.
type slowClient struct {
	life   context.Context
	silent *bool
}

func (l slowClient) Next(ctx context.Context) ([]rendezvous.Status, error) {
	if *l.silent {
		<-ctx.Done()
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return []rendezvous.Status{{JobID: "j"}}, context.Cause(l.life)
}

func (l slowClient) Close() {}

// TestFollowLate verifies that a coordinator that does not answer, while it is reached or
// afterwards, delays Next for answerTimeout at most, and that a working connection outlives that
// time.
func TestFollowLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const late = `coordinator of job "j": rendezvous at a:1 not reached: connected, no answer in time`
		w := &fakeCluster{current: []coordinator{{"j", "a:1"}}}
		f := w.follower("j")
		defer f.Close()
		var lives []context.Context
		unreachable, silent := true, false
		f.dial = func(ctx context.Context, _ coordinator) (statusClient, error) {
			lives = append(lives, ctx)
			if unreachable {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}
			return slowClient{ctx, &silent}, nil
		}
		inTime := func(want time.Duration, do func()) {
			t.Helper()
			began := time.Now()
			if do(); time.Since(began) != want {
				t.Fatalf("took %v, want %v", time.Since(began), want)
			}
		}
		inTime(answerTimeout, func() { wantError(t, f, late, false) })
		unreachable = false
		wantJobs(t, f, "j")
		time.Sleep(2 * answerTimeout) // on the fake clock: the connection outlives the time to open it
		inTime(0, func() { wantJobs(t, f, "j") })
		silent = true
		inTime(answerTimeout, func() { wantError(t, f, late, false) })
		silent = false
		wantJobs(t, f, "j")
		f.Close()
		if len(lives) != 3 {
			t.Errorf("%d connections, want one that fails, one that falls silent and one more", len(lives))
		}
		for i, life := range lives {
			if life.Err() == nil {
				t.Errorf("the context of connection %d goes on after its close", i)
			}
		}
	})
}
