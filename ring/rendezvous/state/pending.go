package state

import (
	"fmt"
	"net"
	"slices"

	"ringtrain/ring"
)

// placeUndecided reports whether it is not known yet if there is a free rank for j: the member with
// that rank is not connected. It may reconnect, or j may be its successor.
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

// deferJoin keeps a join until it can be decided, for the lease at most.
func (s *State) deferJoin(e Joined) {
	s.pendingJoins = append(s.pendingJoins, e)
	text := "all ranks are taken, and some of them are not connected"
	if m := s.member(e.Request.Rank); m != nil {
		text = fmt.Sprintf("rank %d was pid %d on %s (%s)", m.Rank, m.Worker.PID, m.Worker.Host, m.Worker.Addr)
		if m.Worker.Addr != "" && s.reachable(&m.Worker) {
			s.emit(Probe{s.jobID, m.Rank, m.Worker.Addr})
		}
	}
	s.emit(SendNotice{e.Stream, text + ": waiting until it reconnects or is lost"})
}

// reachable reports whether a dial from the rendezvous to the address of w reaches w.
func (s *State) reachable(w *ring.Worker) bool { return ReachableFrom(s.config.HostID, w) }

// ReachableFrom reports whether a dial from the host hostID to the address of w reaches w. A
// loopback address is valid in its own network namespace only.
func ReachableFrom(hostID string, w *ring.Worker) bool {
	host, _, err := net.SplitHostPort(w.Addr)
	ip := net.ParseIP(host)
	loopback := host == "localhost" || ip != nil && ip.IsLoopback()
	return err == nil && (!loopback || w.HostID == hostID)
}

// awaitedMember returns the member of a rank if it is awaited back, or nil.
func (s *State) awaitedMember(rank int) *member {
	if m := s.member(rank); m != nil && m.awaitedBack() && (s.phase == phaseRunning || s.phase == phaseRecovering) {
		return m
	}
	return nil
}

// displacedMember returns the awaited member whose place j takes because j listens at the same
// address on the same host. The old process is dead: its port has a new owner.
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

// probed takes in the result of a probe. If nobody listens at the port of an awaited member, the
// member is lost, provided that its stream broke or its successor has come.
func (s *State) probed(e Probed) {
	s.noteAbsence(e.Rank, e.Reason)
	m := s.member(e.Rank)
	switch {
	case !e.Refused || m == nil || !m.awaitedBack():
	case s.phase == phaseFinished:
		m.stopAwaiting() // the end does not wait for m
	case s.awaitedMember(e.Rank) == nil:
	case slices.ContainsFunc(s.pendingJoins, func(h Joined) bool { return h.Request.Rank == e.Rank }):
		s.lose(m.lossCause("nobody listens at its port, and a successor has come"), m)
	case m.breakReason != "" && !m.progress.left():
		s.lose(m.lossCause(m.breakReason+", and nobody listens at its port"), m)
	}
}

// retryJoins joins each deferred worker whose place is decided by now.
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

// dropJoin drops a deferred join whose stream broke.
func (s *State) dropJoin(stream uint64) {
	s.pendingJoins = slices.DeleteFunc(s.pendingJoins, func(e Joined) bool { return e.Stream == stream })
}
