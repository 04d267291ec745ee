package rendezvous

import (
	"fmt"
	"slices"

	"ringtrain/ring"
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
		if m.Worker.Addr != "" {
			s.do(Probe{s.job, m.Rank, m.Worker.Addr})
		}
	}
	s.do(SendNotice{e.Stream, who + ": waiting to see whether it comes back"})
}

// awaited returns the worker of a rank if it is awaited back, or nil.
func (s *State) awaited(rank int) *member {
	if m := s.owner(rank); m != nil && m.absent() && (s.phase == running || s.phase == recovering) {
		return m
	}
	return nil
}

// ousted tells whether w listens where m did: of one host and port there is one
// listener.
func (m *member) ousted(w *ring.Worker) bool {
	o := &m.Worker
	return o.Addr != "" && o.Addr == w.Addr && o.HostID != "" && o.HostID == w.HostID && o.Incarnation != w.Incarnation
}

// probed takes in why nobody comes from where a rank is, or was. If nobody listens
// there any more, and somebody was started in its place, it is not awaited longer.
func (s *State) probed(e Probed) {
	s.learn(e.Rank, e.Reason)
	m := s.awaited(e.Rank)
	if e.Refused && m != nil && slices.ContainsFunc(s.held, func(h Joined) bool { return h.Request.Rank == e.Rank }) {
		s.lose(m.lost("nobody listens there, and it was started again"), m)
	}
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
