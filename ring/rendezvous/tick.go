package rendezvous

import (
	"fmt"
	"slices"
	"time"

	"ringtrain/ring/exitcode"
)

// The timers that StateConfig does not have.
const (
	firstReport  = 2 * time.Second        // from the first join to the first waiting report
	reportEvery  = 5 * time.Second        // between reports; all but rank 0 get every second one
	firstProbe   = 1 * time.Second        // so that the first report has reasons
	longestPause = 500 * time.Millisecond // of our own clock that counts as others' silence
)

// tick does what is due: losses by silence, the end of the wait, reports.
func (s *State) tick() {
	s.awake += min(s.now-s.ticked, longestPause)
	s.ticked = s.now
	switch s.phase {
	case running:
		if m := s.silent(); m != nil && !s.suspects(m) {
			s.fail(m.lost(fmt.Sprintf("silent for %v", s.c.Lease)))
		}
		s.judge()
	case waiting:
		for m := s.silent(); m != nil; m = s.silent() {
			why := fmt.Sprintf("silent for %v", s.c.Lease)
			s.refuse(m.stream, &m.Request, exitcode.Retry, why+" while others were awaited")
			s.remove(m, "was here, "+why)
		}
		if s.now-s.first >= s.c.StartTimeout {
			s.fail(s.absent())
			return
		}
		s.probeMissing()
		s.reportWaiting()
	}
}

// silent returns a worker that was not heard of for the lease, or nil.
func (s *State) silent() *member {
	i := slices.IndexFunc(s.here, func(m *member) bool { return s.awake-m.heard >= s.c.Lease })
	if i < 0 {
		return nil
	}
	return s.here[i]
}

func (s *State) probeMissing() {
	if s.now < s.probe {
		return
	}
	s.probe = s.now + reportEvery
	for rank, addr := range s.c.Listed {
		if addr != "" && rank < s.size && s.owner(rank) == nil {
			s.do(Probe{rank, addr})
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
		Remaining: s.c.StartTimeout - (s.now - s.first),
	}
	for _, m := range s.here {
		if !s.odd || m == s.speaker() {
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
