package state

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/build"
	"ringtrain/ring/exitcode"
)

// join admits a worker, refuses it alone, or ends the start for all.
func (s *State) join(e Joined) {
	j := &e.Request
	earlier := s.earlier(j)
	switch {
	case earlier == nil:
	case e.Stream < earlier.stream:
		s.moved(e.Stream, j, "joined again on another stream")
		return
	case s.phase == running, s.phase == recovering:
		j.Rank = earlier.Rank
		s.resume(Resumed{e.Stream, *j, 0}) // it has heard of no generation
		return
	}
	if m := s.ousted(j); m != nil {
		s.lose(m.lost(fmt.Sprintf("its port is pid %d's by now", j.Worker.PID)), m)
	}
	if s.undecided(j) {
		s.hold(e)
		return
	}
	switch code, text := s.refusal(j); {
	case text != "":
		s.refuse(e.Stream, j, code, text)
		return
	case s.phase == finished:
		s.do(SendAbort{e.Stream, s.cause})
		return
	}
	s.begin(j)
	if code, text := s.quarrel(j); text != "" {
		s.fail(JoinCause(j, code, text), e.Stream)
		return
	}
	if s.size == 0 || j.Rank >= s.size {
		s.refuse(e.Stream, j, exitcode.Usage, fmt.Sprintf("rank is %d and world size %d, want a rank below the world size", j.Rank, s.size))
		return
	}
	if o := s.model(); o != nil {
		j.Agree = o.Agree // equal; keep one copy
	}
	if earlier != nil {
		s.replace(earlier)
	}
	delete(s.away, j.Rank)
	m := &member{Request: *j, stream: e.Stream, since: s.now, heard: s.awake, step: -1, wait: ring.Wait{Peer: -1}, progress: readyForNext}
	s.byID[e.Stream] = m
	s.here = append(s.here, m)
	s.trial(j.Rank).joined = true
	if s.phase == recovering {
		place(s.here)
	}
	s.gather()
}

// earlier is the worker that j has become by another try, whose answer it did not
// get: the same process. It is nil if there was none.
func (s *State) earlier(j *Request) *member {
	if j.Worker.Incarnation == 0 || j.JobID != "" && j.JobID != s.job {
		return nil
	}
	i := slices.IndexFunc(s.here, func(m *member) bool {
		return m.Worker.Incarnation == j.Worker.Incarnation && (m.Rank == j.Rank || j.Rank < 0)
	})
	if i < 0 {
		return nil
	}
	return s.here[i]
}

// reported ends the start for all with the fault of one that will not join,
// unless that one is no member of this job at all.
func (s *State) reported(e Reported) {
	switch code, text := s.refusal(&e.Request); {
	case text != "":
		s.refuse(e.Stream, &e.Request, code, text)
	case s.phase == finished:
		s.do(SendAbort{e.Stream, s.cause})
	case s.phase == recovering && retryable(e.Cause): // it may be started once more
		s.refuse(e.Stream, &e.Request, e.Cause.ExitCode, e.Cause.Text)
		s.learn(e.Request.Rank, e.Cause.Text)
	default:
		s.begin(&e.Request)
		s.fail(e.Cause, e.Stream)
	}
}

// begin takes from the first join what nobody has said before.
func (s *State) begin(j *Request) {
	if s.phase != idle {
		return
	}
	s.phase, s.began = waiting, s.now
	s.ticked, s.report, s.probe = s.now, s.now+FirstReport, s.now+firstProbe
	s.job = cmp.Or(s.job, j.JobID, s.c.Drawn)
	s.size = cmp.Or(s.size, j.WorldSize)
}

// refusal tells why a worker does not belong to this job; "" if it does.
func (s *State) refusal(j *Request) (code int, text string) {
	m := s.owner(j.Rank)
	switch {
	case j.WorldSize > ring.MaxWorldSize || j.Rank >= ring.MaxWorldSize:
		return exitcode.Usage, fmt.Sprintf("rank is %d and world size %d, want at most %d workers", j.Rank, j.WorldSize, ring.MaxWorldSize)
	case j.JobID != "" && s.job != "" && j.JobID != s.job:
		return exitcode.Retry, fmt.Sprintf("the rendezvous answers for job %s, not %s", s.job, j.JobID)
	case s.phase == finished && s.cause == nil:
		return exitcode.Retry, fmt.Sprintf("job %s has ended", s.job)
	case s.phase == finished:
		return 0, ""
	case m != nil && m != s.earlier(j):
		return exitcode.Retry, fmt.Sprintf("rank %d is taken by pid %d on %s (%s), which joined %v ago: started twice?",
			m.Rank, m.Worker.PID, m.Worker.Host, m.Worker.Addr, (s.now - m.since).Round(time.Second))
	case s.phase == running, s.phase == recovering && len(s.here) == s.size:
		return exitcode.Retry, fmt.Sprintf("job %s is complete: %d of %d workers are here", s.job, len(s.here), s.size)
	}
	return 0, ""
}

// quarrel tells where a worker differs from those who came before it; "" if it
// agrees with them.
func (s *State) quarrel(j *Request) (code int, text string) {
	if j.WorldSize != 0 && s.size != 0 && j.WorldSize != s.size {
		other := "at the rendezvous"
		if len(s.here) > 0 && s.here[0].WorldSize == s.size {
			other = "on " + s.here[0].name()
		}
		return exitcode.Usage, fmt.Sprintf("world size is %d on %s and %d %s, want the same on all ranks", j.WorldSize, j.name(), s.size, other)
	}
	o := s.model()
	if o == nil {
		return 0, ""
	}
	if j.Protocol != o.Protocol {
		return exitcode.Protocol, fmt.Sprintf("protocol is %d on %s and %d on %s, want the same on all ranks", j.Protocol, j.name(), o.Protocol, o.name())
	}
	if !build.Same(j.Version, o.Version) {
		return exitcode.Protocol, fmt.Sprintf("version is %s on %s and %s on %s, want the same on all ranks", j.Version, j.name(), o.Version, o.name())
	}
	return exitcode.Usage, disagreement(j, o)
}

// replace lets the same process join again: its first stream broke, and we have
// not seen it yet.
func (s *State) replace(m *member) {
	if m.stream != 0 {
		s.moved(m.stream, &m.Request, "joined again on another stream")
	}
	s.remove(m, "")
}

// model returns what a worker must agree with: what the first that is here has
// said, or the first there was. It is nil while there was none.
func (s *State) model() *Request {
	if len(s.here) > 0 {
		return &s.here[0].Request
	}
	return s.spec
}

// place gives each worker without a rank one of the free ranks: workers of one
// host are neighbours, hosts and their workers in order of arrival.
func place(here []*member) {
	taken, hosts := map[int]bool{}, map[string]int{}
	var without []*member
	for i, m := range here {
		if _, seen := hosts[m.Worker.HostID]; !seen {
			hosts[m.Worker.HostID] = i
		}
		if m.Rank < 0 {
			without = append(without, m)
		}
		taken[m.Rank] = true
	}
	slices.SortStableFunc(without, func(a, b *member) int {
		return cmp.Compare(hosts[a.Worker.HostID], hosts[b.Worker.HostID])
	})
	rank := 0
	for _, m := range without {
		for taken[rank] {
			rank++
		}
		m.Rank = rank
		rank++
	}
}

func (s *State) refuse(stream uint64, j *Request, code int, text string) {
	s.do(SendRefused{Stream: stream, Worker: j.Worker, Cause: JoinCause(j, code, text)})
}

// moved ends a stream of a worker that has another one by now.
func (s *State) moved(stream uint64, j *Request, text string) {
	s.do(SendRefused{stream, j.Worker, JoinCause(j, exitcode.Retry, text), true})
}

func JoinCause(j *Request, code int, text string) *ring.Cause {
	return &ring.Cause{Rank: j.Rank, Host: j.Worker.Host, Step: -1, Operation: OpJoin, Text: text, ExitCode: code}
}

// name is how people know a worker.
func (j *Request) name() string {
	if j.Rank >= 0 {
		return fmt.Sprintf("rank %d", j.Rank)
	}
	return fmt.Sprintf("pid %d of %s", j.Worker.PID, j.Worker.Host)
}
