package state

import (
	"cmp"
	"slices"
	"time"

	"ringtrain/ring"
)

// Status describes the state of a job.
type Status struct {
	JobID        string // "" before the first join
	Phase        string // idle, waiting, running, recovering or ended
	Generation   uint64 // 0: none yet
	WorldSize    int    // 0: not known yet
	Present      int
	Step         int64 // last completed step, -1 before training
	StepsPerS    float64
	RestartsLeft int
	Remaining    time.Duration // time left for the start, or for the return of lost ranks; 0: no rank is awaited
	Stall        string        // the current stall; "": none
	Cause        *ring.Cause   // cause of the end of the job, or of the last generation; nil: none
	Choices      []ring.Choice // of the newest generation
	Ranks        []RankStatus  // in order of rank; before ranks are assigned, the members that are present
	Strangers    []string      // of each port to which some came: how many have proved nothing
}

// RankStatus describes the state of one rank.
type RankStatus struct {
	Worker  ring.Worker // Rank is -1 before it is assigned; of a missing rank at most Addr is known
	Present bool
	Reason  string        // why the rank is missing, as far as known
	Missing time.Duration // how long the rank has been missing
	Step    int64
	Phase   string
	Beat    time.Duration // time since the last heartbeat
	Wait    ring.Wait     // its operation, without Since
	For     time.Duration // how long nothing had changed at the last heartbeat
}

// Choice returns the choice of the given name, as ring.Membership does.
func (s *Status) Choice(name string) ring.Choice {
	return ring.Membership{Choices: s.Choices}.Choice(name)
}

// Ended reports whether the job has ended.
func (s *Status) Ended() bool { return s.Phase == phaseEnded.String() }

func (p phase) String() string {
	return [...]string{"idle", "waiting", "running", "recovering", "ended"}[p]
}

// JobID returns the job's id, "" until one is known.
func (s *knownState) JobID() string { return s.jobID }

// Finished reports whether the job has ended.
func (s *knownState) Finished() bool { return s.phase == phaseEnded }

// Cause returns the cause of the job's end. It is nil before the end and after a clean end.
func (s *knownState) Cause() *ring.Cause { return s.cause }

// GaveUp returns why the job was given up, if it was.
func (s *endingState) GaveUp() GaveUp { return s.gaveUp }

// Stopped returns the rank that a signal told to end, so that all workers stop, with the exit code
// of all. It returns nil if the workers do not stop.
func (s *endingState) Stopped() *ring.Cause {
	if s.stop.code == 0 {
		return nil
	}
	c := &ring.Cause{Rank: s.stop.by(), Step: -1, Text: "stopped by a signal", ExitCode: s.stop.code}
	if s.stop.member != nil {
		c.Host = s.stop.member.Worker.Host
	}
	return c
}

// Status returns the state of the job at time now.
func (s *State) Status(now time.Duration) Status {
	st := Status{
		JobID: s.jobID, Phase: s.phase.String(), Generation: s.known.Fence.Generation, WorldSize: s.worldSize, Present: len(s.members), Step: -1,
		StepsPerS: s.stepRate.perSecond(s.clock.awake), RestartsLeft: s.RestartsLeft(), Stall: s.stall.text, Cause: s.cause, Choices: s.known.Choices,
		Strangers: s.strangers.texts(s.members),
	}
	if st.Cause == nil {
		st.Cause = s.run.cause
	}
	if s.phase == phaseForming || s.phase == phaseRegrouping {
		st.Remaining = max(s.config.StartTimeout-(now-s.wait.since), 0)
	}
	for _, m := range s.members {
		st.Step = max(st.Step, m.step)
		r := RankStatus{
			Worker: m.Worker, Present: m.present(), Step: m.step, Phase: m.phase, Beat: s.clock.awake - m.lastHeard, Wait: m.wait, For: max(m.lastHeard-m.unchangedSince, 0),
		}
		r.Worker.Rank = m.Rank
		if m.place == away {
			r.Reason, r.Missing = "has no connection to the rendezvous: "+m.breakReason, now-m.brokeAt
		}
		st.Ranks = append(st.Ranks, r)
	}
	if s.phase == phaseForming || s.phase == phaseRegrouping {
		for _, m := range s.missing(ring.MaxWorldSize) {
			if s.member(m.Rank) != nil {
				continue
			}
			w := ring.Worker{Rank: m.Rank, Addr: m.Address}
			st.Ranks = append(st.Ranks, RankStatus{Worker: w, Reason: m.Reason, Missing: m.For, Step: -1, Wait: ring.Wait{Peer: -1}})
		}
	}
	sortRanks(st.Ranks)
	return st
}

// stepRateWindow is the longest time over which the speed is measured.
const stepRateWindow = 20 * time.Second

// stepMarkEvery is the least time between two marks.
const stepMarkEvery = 500 * time.Millisecond

// stepRate measures the speed of a job from the steps in heartbeats.
type stepRate struct {
	marks []stepMark // in order of time and step
}

// stepMark is the time at which a step was first reported.
type stepMark struct {
	at   time.Duration
	step int64
}

// observe takes in a reported step.
func (r *stepRate) observe(now time.Duration, step int64) {
	n := len(r.marks)
	switch {
	case step < 0:
	case n > 0 && step < r.marks[n-1].step: // the rank is behind others
	case n == 0 || now-r.marks[n-1].at >= stepMarkEvery:
		r.marks = append(r.marks, stepMark{now, step})
	}
	for len(r.marks) > 2 && now-r.marks[0].at > stepRateWindow {
		r.marks = r.marks[1:]
	}
}

// perSecond returns the steps per second up to now, 0 if the speed is not known.
func (r *stepRate) perSecond(now time.Duration) float64 {
	n := len(r.marks)
	if n < 2 {
		return 0
	}
	took := max(r.marks[n-1].at, now-4*stepMarkEvery) - r.marks[0].at
	if took <= 0 {
		return 0
	}
	return float64(r.marks[n-1].step-r.marks[0].step) / took.Seconds()
}

// sortRanks sorts by rank. Entries without a rank come last, in their order.
func sortRanks(ranks []RankStatus) {
	slices.SortStableFunc(ranks, func(a, b RankStatus) int { return cmp.Compare(uint(a.Worker.Rank), uint(b.Worker.Rank)) })
}
