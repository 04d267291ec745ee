package state

import (
	"fmt"
	"slices"

	"ringtrain/ring"
)

// A rank in a crash loop fails again each time it is started. The rule: generation after generation
// ends without a completed step, and each loses the same rank. If different ranks are lost, as when
// hosts are taken away one by one, there is no loop, and only the number of restarts is a limit.
// The lifetime of the ranks does not count: a job whose ranks are killed often makes progress as
// long as it completes steps.

// CrashLoopLimit is the number of generations in a row that the same rank may end without a
// completed step.
const CrashLoopLimit = 5

// countCrashLoop returns the length of the crash loop with the generation that has ended.
func (s *State) countCrashLoop() int {
	switch {
	case s.generation == 0 || s.stepCompleted:
		return 0
	case slices.ContainsFunc(s.endingRanks(), s.inCrashLoop):
		return s.crashLoop + 1
	}
	return 1
}

// setCrashLoop sets the length of the crash loop. It is called before the fields of the next
// generation are set.
func (s *State) setCrashLoop(n int) {
	switch s.crashLoop = n; {
	case n == 0:
		s.crashLoopRanks = nil
	case n == 1:
		s.crashLoopRanks = s.endingRanks()
	default:
		s.crashLoopRanks = slices.DeleteFunc(s.endingRanks(), func(rank int) bool { return !s.inCrashLoop(rank) })
	}
}

func (s *State) inCrashLoop(rank int) bool { return slices.Contains(s.crashLoopRanks, rank) }

// endingRanks returns the ranks that ended the generation: the lost ranks, or the rank at fault if
// none is lost.
func (s *State) endingRanks() []int {
	if len(s.lostRanks) == 0 && s.generationCause != nil {
		return []int{s.generationCause.Rank}
	}
	return slices.Clone(s.lostRanks)
}

// crashLoopCause returns the cause of giving up. It names the rank in the crash loop and the first
// cause since the last completed step.
func (s *State) crashLoopCause() *ring.Cause {
	s.setCrashLoop(s.countCrashLoop())
	c := &ring.Cause{Rank: slices.Max(s.crashLoopRanks), Step: s.firstCause.Step, Operation: s.firstCause.Operation, ExitCode: s.firstCause.ExitCode}
	if m := s.member(c.Rank); m != nil {
		c.Host, c.Peer = m.Worker.Host, m.Worker.Addr
	}
	by, who := "", "the ranks" // names no rank if no rank is lost and none is at fault
	if c.Rank >= 0 {
		who = fmt.Sprintf("rank %d", c.Rank)
		by = who + " ended each of "
	}
	s.gaveUp = GaveUp{c.Rank, fmt.Sprintf("gave up: %s%d generations in a row without a completed step (%s and would not help: see the output of %s)",
		by, s.crashLoop, s.restartsLeftText(), who)}
	c.Text = fmt.Sprintf("%s; first cause: %v", s.gaveUp.Why, s.firstCause)
	s.firstCause = nil // c has its text
	return c
}
