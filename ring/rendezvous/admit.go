package rendezvous

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// join admits a worker, refuses it alone, or ends the start for all.
func (s *State) join(e Joined) {
	j := &e.Request
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
		s.fail(joinCause(j, code, text), e.Stream)
		return
	}
	if s.size == 0 || j.Rank >= s.size {
		s.refuse(e.Stream, j, exitcode.Usage, fmt.Sprintf("rank is %d and world size %d, want a rank below the world size", j.Rank, s.size))
		return
	}
	if len(s.here) > 0 {
		j.Agree = s.here[0].Agree // equal; keep one copy
	}
	if m := s.owner(j.Rank); m != nil {
		s.replace(m)
	}
	delete(s.away, j.Rank)
	m := &member{Request: *j, stream: e.Stream, since: s.now, heard: s.awake, step: -1}
	s.byID[e.Stream] = m
	s.here = append(s.here, m)
	if len(s.here) == s.size {
		s.complete()
	}
}

// reported ends the start for all with the fault of one that will not join,
// unless that one is no member of this job at all.
func (s *State) reported(e Reported) {
	switch code, text := s.refusal(&e.Request); {
	case text != "":
		s.refuse(e.Stream, &e.Request, code, text)
	case s.phase == finished:
		s.do(SendAbort{e.Stream, s.cause})
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
	s.phase, s.first = waiting, s.now
	s.ticked, s.report, s.probe = s.now, s.now+firstReport, s.now+firstProbe
	s.job = cmp.Or(s.job, j.JobID, s.c.Drawn)
	s.size = cmp.Or(s.size, j.WorldSize)
}

// refusal tells why a worker does not belong to this job; "" if it does.
func (s *State) refusal(j *Request) (code int, text string) {
	m := s.owner(j.Rank)
	switch {
	case j.JobID != "" && s.job != "" && j.JobID != s.job:
		return exitcode.Retry, fmt.Sprintf("the rendezvous answers for job %s, not %s", s.job, j.JobID)
	case s.phase == finished && s.cause == nil:
		return exitcode.Retry, fmt.Sprintf("job %s has ended", s.job)
	case s.phase == finished:
		return 0, ""
	case m != nil && (s.phase == running || m.Worker.Incarnation != j.Worker.Incarnation):
		return exitcode.Retry, fmt.Sprintf("rank %d is taken by pid %d on %s (%s), which joined %v ago: started twice?",
			m.Rank, m.Worker.PID, m.Worker.Host, m.Worker.Addr, (s.now - m.since).Round(time.Second))
	case s.phase == running:
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
	if len(s.here) == 0 {
		return 0, ""
	}
	o := &s.here[0].Request
	if j.Protocol != o.Protocol {
		return exitcode.Protocol, fmt.Sprintf("protocol is %d on %s and %d on %s, want the same on all ranks", j.Protocol, j.name(), o.Protocol, o.name())
	}
	if j.Version != o.Version {
		return exitcode.Protocol, fmt.Sprintf("version is %s on %s and %s on %s, want the same on all ranks", j.Version, j.name(), o.Version, o.name())
	}
	return exitcode.Usage, disagreement(j, o)
}

// replace lets the same process join again: its first stream broke, and we
// have not seen it yet.
func (s *State) replace(m *member) {
	s.refuse(m.stream, &m.Request, exitcode.Retry, "joined again on another stream")
	s.remove(m, "")
}

// complete gives out the ranks that nobody asked for and starts generation 1.
func (s *State) complete() {
	s.phase = running
	place(s.here)
	workers := make([]ring.Worker, 0, s.size)
	for _, m := range s.here {
		m.Worker.Rank = m.Rank
		workers = append(workers, m.Worker)
	}
	slices.SortFunc(workers, func(a, b ring.Worker) int { return cmp.Compare(a.Rank, b.Rank) })
	for _, m := range s.here {
		s.do(SendMembership{m.stream, ring.Membership{JobID: s.job, Generation: 1, Rank: m.Rank, Workers: workers}})
	}
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
	s.do(SendRefused{stream, j.Worker, joinCause(j, code, text)})
}

func joinCause(j *Request, code int, text string) *ring.Cause {
	return &ring.Cause{Rank: j.Rank, Host: j.Worker.Host, Step: -1, Operation: "join", Text: text, ExitCode: code}
}

// name is how people know a worker.
func (j *Request) name() string {
	if j.Rank >= 0 {
		return fmt.Sprintf("rank %d", j.Rank)
	}
	return fmt.Sprintf("pid %d of %s", j.Worker.PID, j.Worker.Host)
}
