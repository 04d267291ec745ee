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
	Drawn        string        // the job id where nobody has one
	WorldSize    int           // 0: the first join's
	StartTimeout time.Duration // from the first join to the last, and from a loss to the return
	Lease        time.Duration // who is silent for so long is lost
	Restarts     int           // how many lost workers may be replaced in all
	Durable      bool          // there is a journal: Keep is done
	Listed       []string      // configured address of each rank, where known
	NoticeSink   NoticeSink    // who tells people what goes slowly
	HostID       string        // where the rendezvous is, as in ring.Worker
}

// State is the rendezvous without clock, network or goroutine. All that it
// knows of the world comes in by Step.
type State struct {
	c      Config
	job    string
	size   int
	phase  phase
	began  time.Duration      // when the wait began: by the first join, or a loss
	lease  time.Duration      // as it is by now
	now    time.Duration      // of this step
	ticked time.Duration      // when the last tick came
	awake  time.Duration      // like now, but without our own pauses
	pause  time.Duration      // the last of these that workers may have noticed; 0: none yet, or people know
	paused time.Duration      // when it was over
	mercy  time.Duration      // until when streams may break by such a pause, with a journal; 0: there was none
	lookAt time.Duration      // when the ports of those awaited back are looked at next
	byID   map[uint64]*member // by stream
	here   []*member          // in order of arrival
	away   map[int]absence    // what is known of ranks that are missing
	held   []Joined           // for places of which it is not known yet if they are free
	report time.Duration      // when the next waiting report is due
	probe  time.Duration      // when the next round of probes is due
	odd    bool               // the next report is for rank 0 only
	cause  *ring.Cause        // of the end
	decide time.Duration      // when the suspicions are judged

	suspicions []suspicion // in the order of their coming

	gaps    gaps          // between heartbeats
	pace    pace          // of the steps
	picture []stand       // memory of the last one
	stall   string        // what stands still, for people; "": nothing does
	tell    time.Duration // when people may be told again, on the clock awake

	generation uint64         // the last that was given out; 0: none yet
	choices    []ring.Choice  // of that generation
	spec       *Request       // what a worker must agree with when nobody is here; nil before generation 1
	used       int            // restarts
	trials     map[int]*trial // by rank: the processes that a launcher has started
	endedAt    time.Duration  // when the generation ended, on the clock awake
	lost       []int          // ranks that it lost
	prepaid    bool           // the generation ended with nobody gone: the next loss has its restart already
	why        *ring.Cause    // of its end
	first      *ring.Cause    // the first since the last completed step; nil: none
	base       int64          // step that the generation began with
	fruitful   bool           // it has completed one
	barren     int            // generations before it, in a row, that had not, and that the same rank ended
	loopers    []int          // ranks that ended each of those
	gaveUp     GaveUp         // why the job was given up although another start might have helped
	fresh      bool           // nobody had a state when it began: the first step heard of may be a checkpoint's

	stop     int           // exit code that all are to stop with; 0: none
	stopper  *member       // who alone was told to end by a signal; nil: the launcher was, or several were
	settle   time.Duration // when it is decided who leaves; 0: nobody asks
	farewell time.Duration // until when those who missed the end may come back for it; 0: it is not awaited

	unkept bool          // the journal is not used any more
	slow   time.Duration // when people are told next that the journal is slow, on the clock awake

	out []Effect // of this step
}

type phase int

const (
	idle       phase = iota // nobody has come
	waiting                 // some have
	running                 // the membership is complete
	recovering              // the generation has ended; the next is awaited
	finished                // all were told the end
)

// absence is what is known of a rank that is not here.
type absence struct {
	since  time.Duration
	reason string
}

// New returns the state before anybody has come.
func New(c Config) *State {
	return &State{c: c, lease: c.Lease, job: c.JobID, size: c.WorldSize, byID: map[uint64]*member{}, away: map[int]absence{}, trials: map[int]*trial{}, gaveUp: GaveUp{Rank: -1}}
}

// Step takes in what happened at now, which never goes back, and returns what
// is to be done, in order.
func (s *State) Step(now time.Duration, e Event) []Effect {
	s.now, s.out = now, nil
	s.notePause()
	switch e := e.(type) {
	case Joined:
		s.join(e)
	case Reported:
		s.reported(e)
	case Resumed:
		s.resume(e)
	case Unproved:
		s.learn(e.Rank, "came with a wrong token")
	case Probed:
		s.probed(e)
	case Beaten:
		s.beaten(e)
	case Broken:
		s.forget(e.Stream)
		s.broken(e)
	case Away:
		s.goneAway(e)
	case Heard:
		s.heard(e)
	case Readied:
		s.readied(e)
	case Parted:
		s.parted(e)
	case Leaving:
		s.asked(e)
	case StopAll:
		s.stopAll(e.Code, nil)
	case Left:
		s.leave(e)
	case Aborted:
		s.aborted(e)
	case Started:
		s.started(e)
	case Exited:
		s.exited(e)
	case Unkept:
		s.goOnUnkept(e)
	case Tick:
		s.tick(e)
	}
	s.release()
	return s.out
}

func (s *State) do(e Effect) { s.out = append(s.out, e) }

// fail ends the job: everybody who is here, and the strangers given, are told
// the cause. Only the first cause counts; of causes that another start may mend
// it is the first since the last completed step.
func (s *State) fail(c *ring.Cause, strangers ...uint64) {
	if s.phase == finished {
		return
	}
	if s.first != nil && retryable(c) {
		c = s.first
	}
	c = s.reached(c)
	s.finish(c)
	for _, m := range s.here {
		if m.stream != 0 {
			s.do(SendAbort{m.stream, c})
		}
	}
	for _, id := range strangers {
		s.do(SendAbort{id, c})
	}
	s.conclude()
}

// finish is the end as such, before anybody is told.
func (s *State) finish(c *ring.Cause) {
	s.phase, s.cause = finished, c
	if s.generation > 0 {
		s.keep(EndRecord{c})
	}
}

// retryable tells whether to start the same again may help.
func retryable(c *ring.Cause) bool { return c.ExitCode >= leastRetryable }

// leastRetryable is the first of the exit codes that may be retried.
const leastRetryable = 128

func (s *State) beaten(e Beaten) {
	m := s.byID[e.Stream]
	if m == nil {
		return
	}
	s.adapt(s.awake - m.heard)
	m.heard, m.warn = s.awake, 0
	m.stand(e, s.awake)
	s.begins(e)
	s.advance(m, e.Step)
	s.pace.note(s.awake, e.Step)
	if s.phase == finished && s.cause != nil { // the last word of one who has heard the end
		s.cause = s.reached(s.cause)
	}
}

// stand takes in what a heartbeat says of what the worker does.
func (m *member) stand(e Beaten, now time.Duration) {
	if e.Step != m.step || e.Phase != m.doing || e.Wait != m.wait {
		m.still = max(m.still, now-max(e.For, 0))
	}
	m.doing, m.wait = e.Phase, e.Wait
}

// leave is the barrier at the end: when all have left, all are told so.
func (s *State) leave(e Left) {
	m := s.byID[e.Stream]
	switch {
	case m == nil || s.phase == finished:
		return
	case s.phase == waiting:
		s.remove(m, "was here, left before the start")
		return
	case s.phase == recovering: // it does not know yet
		return
	}
	switch m.progress {
	case saidParted:
		m.progress = saidPartedAndLeft
	case inGeneration:
		m.progress = saidLeft
	}
	if slices.ContainsFunc(s.here, func(m *member) bool { return !m.progress.left() }) {
		s.letGo()
		return
	}
	s.finish(nil)
	for _, m := range s.here {
		if m.stream != 0 {
			s.do(SendEnd{m.stream})
		}
	}
	s.conclude()
}

func (s *State) remove(m *member, why string) {
	delete(s.byID, m.stream)
	s.here = slices.DeleteFunc(s.here, func(o *member) bool { return o == m })
	if m.Rank >= 0 {
		s.away[m.Rank] = absence{s.now, why}
	}
}

// learn keeps why a rank is missing, also before anybody has come: the first
// that comes may have the wrong token. Nobody has vouched for the rank, and before the
// first join the world size may be unknown.
func (s *State) learn(rank int, reason string) {
	if s.phase == running || s.phase == finished || rank < 0 || rank >= ring.MaxWorldSize || s.owner(rank) != nil {
		return
	}
	a, ok := s.away[rank]
	switch {
	case ok:
	case s.phase == waiting:
		a.since = s.began
	default:
		a.since = s.now
	}
	a.reason = reason
	s.away[rank] = a
}

// owner returns the worker of a rank, or nil.
func (s *State) owner(rank int) *member {
	i := slices.IndexFunc(s.here, func(m *member) bool { return m.Rank == rank && rank >= 0 })
	if i < 0 {
		return nil
	}
	return s.here[i]
}

func (m *member) lost(why string) *ring.Cause {
	return &ring.Cause{
		Rank: m.Rank, Host: m.Worker.Host, Step: m.step, Operation: m.doing, Peer: m.Worker.Addr,
		Text:     fmt.Sprintf("lost rank %d (%s %s): %s", m.Rank, m.Worker.Host, m.Worker.Addr, why),
		ExitCode: exitcode.Retry,
	}
}
