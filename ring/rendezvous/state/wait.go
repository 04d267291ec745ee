package state

import (
	"fmt"
	"time"

	"ringtrain/ring"
)

// wait is the wait for ranks: of the first generation, or of the next one.
type wait struct {
	since       time.Duration   // the first join, or the end of the generation
	absences    map[int]absence // missing ranks
	nextReport  time.Duration   // time of the next waiting report
	nextProbe   time.Duration   // time of the next probes of missing ranks
	toRank0Only bool            // the next waiting report goes to rank 0 alone
}

// absence holds since when and why a rank is missing.
type absence struct {
	since  time.Duration
	reason string
}

// startWait starts the wait for ranks.
func (s *knownState) startWait() {
	now := s.clock.now
	s.clock.lastTick = now
	s.wait.since, s.wait.nextReport, s.wait.nextProbe, s.wait.toRank0Only = now, now+FirstReport, now+firstProbe, false
}

// noteAbsence stores why a rank is missing. It may be called before the first join, when the world
// size may be unknown.
func (s *knownState) noteAbsence(rank int, reason string) {
	if s.phase == phaseRunning || s.phase == phaseEnded || rank < 0 || rank >= ring.MaxWorldSize || s.member(rank) != nil {
		return
	}
	a, ok := s.wait.absences[rank]
	switch {
	case ok:
	case s.phase == phaseForming:
		a.since = s.wait.since
	default:
		a.since = s.clock.now
	}
	a.reason = reason
	s.wait.absences[rank] = a
}

// awaitedReason returns why the next generation waits for a member, "" if it does not.
func (s *knownState) awaitedReason(m *member) string {
	switch {
	case s.phase != phaseRegrouping || m.place == ready:
		return ""
	case m.place == away:
		return "has no connection to the rendezvous: " + m.breakReason
	}
	return fmt.Sprintf("has not left generation %d", s.known.Fence.Generation)
}

func (s *State) probeMissing() {
	if s.clock.now < s.wait.nextProbe {
		return
	}
	s.wait.nextProbe = s.clock.now + reportEvery
	for rank, addr := range s.config.Addrs {
		if addr != "" && rank < s.worldSize && s.member(rank) == nil {
			s.emit(Probe{s.jobID, rank, addr, 0})
		}
	}
}

func (s *State) reportWaiting() {
	if s.clock.now < s.wait.nextReport {
		return
	}
	s.wait.nextReport = s.clock.now + reportEvery
	w := Waiting{
		Present: s.readyCount(), WorldSize: s.worldSize, Missing: s.missing(maxMissing),
		Remaining: s.config.StartTimeout - (s.clock.now - s.wait.since),
	}
	for _, m := range s.members {
		if m.place == ready && (!s.wait.toRank0Only || m == s.noticeMember()) {
			s.emit(SendWaiting{m.stream, w})
		}
	}
	s.wait.toRank0Only = !s.wait.toRank0Only
}

// noticeMember returns the member that shows notices: rank 0, or the first member while ranks are
// not assigned.
func (s *knownState) noticeMember() *member {
	if m := s.member(0); m != nil {
		return m
	}
	if len(s.members) > 0 && s.members[0].Rank < 0 {
		return s.members[0]
	}
	return nil
}
