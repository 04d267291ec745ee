package state

import (
	"fmt"
	"net"
	"slices"

	"ringtrain/ring"
)

// undecided tells whether it is still to be seen if j has a place: the worker that
// has it is not connected. It may come back, or may be what j was started for.
func (s *State) placeUndecided(j *Request) bool {
	if s.phase != phaseRunning && s.phase != phaseRecovering || j.JobID != "" && j.JobID != s.jobID {
		return false
	}
	if j.Rank >= 0 {
		m := s.member(j.Rank)
		return m != nil && m.stream == 0 && m.Worker.Incarnation != j.Worker.Incarnation
	}
	return len(s.members) == s.worldSize && slices.ContainsFunc(s.members, func(m *member) bool { return m.stream == 0 })
}

// hold keeps a join until it is decided, which the lease bounds.
func (s *State) deferJoin(e Joined) {
	s.pendingJoins = append(s.pendingJoins, e)
	who := "all ranks are taken, and some of them are not connected"
	if m := s.member(e.Request.Rank); m != nil {
		who = fmt.Sprintf("rank %d was pid %d on %s (%s)", m.Rank, m.Worker.PID, m.Worker.Host, m.Worker.Addr)
		if m.Worker.Addr != "" && s.reachable(&m.Worker) {
			s.emit(Probe{s.jobID, m.Rank, m.Worker.Addr})
		}
	}
	s.emit(SendNotice{e.Stream, who + ": waiting to see whether it comes back"})
}

// sees tells whether a dial from here to where w listens says something of w.
func (s *State) reachable(w *ring.Worker) bool { return ReachableFrom(s.config.HostID, w) }

// ReachableFrom tells whether a dial from a host to where w listens says something of w: a
// loopback address means another listener in each network namespace.
func ReachableFrom(hostID string, w *ring.Worker) bool {
	host, _, err := net.SplitHostPort(w.Addr)
	ip := net.ParseIP(host)
	local := host == "localhost" || ip != nil && ip.IsLoopback()
	return err == nil && (!local || w.HostID == hostID)
}

// awaited returns the worker of a rank if it is awaited back, or nil.
func (s *State) awaitedMember(rank int) *member {
	if m := s.member(rank); m != nil && m.awaitedBack() && (s.phase == phaseRunning || s.phase == phaseRecovering) {
		return m
	}
	return nil
}

// ousted returns the worker that is awaited back and whose place j can have, if j
// listens where that one did: of one host and port there is one listener.
func (s *State) displacedMember(j *Request) *member {
	if j.JobID != "" && j.JobID != s.jobID {
		return nil
	}
	for _, m := range s.members {
		o := &m.Worker
		if o.Addr != "" && o.Addr == j.Worker.Addr && o.HostID != "" && o.HostID == j.Worker.HostID && o.Incarnation != j.Worker.Incarnation &&
			(j.Rank < 0 || j.Rank == m.Rank) && s.awaitedMember(m.Rank) == m {
			return m
		}
	}
	return nil
}

// probed takes in why nobody comes from where a rank is, or was. If nobody listens
// there any more, and its stream was seen to break or somebody was started in its
// place, it is not awaited longer.
func (s *State) probed(e Probed) {
	s.noteAbsence(e.Rank, e.Reason)
	m := s.member(e.Rank)
	switch {
	case !e.Refused || m == nil || !m.awaitedBack():
	case s.phase == phaseFinished:
		m.setLost() // the end need not wait for it
	case s.awaitedMember(e.Rank) == nil:
	case slices.ContainsFunc(s.pendingJoins, func(h Joined) bool { return h.Request.Rank == e.Rank }):
		s.lose(m.lossCause("nobody listens there, and it was started again"), m)
	case m.breakReason != "" && !m.progress.left():
		s.lose(m.lossCause(m.breakReason+", and nobody listens there"), m)
	}
}

// release joins those again that were held, if they have a place by now or never will.
func (s *State) retryJoins() {
	for i := 0; i < len(s.pendingJoins); {
		if e := s.pendingJoins[i]; s.placeUndecided(&e.Request) {
			i++
		} else {
			s.pendingJoins = slices.Delete(s.pendingJoins, i, i+1)
			s.join(e)
		}
	}
}

// forget drops a held join whose stream broke.
func (s *State) dropJoin(stream uint64) {
	s.pendingJoins = slices.DeleteFunc(s.pendingJoins, func(e Joined) bool { return e.Stream == stream })
}
