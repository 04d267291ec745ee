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

// settleTime is how long an empty rendezvous listens before it begins a life: workers of a life
// that goes on come again at once, and no life begins beside it. Members of a unique rendezvous
// cannot be elsewhere.
const settleTime = 500 * time.Millisecond

// heldJoin is a join that waits until it is known whether its rank is free.
type heldJoin struct {
	Joined
	ownerLives bool // the port of the rank's owner has answered for it
}

// join admits a worker, holds or refuses it, or ends the start for all.
func (s *State) join(e Joined) {
	j := &e.Request
	earlier := s.earlierAttempt(j)
	switch {
	case s.endedAlone:
		s.emit(CloseStream{e.Stream})
		return
	case earlier == nil:
	case e.Stream < earlier.stream:
		s.refuseStream(e.Stream, j, "joined again on another stream")
		return
	case !earlier.fresh: // the worker is in the generation, and has received no membership
		j.Rank = earlier.Rank
		s.reattach(earlier, Resumed{Stream: e.Stream, Request: *j, Doing: OutOfGroup})
		return
	}
	s.admit(heldJoin{Joined: e}, earlier)
}

// admit decides on a join. earlier is the member that an earlier attempt of the same process has
// made, or nil.
func (s *State) admit(h heldJoin, earlier *member) {
	j := &h.Request
	switch code, text := s.refusalReason(j); {
	case text != "":
		s.refuse(h.Stream, j, code, text)
		return
	case s.phase == phaseEnded:
		s.emit(SendAbort{h.Stream, s.cause})
		return
	}
	if earlier == nil && s.placeTaken(h) {
		return
	}
	s.beginWaiting(j)
	if code, text := s.conflict(j); text != "" {
		s.fail(JoinCause(j, code, text), h.Stream)
		return
	}
	if s.worldSize == 0 || j.Rank >= s.worldSize {
		s.refuse(h.Stream, j, exitcode.Usage, fmt.Sprintf("rank is %d and world size %d, want a rank below the world size", j.Rank, s.worldSize))
		return
	}
	if o := s.referenceRequest(); o != nil {
		j.Agree = o.Agree // equal; keep one copy
	}
	if earlier != nil {
		s.replace(earlier)
	}
	delete(s.wait.absences, j.Rank)
	m := &member{Request: *j, stream: h.Stream, fresh: true, joined: s.clock.now, lastHeard: s.clock.awake, step: -1, wait: ring.Wait{Peer: -1}, place: ready}
	s.byStream[h.Stream] = m
	s.members = append(s.members, m)
	s.processesOf(j.Rank).joined = true
	if s.phase == phaseRegrouping {
		assignRanks(s.members)
	}
	s.startIfComplete()
}

// placeTaken holds or refuses a join for which no rank is free. It reports whether it did.
func (s *State) placeTaken(h heldJoin) bool {
	j := &h.Request
	owner := s.member(j.Rank)
	switch {
	case j.Rank < 0 && (s.phase == phaseEmpty || len(s.members) < s.worldSize), j.Rank >= 0 && owner == nil:
		return false
	case owner != nil && owner.present() && (h.ownerLives || !s.reachable(&owner.Worker)):
		s.refuse(h.Stream, j, exitcode.Retry, fmt.Sprintf("rank %d is taken by pid %d on %s (%s), which joined %v ago: started twice?",
			owner.Rank, owner.Worker.PID, owner.Worker.Host, owner.Worker.Addr, (s.clock.now-owner.joined).Round(time.Second)))
	case owner == nil && !slices.ContainsFunc(s.members, func(m *member) bool { return m.place == away }):
		s.refuse(h.Stream, j, exitcode.Retry, fmt.Sprintf("job %s is complete: %d of %d workers are here", s.jobID, len(s.members), s.worldSize))
	default:
		s.hold(h, owner)
	}
	return true
}

// hold keeps a join until it can be decided. A probe of the owner's port says whether the owner
// still lives: the end of its stream may be late.
func (s *State) hold(h heldJoin, owner *member) {
	s.held = slices.DeleteFunc(s.held, func(o heldJoin) bool {
		again := o.Request.Worker.Incarnation == h.Request.Worker.Incarnation && o.Stream != h.Stream
		if again {
			s.refuseStream(o.Stream, &o.Request, "joined again on another stream")
		}
		return again
	})
	s.held = append(s.held, h)
	text := "all ranks are taken, and some of them are not connected"
	if owner != nil {
		s.probeMember(owner)
		text = fmt.Sprintf("rank %d was pid %d on %s (%s)", owner.Rank, owner.Worker.PID, owner.Worker.Host, owner.Worker.Addr)
	}
	if owner == nil || !owner.present() {
		s.emit(SendNotice{h.Stream, text + ": waiting until it comes back or is lost"})
	}
}

// retryJoins decides each held join whose place is known by now.
func (s *State) retryJoins() {
	for i := 0; i < len(s.held); {
		h := s.held[i]
		if s.undecided(h) {
			i++
			continue
		}
		s.held = slices.Delete(s.held, i, i+1)
		if s.earlierAttempt(&h.Request) != nil { // the generation that was adopted names it
			s.join(h.Joined)
		} else {
			s.admit(h, nil)
		}
	}
}

// undecided reports whether it is still not known if there is a place for h.
func (s *State) undecided(h heldJoin) bool {
	if s.phase == phaseEnded || s.earlierAttempt(&h.Request) != nil {
		return false
	}
	if h.Request.Rank < 0 {
		return len(s.members) >= s.worldSize && slices.ContainsFunc(s.members, func(m *member) bool { return m.place == away })
	}
	owner := s.member(h.Request.Rank)
	return owner != nil && !(owner.present() && h.ownerLives)
}

// earlierAttempt returns the member that is the same process as j: the worker did not get the
// answer to an earlier join. It returns nil if there is none.
func (s *knownState) earlierAttempt(j *Request) *member {
	if j.Worker.Incarnation == 0 || j.JobID != "" && j.JobID != s.jobID {
		return nil
	}
	if m := s.memberOf(j.Worker.Incarnation); m != nil && (m.Rank == j.Rank || j.Rank < 0) {
		return m
	}
	return nil
}

// reported ends the start for all workers with the fault of one that will not join. A worker of
// another job is refused alone.
func (s *State) reported(e Reported) {
	switch code, text := s.refusalReason(&e.Request); {
	case text != "":
		s.refuse(e.Stream, &e.Request, code, text)
	case s.phase == phaseEnded:
		s.emit(SendAbort{e.Stream, s.cause})
	case s.inLife() && retryable(e.Cause), s.member(e.Request.Rank) != nil: // the rank may be started again, or another process has it
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
	if s.phase != phaseEmpty {
		return
	}
	s.phase = phaseForming
	s.startWait()
	s.jobID = cmp.Or(s.jobID, j.JobID, s.config.DefaultJobID)
	s.worldSize = cmp.Or(s.worldSize, j.WorldSize)
}

// refusalReason returns why a worker does not belong to this job, "" if it does.
func (s *State) refusalReason(j *Request) (code int, text string) {
	switch {
	case j.WorldSize > ring.MaxWorldSize || j.Rank >= ring.MaxWorldSize:
		return exitcode.Usage, fmt.Sprintf("rank is %d and world size %d, want at most %d workers", j.Rank, j.WorldSize, ring.MaxWorldSize)
	case s.otherJob(j):
		return exitcode.Retry, fmt.Sprintf("the rendezvous answers for job %s, not %s", s.jobID, j.JobID)
	case s.phase == phaseEnded && s.cause == nil:
		return exitcode.Retry, fmt.Sprintf("job %s has ended", s.jobID)
	}
	return 0, ""
}

// otherJob reports whether a worker asks for another job.
func (s *knownState) otherJob(j *Request) bool {
	return j.JobID != "" && s.jobID != "" && j.JobID != s.jobID
}

// conflict returns where a worker differs from the others, "" if it agrees with them.
func (s *State) conflict(j *Request) (code int, text string) {
	o := s.referenceRequest()
	if j.WorldSize != 0 && s.worldSize != 0 && j.WorldSize != s.worldSize {
		other := "at the rendezvous"
		if o != nil && o.WorldSize == s.worldSize {
			other = "on " + o.label()
		}
		return exitcode.Usage, fmt.Sprintf("world size is %d on %s and %d %s, want the same on all ranks", j.WorldSize, j.label(), s.worldSize, other)
	}
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
	if m.present() {
		s.refuseStream(m.stream, &m.Request, "joined again on another stream")
	}
	s.remove(m, "")
}

// referenceRequest returns what a worker must agree with: what the life has agreed on, or the
// request of the first member. It returns nil if there is none.
func (s *knownState) referenceRequest() *Request {
	switch {
	case s.known.Fence.Generation > 0:
		a, w := &s.known.Agreed, s.known.Workers[0]
		return &Request{Rank: w.Rank, WorldSize: a.WorldSize, Worker: w, Protocol: a.Protocol, Version: a.Version, Agree: a.Lines}
	case len(s.members) > 0:
		return &s.members[0].Request
	}
	return nil
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

func (s *knownState) refuse(stream uint64, j *Request, code int, text string) {
	s.emit(SendRefused{Stream: stream, Worker: j.Worker, Cause: JoinCause(j, code, text)})
}

// refuseStream ends a stream of a worker that has another one.
func (s *knownState) refuseStream(stream uint64, j *Request, text string) {
	s.emit(SendRefused{stream, j.Worker, JoinCause(j, exitcode.Retry, text), true})
}

// JoinCause returns the cause by which a worker that wants to join is refused.
func JoinCause(j *Request, code int, text string) *ring.Cause {
	return &ring.Cause{Rank: j.Rank, Host: j.Worker.Host, Step: -1, Operation: OpJoin, Text: text, ExitCode: code}
}

// label returns how messages name a worker.
func (r *Request) label() string {
	if r.Rank >= 0 {
		return fmt.Sprintf("rank %d", r.Rank)
	}
	return fmt.Sprintf("pid %d of %s", r.Worker.PID, r.Worker.Host)
}
