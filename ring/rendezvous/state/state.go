// Package state decides what a rendezvous does, without clock, network or goroutine.
//
// Time and events go into [State.Step]; effects come out of it. Package rendezvous turns messages
// into events and performs the effects.
//
// # The rule
//
// A worker is lost when its process is known to have ended, or after silence for the lease. Nothing
// else is a loss. A broken stream makes a member away: it is awaited back, and training goes on. A
// broken link ends the generation, and the members form the next one with their state in memory.
//
// # The workers hold the truth
//
// A rendezvous may end at any time, and another one may start empty at its address. Each worker
// keeps a [Record] of its job and sends it when it comes to a rendezvous again. The first record
// that an empty rendezvous hears makes it know the job; see resume.
//
// # Time
//
// Step gets the time of the monotonic clock, from the start of the rendezvous. The state also
// counts its awake time: the sum of the times between ticks, without long pauses of its own
// process. Silence of a worker is measured in awake time, so a rendezvous that was stopped blames
// nobody for its own pause.
//
// This package has more than 25 files because each kind of event has a file of its own.
package state

import (
	"slices"
	"time"

	"ringtrain/ring"
)

// Config holds the settings of a State.
type Config struct {
	JobID        string          // "": the job id of the first join, else DefaultJobID
	DefaultJobID string          // the job id if no worker gives one
	WorldSize    int             // 0: the world size of the first join
	StartTimeout time.Duration   // from the first join to the last, and from a loss to the return of the rank
	Lease        time.Duration   // a worker that is silent for this time is lost
	Restarts     int             // lost workers that may be replaced in all; below 0: as the workers' records say
	Unique       bool            // no other rendezvous can serve this job: the launcher owns the ranks
	Addrs        []string        // configured address of each rank, if known
	NoticeSink   NoticeSink      // receivers of notices
	HostID       string          // host id of the rendezvous, as in ring.Worker
	Instance     uint64          // random number of this rendezvous
	NewLife      func() [16]byte // draws the name of a life
}

// State is the rendezvous of one job. It changes by Step alone.
//
// It has four layers, and each calls only those below it. State takes in the events: who comes, what
// the ports say, and what time does. regroupingState decides on losses and forms generations.
// endingState ends the job. knownState is all that the rendezvous knows, and what it sends.
type State struct{ regroupingState }

// regroupingState decides who is lost, ends generations and begins the next ones.
type regroupingState struct{ endingState }

// endingState ends the job, or the part of this rendezvous in it.
type endingState struct{ knownState }

// knownState is what the rendezvous knows of the job and of its workers.
type knownState struct {
	config    Config
	jobID     string
	worldSize int
	phase     phase
	clock     clock
	lease     leaseWatch
	members   []*member          // members of the known generation that are not lost, and workers that wait for the next one; in order of arrival
	byStream  map[uint64]*member // the members with a stream
	held      []heldJoin         // joins that wait until it is known whether their rank is free

	known   Record // of the life that goes on; without a generation: none is known
	adopted bool   // another rendezvous has begun this life
	dead    Record // of a life that was adopted and has ended; without a generation: none
	run     run    // the known generation

	wait       wait // for ranks
	suspicions suspicions
	cutOff     cutOff
	stall      stallWatch
	stepRate   stepRate  // speed of the job
	freeEnds   []freeEnd // ends of generations without a loss, of the last minute
	stop       stop
	nextProbe  time.Duration // time of the next probe of the ports of members that are away
	strangers  strangers

	processes  map[int]*rankProcesses // processes that a launcher has started, by rank
	gaveUp     GaveUp                 // why no process is started again, although another start might have helped
	cause      *ring.Cause            // cause of the end of the job
	endedAlone bool                   // this rendezvous has ended, and not the job
	endUntil   time.Duration          // until then members that are away may come back to hear the end; 0: nobody is awaited

	effects []Effect // effects of this step
}

// run is what the state knows of the known generation beside its record.
type run struct {
	startStep        int64       // step at which the generation began
	startStepUnknown bool        // no member had a state at the start: the first reported step may be that of a checkpoint
	stepCompleted    bool        // the generation has completed a step
	cause            *ring.Cause // cause of the end of the generation
	link             []int       // ranks at the ends of the link that has ended it, ascending; nil: no link has
}

type phase int

const (
	phaseEmpty      phase = iota // no worker has joined
	phaseForming                 // some workers have joined, and no life is known
	phaseRunning                 // a generation runs
	phaseRegrouping              // the generation has ended; the next one is awaited
	phaseEnded                   // the job has ended
)

// New returns the state of a job without workers.
func New(c Config) *State {
	return &State{regroupingState{endingState{knownState{
		config: c, lease: leaseWatch{current: c.Lease}, jobID: c.JobID, worldSize: c.WorldSize, byStream: map[uint64]*member{},
		wait: wait{absences: map[int]absence{}}, processes: map[int]*rankProcesses{}, gaveUp: GaveUp{Rank: -1},
	}}}}
}

// Step applies event e at time now and returns the effects, in order. now never decreases.
func (s *State) Step(now time.Duration, e Event) []Effect {
	s.clock.now, s.effects = now, nil
	s.detectPause()
	switch e := e.(type) {
	case Joined:
		s.join(e)
	case Reported:
		s.reported(e)
	case Resumed:
		s.resume(e)
	case WrongTokens:
		s.strangers.wrongTokens = e.List
	case StrangersCame:
		s.strangersCame(e)
	case Probed:
		s.probed(e)
	case Heartbeat:
		s.heartbeat(e)
	case StreamBroken:
		s.streamBroken(e)
	case EndConfirmed:
		s.endConfirmed(e)
	case ReadyForNext:
		s.memberReady(e)
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

func (s *knownState) emit(e Effect) { s.effects = append(s.effects, e) }

// inLife reports whether a life goes on.
func (s *knownState) inLife() bool { return s.phase == phaseRunning || s.phase == phaseRegrouping }

// restarts returns how many lost workers may be replaced in all.
func (s *knownState) restarts() int {
	if s.config.Restarts >= 0 {
		return s.config.Restarts
	}
	return s.known.Restarts
}

// RestartsLeft returns how many more losses the job survives.
func (s *knownState) RestartsLeft() int { return max(s.restarts()-s.known.used(), 0) }

// heartbeat takes in the progress of a member. A completed step proves the life of all members: no
// all-reduce ends without each of them.
func (s *State) heartbeat(e Heartbeat) {
	m := s.byStream[e.Stream]
	if m == nil {
		return
	}
	s.adaptLease(s.clock.awake - m.lastHeard)
	m.heard(s.clock.awake)
	m.noteHeartbeat(e, s.clock.awake)
	s.noteStartStep(e)
	if s.phase == phaseRunning && !m.fresh {
		if e.Step > s.known.Step {
			s.allHeard()
		}
		if e.Whole && s.known.Whole.Fence != s.known.Fence {
			s.known.Complete()
		}
	}
	s.noteStep(m, e.Step)
	s.stepRate.observe(s.clock.awake, e.Step)
	if s.phase == phaseEnded && s.cause != nil { // the last heartbeat of a member that has received the end
		s.cause = s.withLatestStep(s.cause)
	}
}

// allHeard begins the silence of all members of the generation anew.
func (s *knownState) allHeard() {
	for _, m := range s.members {
		if !m.fresh {
			m.heard(s.clock.awake)
		}
	}
}

// member returns the member with the given rank, or nil.
func (s *knownState) member(rank int) *member {
	i := slices.IndexFunc(s.members, func(m *member) bool { return m.Rank == rank && rank >= 0 })
	if i < 0 {
		return nil
	}
	return s.members[i]
}

// memberOf returns the member with an incarnation, or nil.
func (s *knownState) memberOf(id uint64) *member {
	i := slices.IndexFunc(s.members, func(m *member) bool { return m.Worker.Incarnation == id })
	if i < 0 {
		return nil
	}
	return s.members[i]
}

// remove removes a member. reason says why its rank is missing from now on.
func (s *knownState) remove(m *member, reason string) {
	delete(s.byStream, m.stream)
	s.members = slices.DeleteFunc(s.members, func(o *member) bool { return o == m })
	if m.Rank >= 0 {
		s.wait.absences[m.Rank] = absence{s.clock.now, reason}
	}
}
