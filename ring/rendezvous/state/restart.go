package state

import (
	"fmt"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// A launcher starts a process for each rank, and another one when the process has ended. The
// launcher reports each start and each end, and gets a [Verdict]. Only the state counts restarts: a
// loss that was charged when the stream broke costs nothing when the end of the process is
// reported.

const (
	// maxQuickExits is the number of processes of a rank in a row that may end within quickExitTime
	// of their start while no worker has ever joined. Such a rank is in a crash loop before any
	// generation. Once a worker has joined, the start timeout bounds the wait for a rank whose
	// processes end before they join.
	maxQuickExits = 5
	quickExitTime = 10 * time.Second

	// The delay before a rank is started again whose last process did not join. The delay doubles
	// with each such process.
	firstRestartDelay = time.Second
	maxRestartDelay   = 30 * time.Second
)

// Verdict is the answer to the end of a rank's process.
type Verdict struct {
	Again bool          // the launcher may start the rank again
	After time.Duration // delay before the start
}

// GaveUp says why a job has ended although it could have been started again.
type GaveUp struct {
	Rank int    // rank in a crash loop; -1: none
	Why  string // the reason, and what would have helped; "": the job was not given up
}

// rankProcesses is the history of the processes of one rank.
type rankProcesses struct {
	started      time.Duration // start of the newest process
	joined       bool          // the newest process has joined
	inGeneration bool          // the newest process has been in a generation
	charged      bool          // the loss of the newest process has used a restart
	unjoined     int           // number of processes in a row that were never in a generation
	quickExits   int           // number of the newest of these that ended within quickExitTime, in a row
}

// processesOf returns the history of a rank, creating it if necessary.
func (s *knownState) processesOf(rank int) *rankProcesses {
	t := s.processes[rank]
	if t == nil {
		t = &rankProcesses{}
		s.processes[rank] = t
	}
	return t
}

func (s *regroupingState) processStarted(e ProcessStarted) {
	s.processesOf(e.Rank).started = s.clock.now
}

// noteExit takes in the end of the newest process, whatever the end means for the job.
func (p *rankProcesses) noteExit(now time.Duration) {
	switch {
	case p.inGeneration:
		p.unjoined, p.quickExits = 0, 0
	case p.joined: // lost while it waited: a longer delay would only make the next process wait longer
		p.unjoined, p.quickExits = 1, 0
	case now-p.started < quickExitTime:
		p.unjoined, p.quickExits = p.unjoined+1, p.quickExits+1
	default:
		p.unjoined, p.quickExits = p.unjoined+1, 0
	}
}

// processExited takes in the end of a process that did not leave. If the process is no member any
// more, only the reason is new.
func (s *regroupingState) processExited(e ProcessExited) {
	if s.phase == phaseEnded {
		return
	}
	c := &ring.Cause{Rank: e.Rank, Step: -1, Text: e.Text, ExitCode: e.Code}
	if c.ExitCode == exitcode.OK {
		c.ExitCode = exitcode.Retry
	}
	m, p := s.member(e.Rank), s.processesOf(e.Rank)
	if m != nil {
		c.Host, c.Step = m.Worker.Host, m.step
	}
	charged := p.charged
	p.noteExit(s.clock.now)
	defer func() { p.joined, p.inGeneration, p.charged = false, false, false }() // the next process has a history of its own
	switch {
	case e.Final || !retryable(c):
		s.fail(c)
	case s.phase == phaseEmpty && p.quickExits >= maxQuickExits:
		s.fail(s.quickExitsCause(c, p.quickExits))
	case m != nil && m.place == left && s.phase == phaseRunning: // its work is done
	case m != nil && s.inLife():
		s.lose(c, true, m)
	case charged:
		s.noteAbsence(e.Rank, e.Text)
	default:
		s.exitedBeforeGeneration(c, m)
	}
}

// exitedBeforeGeneration charges the end of a process that was in no generation. m is its member,
// or nil if it had not joined.
func (s *endingState) exitedBeforeGeneration(c *ring.Cause, m *member) {
	s.known.Used++
	if s.known.used() > s.restarts() || s.stop.code != 0 {
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

// RestartDelay returns the delay before the next start of a rank. It is 0 after a process that was
// in a generation, unless the rank may be in a crash loop.
func (s *regroupingState) RestartDelay(rank int) time.Duration {
	n := s.processesOf(rank).unjoined
	if s.phase == phaseRegrouping && !s.run.stepCompleted && s.inCrashLoop(rank) {
		n += s.known.Loop.Count
	}
	if n == 0 {
		return 0
	}
	return min(firstRestartDelay<<min(n-1, 10), maxRestartDelay)
}

// restartsExhaustedCause returns the cause of the end if no restart is left: the first cause since
// the last completed step, or c.
func (s *endingState) restartsExhaustedCause(c *ring.Cause) *ring.Cause {
	if s.restarts() <= 0 || s.stop.code != 0 {
		return c
	}
	if s.known.Cause != nil {
		c, s.known.Cause = s.known.Cause, nil
	}
	return s.withGiveUpReason(c, fmt.Sprintf("gave up: no restart is left of --restarts %d; with a higher number the job would go on", s.restarts()))
}

// quickExitsCause returns the cause of the end after n quick exits of a rank. c is the cause of the
// last one.
func (s *endingState) quickExitsCause(c *ring.Cause, n int) *ring.Cause {
	s.known.Cause = nil // unrelated to c
	return s.withGiveUpReason(c, fmt.Sprintf("gave up: rank %d ended %d times in a row within %v of its start, before it joined (%s and would not help: see the output of rank %d)",
		c.Rank, n, quickExitTime, s.restartsLeftText(), c.Rank))
}

// withGiveUpReason returns c with the reason why no process is started again.
func (s *endingState) withGiveUpReason(c *ring.Cause, reason string) *ring.Cause {
	s.gaveUp.Why = reason
	given := *c
	given.Text += "; " + reason
	return &given
}

// restartsLeftText says how many restarts are left unused.
func (s *endingState) restartsLeftText() string {
	if s.RestartsLeft() == 1 {
		return "1 restart was left"
	}
	return fmt.Sprintf("%d restarts were left", s.RestartsLeft())
}
