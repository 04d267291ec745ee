package state

import (
	"fmt"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/awake"
)

// The timers that StateConfig does not have.
const (
	FirstReport  = 2 * time.Second  // from the first join, or a loss, to the first waiting report
	reportEvery  = 5 * time.Second  // between reports; all but rank 0 get every second one
	firstProbe   = 1 * time.Second  // so that the first report has reasons
	longestPause = awake.Longest    // of our own clock that counts as others' silence
	warnEvery    = 10 * time.Second // of one worker's silence
)

// tick does what is due: losses by silence, the end of the wait, reports.
func (s *State) tick(e Tick) {
	gap := s.now - s.ticked
	s.awake += min(gap, longestPause)
	s.ticked = s.now
	if gap > max(longestPause, s.lease/2) {
		s.oversleep(gap - longestPause)
	}
	s.awaitJournal(e.Behind)
	switch s.phase {
	case waiting:
		s.tickWaiting()
	case running:
		s.tickRunning()
	case recovering:
		s.tickRecovering()
	case finished:
		s.lookAfter()
		s.bidFarewell()
	}
	if s.phase == running || s.phase == recovering {
		s.tellPause()
		s.lookAfter()
		s.warnOfSilence()
	}
}

func (s *State) tickRunning() {
	if silent := s.silent(); len(silent) > 0 {
		s.lose(silent[0].lost(fmt.Sprintf("silent for %v", s.lease)), silent...)
	} else {
		s.judge()
	}
	if s.phase == running {
		s.settleLeaving()
	}
	if s.phase == running && len(s.suspicions) == 0 {
		s.examine()
	}
}

func (s *State) tickWaiting() {
	for _, m := range s.silent() {
		why := fmt.Sprintf("silent for %v", s.lease)
		s.refuse(m.stream, &m.Request, exitcode.Retry, why+" while others were awaited")
		s.remove(m, "was here, "+why)
	}
	if s.now-s.began >= s.c.StartTimeout {
		s.fail(s.absent(s.c.StartTimeout))
		return
	}
	s.probeMissing()
	s.reportWaiting()
}

// tickRecovering bounds the wait for the next generation: for those who live by
// the lease, for those who are lost by the start timeout.
func (s *State) tickRecovering() {
	if silent := s.silent(); len(silent) > 0 {
		s.lose(silent[0].lost(fmt.Sprintf("silent for %v", s.lease)), silent...)
	}
	if late := s.late(); s.phase == recovering && len(late) > 0 {
		s.lose(late[0].lost(late[0].lateness(s)), late...)
	}
	switch {
	case s.phase != recovering:
	case s.now-s.began >= s.c.StartTimeout && len(s.here) < s.size:
		s.fail(s.unreturned(s.c.StartTimeout))
	default:
		s.probeMissing()
		if len(s.here) < s.size {
			s.reportWaiting()
		}
	}
}

// silent returns the workers that were not heard of for the lease, but for those
// whose silence changes nothing: they have failed by another's fault.
func (s *State) silent() []*member {
	var silent []*member
	for _, m := range s.here {
		if s.awake-m.heard >= s.lease && !s.suspects(m) {
			silent = append(silent, m)
		}
	}
	return silent
}

// late returns the workers that live but are not ready for the next generation
// a lease after the end of theirs. One that evaluates or writes, and says so, has
// as long as the lost have to return: it leaves its group when that is done.
func (s *State) late() []*member {
	since := s.awake - s.endedAt
	var late []*member
	for _, m := range s.here {
		limit := s.lease
		if m.stream != 0 && lasts(m.doing) {
			limit = max(limit, s.c.StartTimeout)
		}
		if m.progress != readyForNext && since >= limit {
			late = append(late, m)
		}
	}
	return late
}

// lasts tells whether a worker may be in a phase for long, and hear nothing of the
// others meanwhile.
func lasts(phase string) bool {
	switch phase {
	case "evaluate", "checkpoint", "export":
		return true
	}
	return false
}

// lateness tells why a worker counts as lost that is not silent.
func (m *member) lateness(s *State) string {
	if m.stream == 0 {
		return fmt.Sprintf("has not come back in %v", s.lease)
	}
	return fmt.Sprintf("did not leave generation %d in %v", s.generation, s.lease)
}

// warnOfSilence names who may soon be lost, long before that with a long lease.
func (s *State) warnOfSilence() {
	after := s.healthy()
	for _, m := range s.here {
		silence := s.awake - m.heard
		if silence < after || silence >= s.lease || s.awake < m.warn {
			continue
		}
		m.warn = s.awake + warnEvery
		s.warn(m.silence(silence, s.lease), m)
	}
}

// healthy is how long a worker may be silent before people are told.
func (s *State) healthy() time.Duration { return max(suspectAfter, min(warnEvery, s.lease/2)) }

// silence tells people about a worker that was not heard of for a while.
func (m *member) silence(silence, lease time.Duration) string {
	last := ""
	if m.doing != "" {
		last = fmt.Sprintf(", last heard at step %d in %s", m.step, m.doing)
	}
	return fmt.Sprintf("rank %d (%s %s) is silent for %d s%s; it counts as lost after %v",
		m.Rank, m.Worker.Host, m.Worker.Addr, int64(silence.Seconds()), last, lease)
}

func (s *State) probeMissing() {
	if s.now < s.probe {
		return
	}
	s.probe = s.now + reportEvery
	for rank, addr := range s.c.Listed {
		if addr != "" && rank < s.size && s.owner(rank) == nil {
			s.do(Probe{s.job, rank, addr})
		}
	}
}

func (s *State) reportWaiting() {
	if s.now < s.report {
		return
	}
	s.report = s.now + reportEvery
	w := Waiting{
		Present: len(s.here), WorldSize: s.size, Missing: s.missing(maxMissing),
		Remaining: s.c.StartTimeout - (s.now - s.began),
	}
	for _, m := range s.here {
		if m.stream != 0 && (!s.odd || m == s.speaker()) {
			s.do(SendWaiting{m.stream, w})
		}
	}
	s.odd = !s.odd
}

// speaker is the worker that tells people: rank 0, or while ranks are not
// given the first that came.
func (s *State) speaker() *member {
	if m := s.owner(0); m != nil {
		return m
	}
	if len(s.here) > 0 && s.here[0].Rank < 0 {
		return s.here[0]
	}
	return nil
}

// BeatEvery is the time between two heartbeats, either way.
const BeatEvery = 1 * time.Second
