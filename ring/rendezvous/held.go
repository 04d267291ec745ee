package rendezvous

import (
	"fmt"
	"slices"
)

// undecided tells whether it is still to be seen if j has a place: the worker that
// has it is not connected. It may come back, or may be what j was started for.
func (s *State) undecided(j *Request) bool {
	if s.phase != running && s.phase != recovering || j.JobID != "" && j.JobID != s.job {
		return false
	}
	if j.Rank >= 0 {
		m := s.owner(j.Rank)
		return m != nil && m.stream == 0 && m.Worker.Incarnation != j.Worker.Incarnation
	}
	return len(s.here) == s.size && slices.ContainsFunc(s.here, func(m *member) bool { return m.stream == 0 })
}

// hold keeps a join until it is decided, which the lease bounds.
func (s *State) hold(e Joined) {
	s.held = append(s.held, e)
	who := "all ranks are taken, and some of them are not connected"
	if m := s.owner(e.Request.Rank); m != nil {
		who = fmt.Sprintf("rank %d was pid %d on %s (%s)", m.Rank, m.Worker.PID, m.Worker.Host, m.Worker.Addr)
	}
	s.do(SendNotice{e.Stream, who + ": waiting to see whether it comes back"})
}

// release joins those again that were held, if they have a place by now or never will.
func (s *State) release() {
	for i := 0; i < len(s.held); {
		if e := s.held[i]; s.undecided(&e.Request) {
			i++
		} else {
			s.held = slices.Delete(s.held, i, i+1)
			s.join(e)
		}
	}
}

// forget drops a held join whose stream broke.
func (s *State) forget(stream uint64) {
	s.held = slices.DeleteFunc(s.held, func(e Joined) bool { return e.Stream == stream })
}
