package state

import (
	"fmt"
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// A process is stopped (SIGSTOP), its machine is paused, or it gets no processor. Then it
// hears nothing of its workers, and they nothing of it. They take it for lost. The state
// sees its own pause by the ticks that did not come.
//
// The workers of a rendezvous with a journal go on, and come back. Their streams break
// by the pause, so a broken stream proves nothing for as long as they need for that. The
// port of a worker still does: nobody listens where a process has ended. A worker that
// gives its stream up says so: that is heard also where our clock has not seen the pause.
//
// The workers of any other rendezvous end. The first that is heard of is no culprit.

// givenUp is how long after a pause of ours the ends of workers are put down to it. All
// that happened meanwhile is heard of at once.
const givenUp = 1 * time.Second

// probeAgain is the time between two looks at the ports of workers whose streams broke
// by a pause. The first comes as late: most of them are back by then.
const probeAgain = 500 * time.Millisecond

// notePause detects that no tick came for so long that workers may have given the
// rendezvous up.
func (s *State) notePause() {
	gap := s.now - s.ticked
	switch {
	case s.c.Durable && gap >= s.lease-2*beatEvery(s.lease):
		s.awaitBack(gap)
	case !s.c.Durable && gap > s.lease && s.generation > 0:
		s.pause, s.paused = gap, s.now
	}
}

// beatEvery is the time between two heartbeats at a lease. A worker may have heard the
// last one before our pause so long ago, and it counts in such units.
func beatEvery(lease time.Duration) time.Duration { return min(BeatEvery, lease/3) }

// awaitBack gives every worker a lease from now to come back. No clock has run meanwhile
// for anybody: neither for the lost to return, nor for better evidence to arrive.
func (s *State) awaitBack(gap time.Duration) {
	s.awake += min(gap, longestPause)
	s.ticked = s.now
	s.oversleep(gap)
	s.mercy, s.lookAt = s.now+s.grace(), s.now+probeAgain
	later := s.awake + s.grace() - s.lease
	for _, m := range s.here {
		m.heard, m.warn = max(m.heard, later), 0
	}
	s.endedAt = max(s.endedAt, later)
	if s.settle != 0 {
		s.settle = max(s.settle, s.now+leaveTime)
	}
	if s.farewell != 0 {
		s.farewell = max(s.farewell, s.now+s.grace())
	}
	if s.generation > 0 {
		s.pause, s.paused = gap, s.now
	}
}

// grace is how long a worker may take to come back: the lease, and the moment that it
// needs however short that is.
func (s *State) grace() time.Duration { return max(s.lease, returnTime) }

// oversleep starts every wait for others anew after a pause of our own, however short:
// nobody was heard meanwhile, and no clock has run for those who are awaited. The workers
// may have been stopped, too, as by Ctrl-Z, and wake after the rendezvous.
func (s *State) oversleep(pause time.Duration) {
	s.began += pause
	s.endedAt = max(s.endedAt, s.awake)
	s.decide = max(s.decide, s.now+suspicionTime)
	for _, m := range s.here {
		m.heard, m.still = max(m.heard, s.awake), s.awake
	}
}

// tellPause tells people of the last pause, once.
func (s *State) tellPause() {
	if !s.c.Durable || s.pause == 0 {
		return
	}
	s.warn(fmt.Sprintf("the rendezvous stood still for %v (stopped, or starved): the ranks have %v to come back to it",
		s.pause.Round(100*time.Millisecond), (s.mercy-s.paused).Round(100*time.Millisecond)), nil)
	s.pause = 0
}

// goneAway takes in that a worker has heard nothing of us for the lease. Our clock need not
// have seen why: that of a machine that is paused stands, too.
func (s *State) goneAway(e Away) {
	if m := s.byID[e.Stream]; m != nil && s.c.Durable && m.connection == connOpen {
		m.connection = connClosing
	}
}

// merciful reports whether a stream that breaks now may have broken by our pause. closing
// says that the worker has announced it.
func (s *State) merciful(closing bool) bool {
	return (s.now < s.mercy || closing) && (s.phase == running || s.phase == recovering)
}

// await keeps the place of a worker whose stream broke by our pause. The worker says
// again what was not answered, so what it has said of others is dropped: if it does not
// come back it may itself be what they have met.
func (s *State) await(m *member, why string, closing bool) {
	if m.progress == readyForNext {
		m.progress = inGeneration
	}
	m.broke = why
	if closing {
		m.heard = max(m.heard, s.awake+s.grace()-s.lease)
		s.lookAt = s.now + probeAgain
	}
	s.suspicions = slices.DeleteFunc(s.suspicions, func(x suspicion) bool { return x.by == m })
}

// lookAfter looks at the ports of workers that have not come back yet.
func (s *State) lookAfter() {
	if s.now < s.lookAt || s.phase == finished && s.farewell == 0 {
		return
	}
	s.lookAt = s.now + probeAgain
	for _, m := range s.here {
		if m.broke != "" && m.absent() && (!m.progress.left() || s.phase == finished) && m.Worker.Addr != "" && s.sees(&m.Worker) {
			s.do(Probe{s.job, m.Rank, m.Worker.Addr})
		}
	}
}

// ours is the cause of a loss. Just after a pause of our own that is the pause: the workers
// have given the rendezvous up, and who is heard of first is no culprit. A process that has
// ended with any other code has a cause of its own.
func (s *State) ours(c *ring.Cause) *ring.Cause {
	if s.c.Durable || s.pause == 0 || s.now-s.paused > givenUp || c.ExitCode != exitcode.Retry {
		return c
	}
	text := fmt.Sprintf("the rendezvous stood still for %v (stopped, or starved): workers give it up after %v",
		s.pause.Round(time.Second), s.lease)
	return &ring.Cause{Rank: -1, Step: c.Step, Text: text, ExitCode: c.ExitCode}
}
