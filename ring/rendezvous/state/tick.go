package state

import (
	"fmt"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/awake"
)

// The timers that StateConfig does not have.
const (
	FirstReport        = 2 * time.Second  // from the first join, or a loss, to the first waiting report
	reportEvery        = 5 * time.Second  // between reports; all but rank 0 get every second one
	firstProbe         = 1 * time.Second  // so that the first report has reasons
	longestPause       = awake.Longest    // of our own clock that counts as others' silence
	silenceNoticeEvery = 10 * time.Second // of one worker's silence
)

// tick does what is due: losses by silence, the end of the wait, reports.
func (s *State) tick(e Tick) {
	gap := s.now - s.lastTick
	s.awake += min(gap, longestPause)
	s.lastTick = s.now
	if gap > max(longestPause, s.lease/2) {
		s.restartWaits(gap - longestPause)
	}
	s.noteJournalDelay(e.JournalDelay)
	switch s.phase {
	case phaseWaiting:
		s.tickWaiting()
	case phaseRunning:
		s.tickRunning()
	case phaseRecovering:
		s.tickRecovering()
	case phaseFinished:
		s.probeAwaited()
		s.finishWhenConfirmed()
	}
	if s.phase == phaseRunning || s.phase == phaseRecovering {
		s.notifyPause()
		s.probeAwaited()
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
		why := fmt.Sprintf("silent for %v", s.lease)
		s.refuse(m.stream, &m.Request, exitcode.Retry, why+" while others were awaited")
		s.remove(m, "was here, "+why)
	}
	if s.now-s.waitSince >= s.config.StartTimeout {
		s.fail(s.startTimeoutCause(s.config.StartTimeout))
		return
	}
	s.probeMissing()
	s.reportWaiting()
}

// tickRecovering bounds the wait for the next generation: for those who live by
// the lease, for those who are lost by the start timeout.
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

// silent returns the workers that were not heard of for the lease, but for those
// whose silence changes nothing: they have failed by another's fault.
func (s *State) silentMembers() []*member {
	var silent []*member
	for _, m := range s.members {
		if s.awake-m.lastHeard >= s.lease && !s.suspects(m) {
			silent = append(silent, m)
		}
	}
	return silent
}

// late returns the workers that live but are not ready for the next generation
// a lease after the end of theirs. One that evaluates or writes, and says so, has
// as long as the lost have to return: it leaves its group when that is done.
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

// lasts tells whether a worker may be in a phase for long, and hear nothing of the
// others meanwhile.
func isLongPhase(phase string) bool {
	switch phase {
	case "evaluate", "checkpoint", "export":
		return true
	}
	return false
}

// lateness tells why a worker counts as lost that is not silent.
func (m *member) lateReason(s *State) string {
	if m.stream == 0 {
		return fmt.Sprintf("has not come back in %v", s.lease)
	}
	return fmt.Sprintf("did not leave generation %d in %v", s.generation, s.lease)
}

// warnOfSilence names who may soon be lost, long before that with a long lease.
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

// healthy is how long a worker may be silent before people are told.
func (s *State) silenceNoticeAfter() time.Duration {
	return max(suspectAfter, min(silenceNoticeEvery, s.lease/2))
}

// silence tells people about a worker that was not heard of for a while.
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

// speaker is the worker that tells people: rank 0, or while ranks are not
// given the first that came.
func (s *State) noticeMember() *member {
	if m := s.member(0); m != nil {
		return m
	}
	if len(s.members) > 0 && s.members[0].Rank < 0 {
		return s.members[0]
	}
	return nil
}

// BeatEvery is the time between two heartbeats, either way.
const HeartbeatEvery = 1 * time.Second
