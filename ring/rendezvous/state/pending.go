package state

import (
	"fmt"
	"slices"
)

// placeUndecided reports whether it is not known yet if there is a free rank for j: the member with
// that rank has no stream, and is not lost yet.
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
	}
	s.emit(SendNotice{e.Stream, text + ": waiting until it is lost"})
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
