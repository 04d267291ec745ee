// Package state decides what a rendezvous does, without clock, network or goroutine.
//
// Time and events go into [State.Step]; effects come out of it. Package rendezvous turns messages
// into events and performs the effects.
//
// # Time
//
// Step gets the time of the monotonic clock, from the start of the rendezvous. The state also
// counts its awake time: the sum of the times between ticks, without long pauses of its own
// process. Silence of a worker is measured in awake time, so a rendezvous that was stopped blames
// nobody for its own pause.
package state

import (
	"fmt"
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// Config holds the settings of a State.
type Config struct {
	JobID        string        // "": the job id of the first join, else DefaultJobID
	DefaultJobID string        // the job id if no worker gives one
	WorldSize    int           // 0: the world size of the first join
	StartTimeout time.Duration // from the first join to the last, and from a loss to the return of the rank
	Lease        time.Duration // a worker that is silent for this time is lost
	Restarts     int           // number of lost workers that may be replaced in all
	Addrs        []string      // configured address of each rank, if known
	NoticeSink   NoticeSink    // receivers of notices
}

// State is the rendezvous of one job. It changes by Step alone.
type State struct {
	config          Config
	jobID           string
	worldSize       int
	phase           phase
	waitSince       time.Duration      // start of the wait for ranks: the first join or a loss
	lease           time.Duration      // current lease; the lease may grow
	now             time.Duration      // time of this step
	lastTick        time.Duration      // time of the last tick
	awake           time.Duration      // awake time; see the package comment
	lastPause       time.Duration      // length of the last pause of this process that workers may have noticed; 0: none
	lastPauseEnd    time.Duration      // end of lastPause
	byStream        map[uint64]*member // the members with a stream
	members         []*member          // in order of arrival
	absences        map[int]absence    // missing ranks
	pendingJoins    []Joined           // joins that wait until it is known whether their rank is free
	nextReport      time.Duration      // time of the next waiting report
	nextProbe       time.Duration      // time of the next probes of missing ranks
	reportRank0Only bool               // the next waiting report goes to rank 0 alone
	cause           *ring.Cause        // cause of the end of the job
	judgeAt         time.Duration      // time at which the suspicions are judged

	suspicions []suspicion // in order of arrival

	delays          heartbeatDelays // delays of heartbeats
	stepRate        stepRate        // speed of the job
	rankStates      []rankState     // reused by updateRankStates
	stallText       string          // description of the current stall; "": no stall
	nextStallNotice time.Duration   // awake time of the next notice about a stall

	generation       uint64        // number of the newest generation; 0: none yet
	choices          []ring.Choice // choices of the newest generation
	reference        *Request      // what a worker must agree with if there is no member; nil before generation 1
	restartsUsed     int
	processes        map[int]*rankProcesses // processes that a launcher has started, by rank
	generationEnded  time.Duration          // awake time of the end of the generation
	lostRanks        []int                  // ranks that the generation has lost
	restartPrepaid   bool                   // the generation ended without a lost member; its restart counts for the next loss
	generationCause  *ring.Cause            // cause of the end of the generation
	firstCause       *ring.Cause            // first cause since the last completed step; nil: none
	startStep        int64                  // step at which the generation began
	stepCompleted    bool                   // the generation has completed a step
	crashLoop        int                    // generations in a row before this one that completed no step and that the same rank ended
	crashLoopRanks   []int                  // ranks that ended each generation of crashLoop
	gaveUp           GaveUp                 // why no process is started again, although another start might have helped
	startStepUnknown bool                   // no member had a state at the start: the first reported step may be that of a checkpoint

	stopCode      int           // exit code with which all workers stop; 0: they go on
	stopMember    *member       // the one member that a signal told to end; nil: the launcher, or several members
	decideLeaveAt time.Duration // time at which the requests to leave are decided; 0: no request

	effects []Effect // effects of this step
}

type phase int

const (
	phaseIdle       phase = iota // no worker has joined
	phaseWaiting                 // some workers have joined
	phaseRunning                 // a generation runs
	phaseRecovering              // the generation has ended; the next one is awaited
	phaseFinished                // the job has ended
)

// absence holds since when and why a rank is missing.
type absence struct {
	since  time.Duration
	reason string
}

// New returns the state of a job without workers.
func New(c Config) *State {
	return &State{config: c, lease: c.Lease, jobID: c.JobID, worldSize: c.WorldSize, byStream: map[uint64]*member{}, absences: map[int]absence{}, processes: map[int]*rankProcesses{}, gaveUp: GaveUp{Rank: -1}}
}

// Step applies event e at time now and returns the effects, in order. now never decreases.
func (s *State) Step(now time.Duration, e Event) []Effect {
	s.now, s.effects = now, nil
	s.detectPause()
	switch e := e.(type) {
	case Joined:
		s.join(e)
	case Reported:
		s.reported(e)
	case Resumed:
		s.resume(e)
	case WrongToken:
		s.noteAbsence(e.Rank, "came with a wrong token")
	case Probed:
		s.noteAbsence(e.Rank, e.Reason)
	case Heartbeat:
		s.heartbeat(e)
	case StreamBroken:
		s.dropJoin(e.Stream)
		s.streamBroken(e)
	case ReadyForNext:
		s.memberReady(e)
	case Parted:
		s.parted(e)
	case LeaveRequested:
		s.leaveRequested(e)
	case StopAll:
		s.stopAll(e.Code, nil)
	case Left:
		s.leave(e)
	case Aborted:
		s.aborted(e)
	case ProcessStarted:
		s.processStarted(e)
	case ProcessExited:
		s.processExited(e)
	case Tick:
		s.tick()
	}
	s.retryJoins()
	return s.effects
}

func (s *State) emit(e Effect) { s.effects = append(s.effects, e) }

// fail ends the job with cause c and sends c to all members and to the given other streams. Only
// the first cause counts. If c may be retried, the first cause since the last completed step
// replaces c.
func (s *State) fail(c *ring.Cause, streams ...uint64) {
	if s.phase == phaseFinished {
		return
	}
	if s.firstCause != nil && retryable(c) {
		c = s.firstCause
	}
	c = s.withLatestStep(c)
	s.phase, s.cause = phaseFinished, c
	for _, m := range s.members {
		if m.stream != 0 {
			s.emit(SendAbort{m.stream, c})
		}
	}
	for _, id := range streams {
		s.emit(SendAbort{id, c})
	}
	s.emit(Finish{c})
}

// retryable reports whether another start of the same job may help.
func retryable(c *ring.Cause) bool { return c.ExitCode >= leastRetryable }

// leastRetryable is the lowest exit code that allows a retry.
const leastRetryable = 128

func (s *State) heartbeat(e Heartbeat) {
	m := s.byStream[e.Stream]
	if m == nil {
		return
	}
	s.adaptLease(s.awake - m.lastHeard)
	m.lastHeard, m.nextSilenceNotice = s.awake, 0
	m.noteHeartbeat(e, s.awake)
	s.noteStartStep(e)
	s.noteStep(m, e.Step)
	s.stepRate.observe(s.awake, e.Step)
	if s.phase == phaseFinished && s.cause != nil { // the last heartbeat of a member that has received the end
		s.cause = s.withLatestStep(s.cause)
	}
}

// noteHeartbeat stores the member's phase and operation, and since when they are unchanged.
func (m *member) noteHeartbeat(e Heartbeat, now time.Duration) {
	if e.Step != m.step || e.Phase != m.phase || e.Wait != m.wait {
		m.unchangedSince = max(m.unchangedSince, now-max(e.Unchanged, 0))
	}
	m.phase, m.wait = e.Phase, e.Wait
}

// leave notes that a member has done its work. When all members have left, the job ends.
func (s *State) leave(e Left) {
	m := s.byStream[e.Stream]
	switch {
	case m == nil || s.phase == phaseFinished:
		return
	case s.phase == phaseWaiting:
		s.remove(m, "was here, left before the start")
		return
	case s.phase == phaseRecovering: // the member does not know yet that the generation has ended
		return
	}
	m.progress = m.progress.withLeft()
	if slices.ContainsFunc(s.members, func(m *member) bool { return !m.progress.left() }) {
		s.completeDeparture()
		return
	}
	s.phase = phaseFinished
	for _, m := range s.members {
		if m.stream != 0 {
			s.emit(SendEnd{m.stream})
		}
	}
	s.emit(Finish{})
}

func (s *State) remove(m *member, reason string) {
	delete(s.byStream, m.stream)
	s.members = slices.DeleteFunc(s.members, func(o *member) bool { return o == m })
	if m.Rank >= 0 {
		s.absences[m.Rank] = absence{s.now, reason}
	}
}

// noteAbsence stores why a rank is missing. It may be called before the first join: the first
// worker may have the wrong token. The rank is not proved, and the world size may be unknown.
func (s *State) noteAbsence(rank int, reason string) {
	if s.phase == phaseRunning || s.phase == phaseFinished || rank < 0 || rank >= ring.MaxWorldSize || s.member(rank) != nil {
		return
	}
	a, ok := s.absences[rank]
	switch {
	case ok:
	case s.phase == phaseWaiting:
		a.since = s.waitSince
	default:
		a.since = s.now
	}
	a.reason = reason
	s.absences[rank] = a
}

// member returns the member with the given rank, or nil.
func (s *State) member(rank int) *member {
	i := slices.IndexFunc(s.members, func(m *member) bool { return m.Rank == rank && rank >= 0 })
	if i < 0 {
		return nil
	}
	return s.members[i]
}

func (m *member) lossCause(reason string) *ring.Cause {
	return &ring.Cause{
		Rank: m.Rank, Host: m.Worker.Host, Step: m.step, Operation: m.phase, Peer: m.Worker.Addr,
		Text:     fmt.Sprintf("lost rank %d (%s %s): %s", m.Rank, m.Worker.Host, m.Worker.Addr, reason),
		ExitCode: exitcode.Retry,
	}
}
