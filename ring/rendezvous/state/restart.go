package state

import (
	"fmt"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// A launcher starts a process for each rank, and another one when that has ended. It
// reports each start and each end, and gets a [Verdict]. Restarts are counted here
// alone: a loss that was charged when the worker's stream broke costs nothing more when
// its process is reported.

const (
	// mostVain is how many processes of a rank in a row may end within vainTime of their
	// start while nobody has ever joined. Such a rank is in a loop, although no generation
	// shows that: the program never joins. Once somebody has joined, the start timeout
	// bounds the wait for a rank whose processes end before they do.
	mostVain = 5
	vainTime = 10 * time.Second

	// The delay before a rank is started again whose last process came to nothing. It
	// doubles from the first to the last of them in a row.
	firstDelay = time.Second
	lastDelay  = 30 * time.Second
)

// Verdict is what comes of the end of a rank's process.
type Verdict struct {
	Again bool          // start the rank again
	After time.Duration // that long from now
}

// GaveUp is why a job has ended that could have been started again.
type GaveUp struct {
	Rank int    // that ended one generation after the other without a completed step; -1: none did
	Why  string // and what would have helped; "": the job was not given up
}

// trial is what is known of the processes of a rank, one after the other.
type trial struct {
	since   time.Duration // when the last one was started
	joined  bool          // it has joined
	met     bool          // it has been in a generation
	charged bool          // its loss has used a restart
	vain    int           // processes in a row that came to nothing: they ended without having joined
	quick   int           // the newest of these, in a row, that ended within vainTime
}

// trial returns that of a rank, which it makes if it has to.
func (s *State) trial(rank int) *trial {
	t := s.trials[rank]
	if t == nil {
		t = &trial{}
		s.trials[rank] = t
	}
	return t
}

func (s *State) started(e Started) { s.trial(e.Rank).since = s.now }

// ended takes in the end of a process as such, whatever it means for the job.
func (t *trial) ended(now time.Duration) {
	switch {
	case t.met:
		t.vain, t.quick = 0, 0
	case t.joined: // and was lost while it waited: the delay does not grow, or the next one would wait longer
		t.vain, t.quick = 1, 0
	case now-t.since < vainTime:
		t.vain, t.quick = t.vain+1, t.quick+1
	default:
		t.vain, t.quick = t.vain+1, 0
	}
}

// exited is a process that has ended without taking leave. Of one that is not
// here its end is known already, but not the reason.
func (s *State) exited(e Exited) {
	if s.phase == finished {
		return
	}
	c := &ring.Cause{Rank: e.Rank, Step: -1, Text: e.Text, ExitCode: e.Code}
	if c.ExitCode == exitcode.OK {
		c.ExitCode = exitcode.Retry
	}
	m, t := s.owner(e.Rank), s.trial(e.Rank)
	if m != nil {
		c.Host, c.Step = m.Worker.Host, m.step
	}
	charged := t.charged
	t.ended(s.now)
	defer func() { t.joined, t.met, t.charged = false, false, false }() // whoever comes next is another process
	switch {
	case e.Final || !retryable(c):
		s.fail(c)
	case s.phase == idle && t.quick >= mostVain:
		s.fail(s.inVain(c, t.quick))
	case m != nil && (s.phase == running || s.phase == recovering):
		m.connection = connExited
		s.lose(s.ours(c), m)
	case charged:
		s.learn(e.Rank, e.Text)
	default:
		s.unmet(c, m)
	}
}

// unmet takes in the end of a process that was in no generation, and charges it.
// m is the worker that it was before the first meeting, or nil.
func (s *State) unmet(c *ring.Cause, m *member) {
	s.used++
	if s.used > s.c.Restarts || s.stop != 0 {
		s.fail(s.exhausted(c))
		return
	}
	if m != nil {
		s.remove(m, "was here, "+c.Text)
	}
	reason := c.Text
	if n := s.trial(c.Rank).vain; n > 1 {
		reason = fmt.Sprintf("%s; %d times in a row before it joined", c.Text, n)
	}
	s.learn(c.Rank, reason)
}

// delay is how long a rank is to wait that is started again: nothing after a process
// that was in a generation, unless its rank may be in a loop, as far as is known by now.
func (s *State) RestartDelay(rank int) time.Duration {
	n := s.trial(rank).vain
	if s.phase == recovering && !s.fruitful && s.loops(rank) {
		n += s.barren
	}
	if n == 0 {
		return 0
	}
	return min(firstDelay<<min(n-1, 10), lastDelay)
}

// restartsLeft is how many more losses the job survives.
func (s *State) RestartsLeft() int { return max(s.c.Restarts-s.used, 0) }

// exhausted is the cause of the end when no restart is left for c: what came first of
// all since the last completed step.
func (s *State) exhausted(c *ring.Cause) *ring.Cause {
	if s.c.Restarts == 0 || s.stop != 0 {
		return c
	}
	if s.first != nil {
		c, s.first = s.first, nil
	}
	return s.giveUp(c, fmt.Sprintf("gave up: no restart is left of --restarts %d; with a higher number the job would go on", s.c.Restarts))
}

// inVain is the cause of the end where n processes of a rank in a row came to nothing, c
// the last one's.
func (s *State) inVain(c *ring.Cause, n int) *ring.Cause {
	s.first = nil // this is another story
	return s.giveUp(c, fmt.Sprintf("gave up: rank %d ended %d times in a row within %v of its start, before it joined (%s, and would not help: see what rank %d printed)",
		c.Rank, n, vainTime, s.leftText(), c.Rank))
}

// giveUp is c with why nobody is started again after it.
func (s *State) giveUp(c *ring.Cause, why string) *ring.Cause {
	s.gaveUp.Why = why
	given := *c
	given.Text += "; " + why
	return &given
}

// leftText says how many restarts nobody will use.
func (s *State) leftText() string {
	if s.RestartsLeft() == 1 {
		return "1 restart was left"
	}
	return fmt.Sprintf("%d restarts were left", s.RestartsLeft())
}
