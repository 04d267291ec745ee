package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous"
)

// fakeCluster is an etcd and its coordinators, without a network.
type fakeCluster struct {
	current []coordinator
	away    error           // error of etcd
	ends    map[string]bool // jobs whose journal has an end
	answers map[string]any  // by address: a job id or an error
	opened  atomic.Int32
	closed  atomic.Int32
	notices []string
}

func (w *fakeCluster) coordinators(context.Context) ([]coordinator, error) { return w.current, w.away }

func (w *fakeCluster) jobEnded(_ context.Context, jobID string) (bool, error) {
	return w.ends[jobID], w.away
}

func (w *fakeCluster) close() {}

func (w *fakeCluster) dial(_ context.Context, s coordinator) (statusClient, error) {
	if err, ok := w.answers[s.addr].(error); ok && errors.Is(err, rendezvous.ErrGone) {
		return nil, err
	}
	w.opened.Add(1)
	return &fakeClient{w, s}, nil
}

// fakeClient is a connection to a coordinator.
type fakeClient struct {
	*fakeCluster
	coordinator coordinator
}

func (l *fakeClient) Next(context.Context) ([]rendezvous.Status, error) {
	switch a := l.answers[l.coordinator.addr].(type) {
	case string:
		return []rendezvous.Status{{JobID: a, Phase: "running"}}, nil
	case error:
		return nil, a
	}
	return nil, nil
}

func (l *fakeClient) Close() { l.closed.Add(1) }

func (w *fakeCluster) follower(jobID string) *Follower {
	return newFollower(FollowConfig{
		Address: Address{Endpoints: []string{"e:1"}, Prefix: "p"}, JobID: jobID, Notice: func(text string) { w.notices = append(w.notices, text) },
	}, func() registry { return w }, w.dial)
}

// wantJobs calls Next and fails the test unless it returns these jobs.
func wantJobs(t *testing.T, f *Follower, want ...string) {
	t.Helper()
	all, err := f.Next(t.Context())
	var got []string
	for _, s := range all {
		got = append(got, s.JobID)
	}
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("sees jobs %q, error %v, want %q", got, err, want)
	}
}

// wantError calls Next and fails the test unless the error has exit code 138 and the text.
func wantError(t *testing.T, f *Follower, want string, gone bool) {
	t.Helper()
	all, err := f.Next(t.Context())
	if err == nil || exitcode.Of(err) != exitcode.Retry || err.Error() != want || errors.Is(err, rendezvous.ErrGone) != gone {
		t.Fatalf("sees %v, error %v (code %d, gone %v), want 138 and %q (gone %v)", all, err, exitcode.Of(err), errors.Is(err, rendezvous.ErrGone), want, gone)
	}
}

func refusedAt(addr string) error {
	return exitcode.With(exitcode.Retry, fmt.Errorf("rendezvous at %s not reached: %w", addr, rendezvous.ErrGone))
}

// TestFollowElection verifies a Follower from before the start of a job to its end, across the
// death of a coordinator.
func TestFollowElection(t *testing.T) {
	const nobody = "etcd at e:1 knows no coordinator of job j: "
	w := &fakeCluster{ends: map[string]bool{}, answers: map[string]any{"a:1": "j"}}
	f := w.follower("j")
	defer f.Close()
	wantError(t, f, nobody+"not started yet, or ended", false)
	w.ends["j"] = true // an earlier job with the same id
	wantError(t, f, nobody+"not started yet, or ended", false)
	w.ends["j"] = false
	w.current = []coordinator{{"j", "a:1"}}
	wantJobs(t, f, "j")
	wantJobs(t, f, "j")
	if n := w.opened.Load(); n != 1 {
		t.Errorf("%d connections for two looks, want one that is kept", n)
	}
	w.answers["a:1"] = refusedAt("a:1") // the coordinator is dead, and its key remains
	wantError(t, f, `coordinator of job "j": rendezvous at a:1 not reached: connection refused; if it does not return, another coordinator is elected`, false)
	f.Close() // as a watching command does
	w.current = nil
	wantError(t, f, nobody+"not started yet, or ended", false)
	w.current, w.answers["b:1"] = []coordinator{{"j", "b:1"}}, "j"
	wantJobs(t, f, "j")
	w.away = errors.New("etcd at e:1: connection refused")
	wantJobs(t, f, "j") // training goes on without etcd
	w.answers["b:1"] = nil
	wantError(t, f, `coordinator of job "j": rendezvous at b:1 has no such job`, false)
	wantError(t, f, "etcd at e:1: connection refused", false)
	w.away, w.current, w.ends["j"] = nil, nil, true
	wantError(t, f, nobody+"ended: connection refused", true)
	f.Close()
	if opened, closed := w.opened.Load(), w.closed.Load(); opened != closed || opened != 2 {
		t.Errorf("%d connections, %d closed, want 2", opened, closed)
	}
	if len(w.notices) > 0 {
		t.Errorf("notices %q about the only job", w.notices)
	}
}

// TestFollowAll verifies that a job without an answer neither hides the other jobs nor is hidden,
// and that there is one notice about it.
func TestFollowAll(t *testing.T) {
	w := &fakeCluster{
		current: []coordinator{{"z", "a:1"}, {"b", "b:1"}, {"c", "c:1"}}, ends: map[string]bool{"z": true},
		answers: map[string]any{"a:1": "z", "b:1": "b", "c:1": exitcode.With(exitcode.Auth, errors.New("not the token"))},
	}
	f := w.follower("")
	defer f.Close()
	wantJobs(t, f, "b", "z")
	wantJobs(t, f, "b", "z")
	if len(w.notices) != 1 || w.notices[0] != `coordinator of job "c": not the token` {
		t.Errorf("notices %q, want one, of c", w.notices)
	}
	w.current = []coordinator{{"c", "c:1"}}
	if _, err := f.Next(t.Context()); exitcode.Of(err) != exitcode.Auth {
		t.Errorf("error %v, want exitcode.Auth: nobody else answers", err)
	}
	w.current = nil
	wantError(t, f, "etcd at e:1 knows no coordinator of any job below p: not started yet, or ended", false) // b may have been killed
	w.ends["b"] = true
	wantError(t, f, "etcd at e:1 knows no coordinator of any job below p: ended: connection refused", true)
}

// TestJobOf verifies which keys belong to a job, also with unusual job ids.
func TestJobOf(t *testing.T) {
	a := Address{Prefix: "p/train"}
	for _, id := range []string{"j", "a/b", "ü %x", "..", "coordinator"} {
		if got, ok := jobOf(a.keys(id).coordinator, "p/train/"); got != id || !ok {
			t.Errorf("job %q is found as %q, %v", id, got, ok)
		}
	}
	for _, key := range []string{a.keys("j").entry(1), "p/train/coordinator", "p/train//coordinator", "p/train/a/b/coordinator", "p/train/%zz/coordinator", "p/train/j"} {
		if id, ok := jobOf(key, "p/train/"); ok {
			t.Errorf("key %q is taken for the coordinator of %q", key, id)
		}
	}
}

// TestFollowUnreached verifies the error if etcd is not reached.
func TestFollowUnreached(t *testing.T) {
	t.Parallel()
	const at = "127.0.0.1:1" // reserved, unlike a free port
	f, err := Follow(FollowConfig{Address: Address{Endpoints: []string{at}, Prefix: "p"}, JobID: "j"})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Next(t.Context()); exitcode.Of(err) != exitcode.Retry || err.Error() != "etcd at "+at+": connection refused" {
		t.Errorf("error %v, want exitcode.Retry and etcd named", err)
	}
	if _, err := Follow(FollowConfig{User: "u"}); exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), "RINGTRAIN_ETCD_PASSWORD") {
		t.Errorf("error %v, want exitcode.Usage and the variables named", err)
	}
}
