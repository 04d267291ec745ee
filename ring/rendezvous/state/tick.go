package state

import (
	"fmt"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/awake"
)

// Times that Config does not set.
const (
	FirstReport        = 2 * time.Second  // from the first join, or a loss, to the first waiting report
	reportEvery        = 5 * time.Second  // between waiting reports; ranks other than 0 get every second one
	firstProbe         = 1 * time.Second  // early enough to give reasons for the first waiting report
	longestPause       = awake.MaxCounted // the longest time without a tick that counts as silence of others
	silenceNoticeEvery = 10 * time.Second // between notices about the silence of one worker
)

// tick does what is due: losses by silence, the end of a wait, reports.
func (s *State) tick() {
	gap := s.now - s.lastTick
	s.awake += min(gap, longestPause)
	s.lastTick = s.now
	if gap > max(longestPause, s.lease/2) {
		s.restartWaits(gap - longestPause)
	}
	switch s.phase {
	case phaseWaiting:
		s.tickWaiting()
	case phaseRunning:
		s.tickRunning()
	case phaseRecovering:
		s.tickRecovering()
	}
	if s.phase == phaseRunning || s.phase == phaseRecovering {
		s.notifySilence()
	}
}

func (s *State) tickRunning() {
	if silent := s.silentMembers(); len(silent) > 0 {
		s.lose(silent[0].lossCause(fmt.Sprintf("silent for %v", s.lease)), silent...)
	} else {
		s.judgeSuspicions()
	}
	if s.phase == phaseRunning {
		s.decideLeaving()
	}
	if s.phase == phaseRunning && len(s.suspicions) == 0 {
		s.checkStall()
	}
}

func (s *State) tickWaiting() {
	for _, m := range s.silentMembers() {
		reason := fmt.Sprintf("silent for %v", s.lease)
		s.refuse(m.stream, &m.Request, exitcode.Retry, reason+" while others were awaited")
		s.remove(m, "was here, "+reason)
	}
	if s.now-s.waitSince >= s.config.StartTimeout {
		s.fail(s.startTimeoutCause(s.config.StartTimeout))
		return
	}
	s.probeMissing()
	s.reportWaiting()
}

// tickRecovering bounds the wait for the next generation: by the lease for its members, by the
// start timeout for lost ranks.
func (s *State) tickRecovering() {
	if silent := s.silentMembers(); len(silent) > 0 {
		s.lose(silent[0].lossCause(fmt.Sprintf("silent for %v", s.lease)), silent...)
	}
	if late := s.lateMembers(); s.phase == phaseRecovering && len(late) > 0 {
		s.lose(late[0].lossCause(late[0].lateReason(s)), late...)
	}
	switch {
	case s.phase != phaseRecovering:
	case s.now-s.waitSince >= s.config.StartTimeout && len(s.members) < s.worldSize:
		s.fail(s.notReturnedCause(s.config.StartTimeout))
	default:
		s.probeMissing()
		if len(s.members) < s.worldSize {
			s.reportWaiting()
		}
	}
}

// silentMembers returns the members without a heartbeat for the lease. It leaves out members that
// have blamed another: their silence changes nothing.
func (s *State) silentMembers() []*member {
	var silent []*member
	for _, m := range s.members {
		if s.awake-m.lastHeard >= s.lease && !s.suspects(m) {
			silent = append(silent, m)
		}
	}
	return silent
}

// lateMembers returns the members that are not ready for the next generation a lease after the end
// of theirs. A member in a long phase has the start timeout: it leaves its group after the phase.
func (s *State) lateMembers() []*member {
	since := s.awake - s.generationEnded
	var late []*member
	for _, m := range s.members {
		limit := s.lease
		if m.stream != 0 && isLongPhase(m.phase) {
			limit = max(limit, s.config.StartTimeout)
		}
		if m.progress != readyForNext && since >= limit {
			late = append(late, m)
		}
	}
	return late
}

// isLongPhase reports whether a worker may be in a phase for long without an exchange with others.
func isLongPhase(phase string) bool {
	switch phase {
	case "evaluate", "checkpoint", "export":
		return true
	}
	return false
}

// lateReason returns why a late member counts as lost.
func (m *member) lateReason(s *State) string {
	if m.stream == 0 {
		return fmt.Sprintf("has not come back in %v", s.lease)
	}
	return fmt.Sprintf("did not leave generation %d in %v", s.generation, s.lease)
}

// notifySilence names silent members to people, long before a long lease ends.
func (s *State) notifySilence() {
	after := s.silenceNoticeAfter()
	for _, m := range s.members {
		silence := s.awake - m.lastHeard
		if silence < after || silence >= s.lease || s.awake < m.nextSilenceNotice {
			continue
		}
		m.nextSilenceNotice = s.awake + silenceNoticeEvery
		s.notify(m.silenceText(silence, s.lease), m)
	}
}

// silenceNoticeAfter returns the silence after which people are notified.
func (s *State) silenceNoticeAfter() time.Duration {
	return max(suspectAfter, min(silenceNoticeEvery, s.lease/2))
}

// silenceText returns the notice about a silent member.
func (m *member) silenceText(silence, lease time.Duration) string {
	last := ""
	if m.phase != "" {
		last = fmt.Sprintf(", last heard at step %d in %s", m.step, m.phase)
	}
	return fmt.Sprintf("rank %d (%s %s) is silent for %d s%s; it counts as lost after %v",
		m.Rank, m.Worker.Host, m.Worker.Addr, int64(silence.Seconds()), last, lease)
}

func (s *State) probeMissing() {
	if s.now < s.nextProbe {
		return
	}
	s.nextProbe = s.now + reportEvery
	for rank, addr := range s.config.Addrs {
		if addr != "" && rank < s.worldSize && s.member(rank) == nil {
			s.emit(Probe{s.jobID, rank, addr})
		}
	}
}

func (s *State) reportWaiting() {
	if s.now < s.nextReport {
		return
	}
	s.nextReport = s.now + reportEvery
	w := Waiting{
		Present: len(s.members), WorldSize: s.worldSize, Missing: s.missing(maxMissing),
		Remaining: s.config.StartTimeout - (s.now - s.waitSince),
	}
	for _, m := range s.members {
		if m.stream != 0 && (!s.reportRank0Only || m == s.noticeMember()) {
			s.emit(SendWaiting{m.stream, w})
		}
	}
	s.reportRank0Only = !s.reportRank0Only
}

// noticeMember returns the member that shows notices: rank 0, or the first member while ranks are
// not assigned.
func (s *State) noticeMember() *member {
	if m := s.member(0); m != nil {
		return m
	}
	if len(s.members) > 0 && s.members[0].Rank < 0 {
		return s.members[0]
	}
	return nil
}

// HeartbeatEvery is the time between two heartbeats in either direction.
const HeartbeatEvery = 1 * time.Second
