package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/state"
)

// TestAbort verifies that all workers get the first cause, also those that report another one at
// the same time.
func TestAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 6
		s := serveInMemory(t, ServerConfig{})
		sessions := joinAll(t, s.workers(size)...)
		got := make([]*ring.Cause, size)
		var wg sync.WaitGroup
		for rank, m := range sessions {
			wg.Go(func() {
				got[rank] = m.Abort(&ring.Cause{Rank: rank, Host: "h", Step: 17, Operation: "all-reduce", Peer: "p", Text: fmt.Sprint("fault ", rank), ExitCode: 65 + rank})
			})
		}
		wg.Wait()
		for rank, c := range got {
			if diff := cmp.Diff(s.Cause(), c); diff != "" {
				t.Errorf("rank %d gets another cause than the rendezvous has: %s", rank, diff)
			}
			want := &ring.Cause{Rank: c.Rank, Host: "h", Step: 17, Operation: "all-reduce", Peer: "p", Text: fmt.Sprint("fault ", c.Rank), ExitCode: 65 + c.Rank}
			if diff := cmp.Diff(want, c); diff != "" {
				t.Errorf("rank %d: the cause was changed on its way: %s", rank, diff)
			}
		}
	})
}

// TestRefusals verifies which workers are refused, with which exit code, and that the job goes on.
func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 2
		var told notices
		s := serveInMemory(t, ServerConfig{JobID: "x", Notice: told.add})
		sessions := joinAll(t, s.workers(size)...)
		tests := []struct {
			name   string
			change func(*Options)
			code   int
			text   string
		}{
			{"rank=taken", func(o *Options) { o.Self.Incarnation = 99 }, exitcode.Retry, "rank 1 is taken by pid"},
			{"job=other", func(o *Options) { o.JobID = "y" }, exitcode.Retry, "answers for job x, not y"},
			{"job=complete", func(o *Options) { o.Rank, o.Self.Incarnation = -1, 99 }, exitcode.Retry, "job x is complete: 2 of 2 workers are here"},
		}
		for _, tt := range tests {
			o := s.worker(1, size)
			tt.change(&o)
			_, err := Join(t.Context(), o)
			c, ok := errors.AsType[*ring.Cause](err)
			if !ok || exitcode.Of(err) != tt.code || c.ExitCode != tt.code || !strings.Contains(c.Text, tt.text) {
				t.Errorf("%s: error %v with code %d, want a cause with %q and code %d", tt.name, err, exitcode.Of(err), tt.text, tt.code)
			}
			mine := &ring.Cause{Rank: 1, Text: "port in use", ExitCode: exitcode.Retry}
			if got := Report(t.Context(), o, mine); got != mine {
				t.Errorf("%s: its report gives %v, want its own cause", tt.name, got)
			}
		}
		synctest.Wait()
		if n := strings.Count(told.text(), "refused pid "); n != 2*len(tests) {
			t.Errorf("%d refusals were told, want %d:\n%s", n, 2*len(tests), told.text())
		}
		leaveAll(t, sessions...)
	})
}

// TestStartEndsForAll verifies that a difference between two workers ends the start with one code
// and one text for both.
func TestStartEndsForAll(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Options)
		code   int
		text   string
	}{
		{"version=v2", func(o *Options) { o.Version = "v2" }, exitcode.Protocol, "version is v2 on rank 1 and v1 on rank 0"},
		{"size=4", func(o *Options) { o.WorldSize = 4 }, exitcode.Usage, "world size is 4 on rank 1 and 3 on rank 0"},
		{"seed=2", func(o *Options) { o.Agree = []string{"seed=2"} }, exitcode.Usage, "seed is 2 on rank 1 and 1 on rank 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serveInMemory(t, ServerConfig{})
				first := make(chan error, 1)
				go func() {
					_, err := Join(t.Context(), s.worker(0, 3))
					first <- err
				}()
				synctest.Wait()
				o := s.worker(1, 3)
				tt.change(&o)
				_, second := Join(t.Context(), o)
				for i, err := range []error{<-first, second} {
					c, ok := errors.AsType[*ring.Cause](err)
					if !ok || exitcode.Of(err) != tt.code || !strings.Contains(c.Text, tt.text) {
						t.Errorf("worker %d: error %v with code %d, want %q with %d", i, err, exitcode.Of(err), tt.text, tt.code)
					}
				}
			})
		})
	}
}

// TestReportBeforeJoin verifies that the fault of a rank that never joins ends the other ranks,
// those that joined before and those that join later.
func TestReportBeforeJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{})
		early := make(chan error, 1)
		go func() {
			_, err := Join(t.Context(), s.worker(0, 3))
			early <- err
		}()
		synctest.Wait()
		mine := &ring.Cause{Rank: 1, Host: "h", Step: -1, Operation: "input", Text: "train.idx is missing", ExitCode: exitcode.NoInput}
		if got := Report(t.Context(), s.worker(1, 3), mine); !cmp.Equal(got, mine) {
			t.Errorf("Report gives %v, want %v", got, mine)
		}
		_, late := Join(t.Context(), s.worker(2, 3))
		for i, err := range []error{<-early, late} {
			if c, _ := errors.AsType[*ring.Cause](err); !cmp.Equal(c, mine) || exitcode.Of(err) != exitcode.NoInput {
				t.Errorf("worker %d ends with %v, want %v", 2*i, err, mine)
			}
		}
		second := &ring.Cause{Rank: 2, Text: "another", ExitCode: 1}
		if got := Report(t.Context(), s.worker(2, 3), second); !cmp.Equal(got, mine) {
			t.Errorf("a second Report gives %v, want the first cause", got)
		}
	})
}

// TestRanksAreGiven verifies that each rank is assigned once, and that the workers of one host get
// neighbouring ranks.
func TestRanksAreGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 6
		s := serveInMemory(t, ServerConfig{WorldSize: size})
		var all []Options
		for i := range size {
			o := s.worker(-1, 0)
			o.Self.HostID, o.Self.Incarnation = string("ab"[i%2]), uint64(i+1)
			all = append(all, o)
		}
		sessions := joinAll(t, all...)
		hosts := ""
		for rank, w := range sessions[0].Membership().Workers {
			hosts += w.HostID
			if !slices.ContainsFunc(sessions, func(s *Session) bool {
				m := s.Membership()
				return m.Rank == rank && m.Self().Incarnation == w.Incarnation
			}) {
				t.Errorf("rank %d is nobody's", rank)
			}
		}
		if hosts != "aaabbb" && hosts != "bbbaaa" {
			t.Errorf("hosts by rank: %s, want each in one piece", hosts)
		}
		leaveAll(t, sessions...)
	})
}

// TestRendezvousGone verifies that workers train on without their rendezvous, and say so once. When
// an operation fails they wait for the rendezvous for the start timeout; the cause names its address
// and the first failure. If rank 0 served it and no restart is left, they do not wait.
func TestRendezvousGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{})
		all := s.workers(2)
		var told notices
		all[0].Notice, all[1].InRank0 = told.add, true
		sessions := joinAll(t, all...)
		s.grpc.Stop()
		time.Sleep(time.Hour) // on the fake clock
		if got := told.text(); strings.Count(got, "lost the rendezvous at 10.0.0.1:29400") != 1 {
			t.Errorf("rank 0 says %q, want once that the rendezvous is lost", got)
		}
		for rank, m := range sessions {
			if m.Context().Err() != nil {
				t.Fatalf("rank %d ends with %v, want that it trains on", rank, context.Cause(m.Context()))
			}
			began := time.Now()
			err := m.Outcome(t.Context(), &ring.Cause{Rank: 1 - rank, Step: 7, Text: "link broke", ExitCode: exitcode.Retry})
			c, _ := errors.AsType[*ring.Cause](err)
			took, wants := time.Since(began), []string{s.addr, "connection refused", "link broke"}
			if rank == 1 {
				wants = wants[:2]
			}
			for _, want := range wants {
				if c == nil || !strings.Contains(c.Text, want) || c.ExitCode != exitcode.Retry || c.Rank != rank-1 {
					t.Errorf("rank %d ends with %v, want %q", rank, err, want)
				}
			}
			if wait := took > time.Minute; wait != (rank == 0) || took > 70*time.Second {
				t.Errorf("rank %d ends after %v", rank, took)
			}
		}
	})
}

// TestCloseWithoutLeaving verifies that a worker that closes without leaving is lost, with a cause
// that says so.
func TestCloseWithoutLeaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{})
		sessions := joinAll(t, s.workers(2)...)
		sessions[1].Close()
		sessions[1].Close() // Close may be called twice
		<-sessions[0].Context().Done()
		if c := s.Cause(); c == nil || c.Rank != 1 || !strings.Contains(c.Text, "closed without leaving") {
			t.Errorf("cause %v, want rank 1 closed without leaving", c)
		}
		if err := sessions[1].Leave(t.Context()); err == nil {
			t.Error("a closed session leaves well")
		}
	})
}

// TestLeaveIsBounded verifies that Leave ends with its context.
func TestLeaveIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{})
		sessions := joinAll(t, s.workers(2)...)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := sessions[0].Leave(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Leave gives %v, want the context's end", err)
		}
	})
}

// TestJoinIsCanceled verifies that Join ends with its context, and that a successor may take the
// rank.
func TestJoinIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{})
		stop := errors.New("told to stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error)
		go func() {
			_, err := Join(ctx, s.worker(1, 2))
			ended <- err
		}()
		synctest.Wait()
		cancel(stop)
		if err := <-ended; !errors.Is(err, stop) {
			t.Errorf("error %v, want %v", err, stop)
		}
		synctest.Wait()
		all := s.workers(2)
		all[1].Self.Incarnation = 99
		leaveAll(t, joinAll(t, all...)...)
	})
}

// TestServerEndsTheJob verifies that the launcher can report a process that has ended, abort the
// job, and wait until all workers have received the end.
func TestServerEndsTheJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{})
		sessions := joinAll(t, s.workers(2)...)
		s.Lost(1, "rank 1 was killed by signal 9", exitcode.Retry)
		s.Abort(&ring.Cause{Rank: -1, Step: -1, Text: "later", ExitCode: exitcode.Terminated})
		s.Drain(t.Context())
		for rank, m := range sessions {
			if m.Context().Err() == nil {
				t.Fatalf("drained before rank %d has heard the end", rank)
			}
			if c, _ := errors.AsType[*ring.Cause](context.Cause(m.Context())); c == nil || c.Rank != 1 || !strings.Contains(c.Text, "signal 9") {
				t.Errorf("cause %v, want the launcher's", c)
			}
		}
	})
}

// TestSilentWorker verifies that the others lose a worker whose path is dark for the lease. The worker
// itself trains on.
func TestSilentWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{Lease: 5 * time.Second})
		all := s.workers(3)
		sessions := joinAll(t, all...)
		sessions[1].Progress(41, "train")
		time.Sleep(10*time.Second + state.HeartbeatEvery/2) // on the fake clock: no heartbeat is on its way
		if err := sessions[2].Context().Err(); err != nil {
			t.Fatalf("ended while all beat: %v", context.Cause(sessions[2].Context()))
		}
		cut := time.Now()
		p := s.pathOf(sessions[1])
		p.change(func() { p.dark = true })
		for rank, m := range sessions {
			if rank == 1 {
				continue
			}
			<-m.Context().Done()
			if took := time.Since(cut); took < 3*time.Second || took > 7*time.Second { // a heartbeat that is answered at the same instant may count as unanswered
				t.Errorf("rank %d noticed after %v, want about 5 s", rank, took)
			}
			c, _ := errors.AsType[*ring.Cause](context.Cause(m.Context()))
			const want = "at step 41: lost rank 1 (host1 10.0.0.2:4000): silent for 5s"
			if !strings.HasPrefix(c.Error(), want) {
				t.Errorf("rank %d: %v\nwant %s", rank, c, want)
			}
		}
	})
}

// TestAbortWithoutAnswer verifies that Abort returns its own cause after a second without an
// answer.
func TestAbortWithoutAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{})
		all := s.workers(2)
		sessions := joinAll(t, all...)
		p := s.pathOf(sessions[0])
		p.change(func() { p.dark = true })
		start, mine := time.Now(), &ring.Cause{Rank: 0, Text: "mine", ExitCode: 1}
		if got := sessions[0].Abort(mine); got != mine || time.Since(start) != time.Second {
			t.Errorf("Abort gives %v after %v, want its own cause after 1s", got, time.Since(start))
		}
		if c, _ := errors.AsType[*ring.Cause](context.Cause(sessions[0].Context())); c != mine {
			t.Errorf("the session ends with %v, want its own cause", c)
		}
	})
}

// TestStepOfLoss verifies that each worker gets a loss with its own last step, not that of the last
// heartbeat, and that the rendezvous has the latest step.
func TestStepOfLoss(t *testing.T) {
	for _, restarts := range []int{0, 1} {
		t.Run(fmt.Sprintf("restarts=%d", restarts), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serveInMemory(t, ServerConfig{Restarts: restarts})
				sessions := joinAll(t, s.workers(3)...)
				for rank, m := range sessions[:2] {
					m.Progress(int64(41+rank), "train") // no heartbeat has reported it
				}
				sessions[2].Close()
				for rank, m := range sessions[:2] {
					<-m.Context().Done()
					c, _ := errors.AsType[*ring.Cause](context.Cause(m.Context()))
					if c == nil || c.Rank != 2 || c.Step != int64(41+rank) {
						t.Errorf("rank %d: %v, want the loss of rank 2 at step %d", rank, c, 41+rank)
					}
				}
				closeAll(sessions...)
				if c := s.Cause(); c == nil || c.Step != 42 {
					t.Errorf("the rendezvous ends with %v, want a loss at step 42", c)
				}
			})
		})
	}
}
