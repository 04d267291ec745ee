package rendezvous

import (
	"time"

	"ringtrain/ring"
)

// Status is where a job stands, for who looks on.
type Status struct {
	JobID        string // "" before the first join
	Phase        string // idle, waiting, running, recovering or ended
	Generation   uint64 // 0: none yet
	WorldSize    int    // 0: not known yet
	Present      int
	Step         int64 // last completed, -1 before training
	StepsPerS    float64
	RestartsLeft int
	Remaining    time.Duration // until the start, or the return of the lost, must have come; 0: nobody is awaited
	Stall        string        // who waits for whom; "": nothing stands still
	Cause        *ring.Cause   // of the end, or of the last generation's; nil: none
	Choices      []ring.Choice // of the newest generation
	Ranks        []RankStatus  // in order of rank; while ranks are not given, those present
}

// RankStatus is where one rank stands.
type RankStatus struct {
	Worker  ring.Worker // its Rank is -1 where none is given yet; nothing else is known of one that is missing but, maybe, Addr
	Present bool
	Reason  string        // why it is missing, as far as known
	Missing time.Duration // for how long
	Step    int64
	Phase   string
	Beat    time.Duration // since its last heartbeat
	Wait    ring.Wait     // its operation, without Since
	For     time.Duration // for so long nothing had changed by then
}

// Choice is that of ring.Membership.
func (s *Status) Choice(name string) ring.Choice {
	return ring.Membership{Choices: s.Choices}.Choice(name)
}

// Ended tells whether the job has come to its end.
func (s *Status) Ended() bool { return s.Phase == finished.String() }

func (p phase) String() string {
	return [...]string{"idle", "waiting", "running", "recovering", "ended"}[p]
}

// Status returns where the job stands at now.
func (s *State) Status(now time.Duration) Status {
	st := Status{
		JobID: s.job, Phase: s.phase.String(), Generation: s.generation, WorldSize: s.size, Present: len(s.here), Step: -1,
		StepsPerS: s.pace.perSecond(s.awake), RestartsLeft: s.restartsLeft(), Stall: s.stall, Cause: s.cause, Choices: s.choices,
	}
	if st.Cause == nil {
		st.Cause = s.why
	}
	if s.phase == waiting || s.phase == recovering {
		st.Remaining = max(s.c.StartTimeout-(now-s.began), 0)
	}
	for _, m := range s.here {
		st.Step = max(st.Step, m.step)
		r := RankStatus{
			Worker: m.Worker, Present: true, Step: m.step, Phase: m.doing, Beat: s.awake - m.heard, Wait: m.wait, For: max(m.heard-m.still, 0),
		}
		r.Worker.Rank = m.Rank
		st.Ranks = append(st.Ranks, r)
	}
	if s.phase == waiting || s.phase == recovering {
		for _, m := range s.missing(ring.MaxWorldSize) {
			w := ring.Worker{Rank: m.Rank, Addr: m.Address}
			st.Ranks = append(st.Ranks, RankStatus{Worker: w, Reason: m.Reason, Missing: m.For, Step: -1, Wait: ring.Wait{Peer: -1}})
		}
	}
	sortRanks(st.Ranks)
	return st
}
