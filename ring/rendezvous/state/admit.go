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
	earlier := s.earlierAttempt(j)
	switch {
	case earlier == nil:
	case e.Stream < earlier.stream:
		s.refuseStream(e.Stream, j, "joined again on another stream")
		return
	case s.phase == phaseRunning, s.phase == phaseRecovering:
		j.Rank = earlier.Rank
		s.resume(Resumed{e.Stream, *j, 0}) // the worker has received no membership
		return
	}
	if s.placeUndecided(j) {
		s.deferJoin(e)
		return
	}
	switch code, text := s.refusalReason(j); {
	case text != "":
		s.refuse(e.Stream, j, code, text)
		return
	case s.phase == phaseFinished:
		s.emit(SendAbort{e.Stream, s.cause})
		return
	}
	s.beginWaiting(j)
	if code, text := s.conflict(j); text != "" {
		s.fail(JoinCause(j, code, text), e.Stream)
		return
	}
	if s.worldSize == 0 || j.Rank >= s.worldSize {
		s.refuse(e.Stream, j, exitcode.Usage, fmt.Sprintf("rank is %d and world size %d, want a rank below the world size", j.Rank, s.worldSize))
		return
	}
	if o := s.referenceRequest(); o != nil {
		j.Agree = o.Agree // equal; keep one copy
	}
	if earlier != nil {
		s.replace(earlier)
	}
	delete(s.absences, j.Rank)
	m := &member{Request: *j, stream: e.Stream, joined: s.now, lastHeard: s.awake, step: -1, wait: ring.Wait{Peer: -1}, progress: readyForNext}
	s.byStream[e.Stream] = m
	s.members = append(s.members, m)
	s.processesOf(j.Rank).joined = true
	if s.phase == phaseRecovering {
		assignRanks(s.members)
	}
	s.startIfComplete()
}

// earlierAttempt returns the member that is the same process as j: the worker did not get the
// answer to an earlier join. It returns nil if there is none.
func (s *State) earlierAttempt(j *Request) *member {
	if j.Worker.Incarnation == 0 || j.JobID != "" && j.JobID != s.jobID {
		return nil
	}
	i := slices.IndexFunc(s.members, func(m *member) bool {
		return m.Worker.Incarnation == j.Worker.Incarnation && (m.Rank == j.Rank || j.Rank < 0)
	})
	if i < 0 {
		return nil
	}
	return s.members[i]
}

// reported ends the start for all workers with the fault of one that will not join. A worker of
// another job is refused alone.
func (s *State) reported(e Reported) {
	switch code, text := s.refusalReason(&e.Request); {
	case text != "":
		s.refuse(e.Stream, &e.Request, code, text)
	case s.phase == phaseFinished:
		s.emit(SendAbort{e.Stream, s.cause})
	case s.phase == phaseRecovering && retryable(e.Cause): // the launcher may start the rank again
		s.refuse(e.Stream, &e.Request, e.Cause.ExitCode, e.Cause.Text)
		s.noteAbsence(e.Request.Rank, e.Cause.Text)
	default:
		s.beginWaiting(&e.Request)
		s.fail(e.Cause, e.Stream)
	}
}

// beginWaiting starts the wait for ranks at the first join, which may give the job id and the world
// size.
func (s *State) beginWaiting(j *Request) {
	if s.phase != phaseIdle {
		return
	}
	s.phase, s.waitSince = phaseWaiting, s.now
	s.lastTick, s.nextReport, s.nextProbe = s.now, s.now+FirstReport, s.now+firstProbe
	s.jobID = cmp.Or(s.jobID, j.JobID, s.config.DefaultJobID)
	s.worldSize = cmp.Or(s.worldSize, j.WorldSize)
}

// refusalReason returns why a worker does not belong to this job, "" if it does.
func (s *State) refusalReason(j *Request) (code int, text string) {
	m := s.member(j.Rank)
	switch {
	case j.WorldSize > ring.MaxWorldSize || j.Rank >= ring.MaxWorldSize:
		return exitcode.Usage, fmt.Sprintf("rank is %d and world size %d, want at most %d workers", j.Rank, j.WorldSize, ring.MaxWorldSize)
	case j.JobID != "" && s.jobID != "" && j.JobID != s.jobID:
		return exitcode.Retry, fmt.Sprintf("the rendezvous answers for job %s, not %s", s.jobID, j.JobID)
	case s.phase == phaseFinished && s.cause == nil:
		return exitcode.Retry, fmt.Sprintf("job %s has ended", s.jobID)
	case s.phase == phaseFinished:
		return 0, ""
	case m != nil && m != s.earlierAttempt(j):
		return exitcode.Retry, fmt.Sprintf("rank %d is taken by pid %d on %s (%s), which joined %v ago: started twice?",
			m.Rank, m.Worker.PID, m.Worker.Host, m.Worker.Addr, (s.now - m.joined).Round(time.Second))
	case s.phase == phaseRunning, s.phase == phaseRecovering && len(s.members) == s.worldSize:
		return exitcode.Retry, fmt.Sprintf("job %s is complete: %d of %d workers are here", s.jobID, len(s.members), s.worldSize)
	}
	return 0, ""
}

// conflict returns where a worker differs from the members, "" if it agrees with them.
func (s *State) conflict(j *Request) (code int, text string) {
	if j.WorldSize != 0 && s.worldSize != 0 && j.WorldSize != s.worldSize {
		other := "at the rendezvous"
		if len(s.members) > 0 && s.members[0].WorldSize == s.worldSize {
			other = "on " + s.members[0].label()
		}
		return exitcode.Usage, fmt.Sprintf("world size is %d on %s and %d %s, want the same on all ranks", j.WorldSize, j.label(), s.worldSize, other)
	}
	o := s.referenceRequest()
	if o == nil {
		return 0, ""
	}
	if j.Protocol != o.Protocol {
		return exitcode.Protocol, fmt.Sprintf("protocol is %d on %s and %d on %s, want the same on all ranks", j.Protocol, j.label(), o.Protocol, o.label())
	}
	if !build.Same(j.Version, o.Version) {
		return exitcode.Protocol, fmt.Sprintf("version is %s on %s and %s on %s, want the same on all ranks", j.Version, j.label(), o.Version, o.label())
	}
	return exitcode.Usage, disagreement(j, o)
}

// replace removes a member whose process joins again. The first stream is broken, but its end was
// not seen yet.
func (s *State) replace(m *member) {
	if m.stream != 0 {
		s.refuseStream(m.stream, &m.Request, "joined again on another stream")
	}
	s.remove(m, "")
}

// referenceRequest returns what a worker must agree with: the request of the first member, or of
// the first member ever. It returns nil if there was none.
func (s *State) referenceRequest() *Request {
	if len(s.members) > 0 {
		return &s.members[0].Request
	}
	return s.reference
}

// assignRanks gives each member without a rank a free rank. Members of one host get neighbouring
// ranks; hosts and members keep their order of arrival.
func assignRanks(members []*member) {
	taken, hosts := map[int]bool{}, map[string]int{}
	var unranked []*member
	for i, m := range members {
		if _, seen := hosts[m.Worker.HostID]; !seen {
			hosts[m.Worker.HostID] = i
		}
		if m.Rank < 0 {
			unranked = append(unranked, m)
		}
		taken[m.Rank] = true
	}
	slices.SortStableFunc(unranked, func(a, b *member) int {
		return cmp.Compare(hosts[a.Worker.HostID], hosts[b.Worker.HostID])
	})
	rank := 0
	for _, m := range unranked {
		for taken[rank] {
			rank++
		}
		m.Rank = rank
		rank++
	}
}

func (s *State) refuse(stream uint64, j *Request, code int, text string) {
	s.emit(SendRefused{Stream: stream, Worker: j.Worker, Cause: JoinCause(j, code, text)})
}

// refuseStream ends a stream of a worker that has another one.
func (s *State) refuseStream(stream uint64, j *Request, text string) {
	s.emit(SendRefused{stream, j.Worker, JoinCause(j, exitcode.Retry, text), true})
}

func JoinCause(j *Request, code int, text string) *ring.Cause {
	return &ring.Cause{Rank: j.Rank, Host: j.Worker.Host, Step: -1, Operation: OpJoin, Text: text, ExitCode: code}
}

// label returns how messages name a worker.
func (j *Request) label() string {
	if j.Rank >= 0 {
		return fmt.Sprintf("rank %d", j.Rank)
	}
	return fmt.Sprintf("pid %d of %s", j.Worker.PID, j.Worker.Host)
}
