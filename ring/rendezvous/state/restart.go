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
	maxQuickExits = 5
	quickExitTime = 10 * time.Second

	// The delay before a rank is started again whose last process came to nothing. It
	// doubles from the first to the last of them in a row.
	firstRestartDelay = time.Second
	maxRestartDelay   = 30 * time.Second
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
type rankProcesses struct {
	started      time.Duration // when the last one was started
	joined       bool          // it has joined
	inGeneration bool          // it has been in a generation
	charged      bool          // its loss has used a restart
	unjoined     int           // processes in a row that came to nothing: they ended without having joined
	quickExits   int           // the newest of these, in a row, that ended within vainTime
}

// trial returns that of a rank, which it makes if it has to.
func (s *State) processesOf(rank int) *rankProcesses {
	t := s.processes[rank]
	if t == nil {
		t = &rankProcesses{}
		s.processes[rank] = t
	}
	return t
}

func (s *State) processStarted(e ProcessStarted) { s.processesOf(e.Rank).started = s.now }

// ended takes in the end of a process as such, whatever it means for the job.
func (t *rankProcesses) noteExit(now time.Duration) {
	switch {
	case t.inGeneration:
		t.unjoined, t.quickExits = 0, 0
	case t.joined: // and was lost while it waited: the delay does not grow, or the next one would wait longer
		t.unjoined, t.quickExits = 1, 0
	case now-t.started < quickExitTime:
		t.unjoined, t.quickExits = t.unjoined+1, t.quickExits+1
	default:
		t.unjoined, t.quickExits = t.unjoined+1, 0
	}
}

// exited is a process that has ended without taking leave. Of one that is not
// here its end is known already, but not the reason.
func (s *State) processExited(e ProcessExited) {
	if s.phase == phaseFinished {
		return
	}
	c := &ring.Cause{Rank: e.Rank, Step: -1, Text: e.Text, ExitCode: e.Code}
	if c.ExitCode == exitcode.OK {
		c.ExitCode = exitcode.Retry
	}
	m, t := s.member(e.Rank), s.processesOf(e.Rank)
	if m != nil {
		c.Host, c.Step = m.Worker.Host, m.step
	}
	charged := t.charged
	t.noteExit(s.now)
	defer func() { t.joined, t.inGeneration, t.charged = false, false, false }() // whoever comes next is another process
	switch {
	case e.Final || !retryable(c):
		s.fail(c)
	case s.phase == phaseIdle && t.quickExits >= maxQuickExits:
		s.fail(s.quickExitsCause(c, t.quickExits))
	case m != nil && (s.phase == phaseRunning || s.phase == phaseRecovering):
		m.connection = connExited
		s.lose(s.pauseCause(c), m)
	case charged:
		s.noteAbsence(e.Rank, e.Text)
	default:
		s.exitedBeforeGeneration(c, m)
	}
}

// unmet takes in the end of a process that was in no generation, and charges it.
// m is the worker that it was before the first meeting, or nil.
func (s *State) exitedBeforeGeneration(c *ring.Cause, m *member) {
	s.restartsUsed++
	if s.restartsUsed > s.config.Restarts || s.stopCode != 0 {
		s.fail(s.restartsExhaustedCause(c))
		return
	}
	if m != nil {
		s.remove(m, "was here, "+c.Text)
	}
	reason := c.Text
	if n := s.processesOf(c.Rank).unjoined; n > 1 {
		reason = fmt.Sprintf("%s; %d times in a row before it joined", c.Text, n)
	}
	s.noteAbsence(c.Rank, reason)
}

// delay is how long a rank is to wait that is started again: nothing after a process
// that was in a generation, unless its rank may be in a loop, as far as is known by now.
func (s *State) RestartDelay(rank int) time.Duration {
	n := s.processesOf(rank).unjoined
	if s.phase == phaseRecovering && !s.stepCompleted && s.inCrashLoop(rank) {
		n += s.crashLoop
	}
	if n == 0 {
		return 0
	}
	return min(firstRestartDelay<<min(n-1, 10), maxRestartDelay)
}

// restartsLeft is how many more losses the job survives.
func (s *State) RestartsLeft() int { return max(s.config.Restarts-s.restartsUsed, 0) }

// exhausted is the cause of the end when no restart is left for c: what came first of
// all since the last completed step.
func (s *State) restartsExhaustedCause(c *ring.Cause) *ring.Cause {
	if s.config.Restarts == 0 || s.stopCode != 0 {
		return c
	}
	if s.firstCause != nil {
		c, s.firstCause = s.firstCause, nil
	}
	return s.withGiveUpReason(c, fmt.Sprintf("gave up: no restart is left of --restarts %d; with a higher number the job would go on", s.config.Restarts))
}

// inVain is the cause of the end where n processes of a rank in a row came to nothing, c
// the last one's.
func (s *State) quickExitsCause(c *ring.Cause, n int) *ring.Cause {
	s.firstCause = nil // this is another story
	return s.withGiveUpReason(c, fmt.Sprintf("gave up: rank %d ended %d times in a row within %v of its start, before it joined (%s, and would not help: see what rank %d printed)",
		c.Rank, n, quickExitTime, s.restartsLeftText(), c.Rank))
}

// giveUp is c with why nobody is started again after it.
func (s *State) withGiveUpReason(c *ring.Cause, why string) *ring.Cause {
	s.gaveUp.Why = why
	given := *c
	given.Text += "; " + why
	return &given
}

// leftText says how many restarts nobody will use.
func (s *State) restartsLeftText() string {
	if s.RestartsLeft() == 1 {
		return "1 restart was left"
	}
	return fmt.Sprintf("%d restarts were left", s.RestartsLeft())
}
