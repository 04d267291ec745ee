package state

import (
	"net"
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// A broken stream ends nothing. The member is away: it dials again, and meanwhile it trains on. Its
// port says whether its process still lives.

const (
	// portProbeEvery is the time between two probes of the port of a member that is away.
	portProbeEvery = 500 * time.Millisecond
	// goneAfter is how long a member is away at least before its closed port means its end: a
	// process that dials again may open its port anew.
	goneAfter = 300 * time.Millisecond
)

// streamBroken takes in the end of a stream. Before the first generation the rank is free again:
// its process may be started anew.
func (s *State) streamBroken(e StreamBroken) {
	s.held = slices.DeleteFunc(s.held, func(h heldJoin) bool { return h.Stream == e.Stream })
	m := s.byStream[e.Stream]
	switch {
	case m == nil:
	case m.fresh:
		s.remove(m, "was here, "+e.Reason)
	case e.Closed && s.inLife() && m.place != left:
		delete(s.byStream, m.stream)
		m.stream = 0
		s.lose(m.lossCause(e.Reason), true, m)
	default:
		s.sendAway(m, e.Reason)
	}
}

// sendAway notes that a member has no stream any more.
func (s *knownState) sendAway(m *member, reason string) {
	delete(s.byStream, m.stream)
	m.stream, m.brokeAt, m.breakReason, m.portClosed = 0, s.clock.now, reason, false
	if m.place != left {
		m.place = away
	}
	if s.phase != phaseEnded || s.endUntil != 0 {
		s.probeMember(m)
	}
}

// probeMember asks the port of a member whether its process still lives.
func (s *knownState) probeMember(m *member) {
	if m.Worker.Addr != "" && s.reachable(&m.Worker) {
		s.emit(Probe{s.jobID, m.Rank, m.Worker.Addr, m.Worker.Incarnation})
	}
}

// probeAway probes the ports of members that are away, and of the owners of ranks for which others
// have come.
func (s *State) probeAway() {
	if s.clock.now < s.nextProbe || s.phase == phaseEnded && s.endUntil == 0 {
		return
	}
	s.nextProbe = s.clock.now + portProbeEvery
	for _, m := range s.members {
		wanted := slices.ContainsFunc(s.held, func(h heldJoin) bool { return h.Request.Rank == m.Rank })
		if !m.present() || wanted {
			s.probeMember(m)
		}
	}
	for _, w := range s.known.Workers {
		if s.phase == phaseRegrouping && s.maybeAlive(w.Incarnation) && s.reachable(&w) {
			s.emit(Probe{s.jobID, w.Rank, w.Addr, w.Incarnation})
		}
	}
}

// maybeAlive reports whether a process is lost, and not known to have ended: it counts in a quorum.
func (s *knownState) maybeAlive(id uint64) bool {
	return slices.Contains(s.known.Lost, id) && !s.known.dead(id)
}

// reachable reports whether a dial from the rendezvous to the address of w reaches w.
func (s *knownState) reachable(w *ring.Worker) bool { return ReachableFrom(s.config.HostID, w) }

// ReachableFrom reports whether a dial from the host hostID to the address of w reaches w. A
// loopback address is valid in its own network namespace only.
func ReachableFrom(hostID string, w *ring.Worker) bool {
	host, _, err := net.SplitHostPort(w.Addr)
	ip := net.ParseIP(host)
	loopback := host == "localhost" || ip != nil && ip.IsLoopback()
	return err == nil && (!loopback || w.HostID == hostID)
}

// probed takes in the answer of a port.
func (s *State) probed(e Probed) {
	m := s.memberOf(e.Incarnation)
	switch {
	case e.Incarnation == 0:
		s.noteAbsence(e.Rank, e.Reason)
	case m == nil:
		if s.maybeAlive(e.Incarnation) && (e.Refused || e.Owner != 0 && e.Owner != e.Incarnation) {
			s.known.lose(e.Incarnation, true)
			s.startIfComplete()
		}
	case e.Refused || e.Owner != 0 && e.Owner != e.Incarnation:
		s.portAnswersForNobody(m)
	case e.Owner == e.Incarnation && e.Follows != 0 && e.Follows != s.config.Instance && !s.config.Unique:
		m.heard(s.clock.awake)
		if e.Follows > s.config.Instance {
			s.yield(m)
		}
	default:
		s.refuseDoubles(m)
	}
}

// portAnswersForNobody takes in that the process of a member does not listen any more. The end of
// its stream may be late.
func (s *regroupingState) portAnswersForNobody(m *member) {
	switch {
	case m.fresh:
		if m.present() {
			s.emit(CloseStream{m.stream})
		}
		s.remove(m, "was here, and nobody listens at its port")
		return
	case m.present():
		s.emit(CloseStream{m.stream})
		s.sendAway(m, "nobody listens at its port")
	}
	m.portClosed = true
	s.loseClosed()
}

// loseClosed loses the members whose port is closed and that do not come back.
func (s *regroupingState) loseClosed() {
	for _, m := range slices.Clone(s.members) {
		if m.portClosed && m.place == away && s.clock.now-m.brokeAt >= goneAfter && s.inLife() {
			s.lose(m.lossCause(m.breakReason+", and nobody listens at its port"), true, m)
		}
	}
}

// refuseDoubles refuses the held joins for the rank of a member that lives and is here.
func (s *State) refuseDoubles(m *member) {
	if !m.present() {
		return
	}
	for i := range s.held {
		if s.held[i].Request.Rank == m.Rank {
			s.held[i].ownerLives = true
		}
	}
}

// yield ends this rendezvous because a member follows another one at the same name. Its members
// dial again, and find the other one.
func (s *endingState) yield(m *member) {
	c := &ring.Cause{Rank: -1, Step: -1, Operation: "rendezvous", Peer: m.Worker.Addr, ExitCode: exitcode.Retry}
	c.Text = m.Request.label() + " follows another rendezvous of the same name, which goes on: started twice?"
	s.endAlone(c)
}

// endAlone ends this rendezvous with cause c, and not the job: all streams are closed, and the
// workers dial again.
func (s *endingState) endAlone(c *ring.Cause) {
	if s.phase == phaseEnded {
		return
	}
	for _, m := range s.members {
		if m.present() {
			s.emit(CloseStream{m.stream})
		}
	}
	for _, h := range s.held {
		s.emit(CloseStream{h.Stream})
	}
	s.phase, s.cause, s.held, s.endedAlone = phaseEnded, c, nil, true
	s.emit(Finish{c})
}
