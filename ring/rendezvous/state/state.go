// Package state decides what a rendezvous does, without clock, network or goroutine.
//
// Time and events go into [State.Step], effects come out of it. Package rendezvous turns
// messages into events and performs the effects. [Restore] rebuilds a state from the records
// of a journal.
package state

import (
	"fmt"
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// Config is what a State is told beforehand.
type Config struct {
	JobID        string        // "": the first join's, else Drawn
	DefaultJobID string        // the job id where nobody has one
	WorldSize    int           // 0: the first join's
	StartTimeout time.Duration // from the first join to the last, and from a loss to the return
	Lease        time.Duration // who is silent for so long is lost
	Restarts     int           // how many lost workers may be replaced in all
	HasJournal   bool          // there is a journal: Keep is done
	Addrs        []string      // configured address of each rank, where known
	NoticeSink   NoticeSink    // who tells people what goes slowly
	HostID       string        // where the rendezvous is, as in ring.Worker
}

// State is the rendezvous without clock, network or goroutine. All that it
// knows of the world comes in by Step.
type State struct {
	config          Config
	jobID           string
	worldSize       int
	phase           phase
	waitSince       time.Duration      // when the wait began: by the first join, or a loss
	lease           time.Duration      // as it is by now
	now             time.Duration      // of this step
	lastTick        time.Duration      // when the last tick came
	awake           time.Duration      // like now, but without our own pauses
	lastPause       time.Duration      // the last of these that workers may have noticed; 0: none yet, or people know
	lastPauseEnd    time.Duration      // when it was over
	graceUntil      time.Duration      // until when streams may break by such a pause, with a journal; 0: there was none
	nextPortProbe   time.Duration      // when the ports of those awaited back are looked at next
	byStream        map[uint64]*member // by stream
	members         []*member          // in order of arrival
	absences        map[int]absence    // what is known of ranks that are missing
	pendingJoins    []Joined           // for places of which it is not known yet if they are free
	nextReport      time.Duration      // when the next waiting report is due
	nextProbe       time.Duration      // when the next round of probes is due
	reportRank0Only bool               // the next report is for rank 0 only
	cause           *ring.Cause        // of the end
	judgeAt         time.Duration      // when the suspicions are judged

	suspicions []suspicion // in the order of their coming

	delays          heartbeatDelays // between heartbeats
	stepRate        stepRate        // of the steps
	rankStates      []rankState     // memory of the last one
	stallText       string          // what stands still, for people; "": nothing does
	nextStallNotice time.Duration   // when people may be told again, on the clock awake

	generation       uint64                 // the last that was given out; 0: none yet
	choices          []ring.Choice          // of that generation
	reference        *Request               // what a worker must agree with when nobody is here; nil before generation 1
	restartsUsed     int                    // restarts
	processes        map[int]*rankProcesses // by rank: the processes that a launcher has started
	generationEnded  time.Duration          // when the generation ended, on the clock awake
	lostRanks        []int                  // ranks that it lost
	restartPrepaid   bool                   // the generation ended with nobody gone: the next loss has its restart already
	generationCause  *ring.Cause            // of its end
	firstCause       *ring.Cause            // the first since the last completed step; nil: none
	startStep        int64                  // step that the generation began with
	stepCompleted    bool                   // it has completed one
	crashLoop        int                    // generations before it, in a row, that had not, and that the same rank ended
	crashLoopRanks   []int                  // ranks that ended each of those
	gaveUp           GaveUp                 // why the job was given up although another start might have helped
	startStepUnknown bool                   // nobody had a state when it began: the first step heard of may be a checkpoint's

	stopCode      int           // exit code that all are to stop with; 0: none
	stopMember    *member       // who alone was told to end by a signal; nil: the launcher was, or several were
	decideLeaveAt time.Duration // when it is decided who leaves; 0: nobody asks
	endUntil      time.Duration // until when those who missed the end may come back for it; 0: it is not awaited

	journalAbandoned  bool          // the journal is not used any more
	nextJournalNotice time.Duration // when people are told next that the journal is slow, on the clock awake

	effects []Effect // of this step
}

type phase int

const (
	phaseIdle       phase = iota // nobody has come
	phaseWaiting                 // some have
	phaseRunning                 // the membership is complete
	phaseRecovering              // the generation has ended; the next is awaited
	phaseFinished                // all were told the end
)

// absence is what is known of a rank that is not here.
type absence struct {
	since  time.Duration
	reason string
}

// New returns the state before anybody has come.
func New(c Config) *State {
	return &State{config: c, lease: c.Lease, jobID: c.JobID, worldSize: c.WorldSize, byStream: map[uint64]*member{}, absences: map[int]absence{}, processes: map[int]*rankProcesses{}, gaveUp: GaveUp{Rank: -1}}
}

// Step takes in what happened at now, which never goes back, and returns what
// is to be done, in order.
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
		s.probed(e)
	case Heartbeat:
		s.heartbeat(e)
	case StreamBroken:
		s.dropJoin(e.Stream)
		s.streamBroken(e)
	case StreamAbandoned:
		s.streamAbandoned(e)
	case EndConfirmed:
		s.endConfirmed(e)
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
	case JournalAbandoned:
		s.abandonJournal(e)
	case Tick:
		s.tick(e)
	}
	s.retryJoins()
	return s.effects
}

func (s *State) emit(e Effect) { s.effects = append(s.effects, e) }

// fail ends the job: everybody who is here, and the strangers given, are told
// the cause. Only the first cause counts; of causes that another start may mend
// it is the first since the last completed step.
func (s *State) fail(c *ring.Cause, strangers ...uint64) {
	if s.phase == phaseFinished {
		return
	}
	if s.firstCause != nil && retryable(c) {
		c = s.firstCause
	}
	c = s.withLatestStep(c)
	s.finish(c)
	for _, m := range s.members {
		if m.stream != 0 {
			s.emit(SendAbort{m.stream, c})
		}
	}
	for _, id := range strangers {
		s.emit(SendAbort{id, c})
	}
	s.announceEnd()
}

// finish is the end as such, before anybody is told.
func (s *State) finish(c *ring.Cause) {
	s.phase, s.cause = phaseFinished, c
	if s.generation > 0 {
		s.persist(EndRecord{c})
	}
}

// retryable tells whether to start the same again may help.
func retryable(c *ring.Cause) bool { return c.ExitCode >= leastRetryable }

// leastRetryable is the first of the exit codes that may be retried.
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
	if s.phase == phaseFinished && s.cause != nil { // the last word of one who has heard the end
		s.cause = s.withLatestStep(s.cause)
	}
}

// stand takes in what a heartbeat says of what the worker does.
func (m *member) noteHeartbeat(e Heartbeat, now time.Duration) {
	if e.Step != m.step || e.Phase != m.phase || e.Wait != m.wait {
		m.unchangedSince = max(m.unchangedSince, now-max(e.Unchanged, 0))
	}
	m.phase, m.wait = e.Phase, e.Wait
}

// leave is the barrier at the end: when all have left, all are told so.
func (s *State) leave(e Left) {
	m := s.byStream[e.Stream]
	switch {
	case m == nil || s.phase == phaseFinished:
		return
	case s.phase == phaseWaiting:
		s.remove(m, "was here, left before the start")
		return
	case s.phase == phaseRecovering: // it does not know yet
		return
	}
	switch m.progress {
	case saidParted:
		m.progress = saidPartedAndLeft
	case inGeneration:
		m.progress = saidLeft
	}
	if slices.ContainsFunc(s.members, func(m *member) bool { return !m.progress.left() }) {
		s.completeDeparture()
		return
	}
	s.finish(nil)
	for _, m := range s.members {
		if m.stream != 0 {
			s.emit(SendEnd{m.stream})
		}
	}
	s.announceEnd()
}

func (s *State) remove(m *member, why string) {
	delete(s.byStream, m.stream)
	s.members = slices.DeleteFunc(s.members, func(o *member) bool { return o == m })
	if m.Rank >= 0 {
		s.absences[m.Rank] = absence{s.now, why}
	}
}

// learn keeps why a rank is missing, also before anybody has come: the first
// that comes may have the wrong token. Nobody has vouched for the rank, and before the
// first join the world size may be unknown.
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

// owner returns the worker of a rank, or nil.
func (s *State) member(rank int) *member {
	i := slices.IndexFunc(s.members, func(m *member) bool { return m.Rank == rank && rank >= 0 })
	if i < 0 {
		return nil
	}
	return s.members[i]
}

func (m *member) lossCause(why string) *ring.Cause {
	return &ring.Cause{
		Rank: m.Rank, Host: m.Worker.Host, Step: m.step, Operation: m.phase, Peer: m.Worker.Addr,
		Text:     fmt.Sprintf("lost rank %d (%s %s): %s", m.Rank, m.Worker.Host, m.Worker.Addr, why),
		ExitCode: exitcode.Retry,
	}
}
