package rendezvous

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring/rendezvous/journal"
	"ringtrain/ring/rendezvous/state"
)

// delayedJournal delays each record by a time that the test sets.
type delayedJournal struct {
	journal.Journal
	mu    sync.Mutex
	takes time.Duration
}

func (j *delayedJournal) slow(takes time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.takes = takes
}

func (j *delayedJournal) Append(r state.Record) error {
	j.mu.Lock()
	takes := j.takes
	j.mu.Unlock()
	time.Sleep(takes)
	return j.Journal.Append(r)
}

// testWithLimit is synctest.Test with a limit of real time: a goroutine that waits for a lock stops
// the fake clock.
func testWithLimit(t *testing.T, do func(t *testing.T)) {
	limit := time.AfterFunc(20*time.Second, func() {
		panic(t.Name() + ": the fake clock stands still: a write to the journal holds a lock that others need")
	})
	defer limit.Stop()
	synctest.Test(t, do)
}

// TestSlowJournal verifies the loss of a rank while each write to the journal takes three
// leases. People hear of the rank within 2 s, the others are answered and not lost, and they hear
// of the loss only when it is durable.
func TestSlowJournal(t *testing.T) {
	testWithLimit(t, func(t *testing.T) {
		const takes = 15 * time.Second
		var told notices
		j := &delayedJournal{Journal: journalAt(t, t.TempDir()+"/journal")}
		s := serveInMemory(t, ServerConfig{Restarts: 2, Journal: j, Notice: told.add})
		all := s.workers(3)
		sessions := joinAll(t, all...)
		time.Sleep(10 * time.Second) // on the fake clock
		j.slow(takes)
		killed := time.Now()
		sessions[1].Close()
		time.Sleep(2 * time.Second)
		if text := told.text(); !strings.Contains(text, "lost rank 1 (host1 ") {
			t.Errorf("after 2 s people were told %q, want the loss of rank 1", text)
		}
		sessions[0].Progress(77, "train")
		time.Sleep(8 * time.Second)
		if st := s.Status(); st.Present != 2 || st.Step != 77 {
			t.Errorf("after 10 s %d ranks are here at step %d, want 2 at step 77", st.Present, st.Step)
		}
		for _, rank := range []int{0, 2} {
			<-sessions[rank].Context().Done()
			if took := time.Since(killed); took < takes || took > takes+time.Second {
				t.Errorf("rank %d is told of the loss after %v, want when it is durable, after %v", rank, took, takes)
			}
		}
		j.slow(0)
		ends := make(chan error)
		for _, rank := range []int{0, 2} {
			go func() {
				m := sessions[rank]
				err := m.Outcome(t.Context(), nil)
				if err == nil {
					err = m.Next(t.Context())
				}
				ends <- err
			}()
		}
		all[1].Self.Incarnation += 100
		back := joinAll(t, all[1])
		for range 2 {
			if err := <-ends; err != nil {
				t.Fatal(err)
			}
		}
		if left := s.Status().RestartsLeft; left != 1 {
			t.Errorf("%d restarts are left, want 1: one rank was killed", left)
		}
		leaveAll(t, sessions[0], back[0], sessions[2])
	})
}

// TestSlowStart verifies that workers that join are answered while each write takes three
// leases, and start when their generation is durable.
func TestSlowStart(t *testing.T) {
	testWithLimit(t, func(t *testing.T) {
		const takes = 15 * time.Second
		j := &delayedJournal{Journal: journalAt(t, t.TempDir()+"/journal"), takes: takes}
		s := serveInMemory(t, ServerConfig{Journal: j})
		began := time.Now()
		sessions := joinAll(t, s.workers(2)...)
		if took := time.Since(began); took < 2*takes || took > 2*takes+time.Second {
			t.Errorf("the start took %v, want two writes of %v", took, takes)
		}
		j.slow(0)
		leaveAll(t, sessions...)
	})
}
