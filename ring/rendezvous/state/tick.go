package state

import (
	"time"

	"ringtrain/ring/internal/awake"
)

// Times that Config does not set.
const (
	FirstReport  = 2 * time.Second  // from the first join, or a loss, to the first waiting report
	reportEvery  = 5 * time.Second  // between waiting reports; ranks other than 0 get every second one
	firstProbe   = 1 * time.Second  // early enough to give reasons for the first waiting report
	longestPause = awake.MaxCounted // the longest time without a tick that counts as silence of others
)

// clock is the time of the state.
type clock struct {
	now          time.Duration // time of this step
	lastTick     time.Duration // time of the last tick
	listensSince time.Duration // end of the last pause of this process, or its start
	awake        time.Duration // awake time; see the package comment
}

// tick does what is due: losses by silence, the end of a wait, reports.
func (s *State) tick() {
	gap := s.clock.now - s.clock.lastTick
	s.clock.awake += min(gap, longestPause)
	s.clock.lastTick = s.clock.now
	if gap > max(longestPause, s.lease.current/2) {
		s.restartWaits(gap - longestPause)
	}
	s.probeAway()
	s.loseClosed()
	switch s.phase {
	case phaseForming:
		s.tickForming()
	case phaseRunning:
		s.tickRunning()
	case phaseRegrouping:
		s.tickRegrouping()
	case phaseEnded:
		s.finishWhenConfirmed()
	}
	if s.inLife() {
		s.notifySilence()
	}
}

func (s *State) tickForming() {
	s.dropSilent()
	s.startIfComplete()
	switch {
	case s.phase != phaseForming:
	case s.clock.now-s.wait.since >= s.config.StartTimeout && len(s.members) < s.worldSize:
		s.fail(s.startTimeoutCause(s.config.StartTimeout))
	default:
		s.probeMissing()
		s.reportWaiting()
	}
}

func (s *State) tickRunning() {
	s.loseSilent()
	if s.phase == phaseRunning {
		s.judgeSuspicions()
	}
	if s.inLife() {
		s.decideLeaving()
	}
	if s.phase == phaseRunning && len(s.suspicions.list) == 0 {
		s.checkStall()
	}
}

// tickRegrouping bounds the wait for the next generation by the start timeout.
func (s *State) tickRegrouping() {
	s.dropSilent()
	s.loseSilent()
	if s.inLife() {
		s.decideLeaving()
	}
	switch {
	case s.phase != phaseRegrouping:
	case s.clock.now-s.wait.since >= s.config.StartTimeout:
		s.fail(s.notReturnedCause(s.config.StartTimeout))
	default:
		s.startIfComplete()
		if s.phase == phaseRegrouping {
			s.probeMissing()
			s.reportWaiting()
		}
	}
}

// HeartbeatEvery is the longest time between two heartbeats in either direction.
const HeartbeatEvery = 250 * time.Millisecond

// BeatEvery returns the time between two heartbeats at the given lease.
func BeatEvery(lease time.Duration) time.Duration { return min(HeartbeatEvery, lease/20) }
