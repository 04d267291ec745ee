package state

import (
	"fmt"
	"slices"

	"ringtrain/ring"
)

// A rank that dies of its own accord, as soon as it takes part, dies again when it is
// started again. Such a loop is seen by this: generation after generation ends without
// a completed step, and the same rank is lost in each. Where different ones are lost,
// as on hosts that are taken away one by one, nothing loops: how often that may happen
// is what the restarts say. How long the ranks lived does not count: a job whose ranks
// are killed often, and that completes steps, makes progress.

// CrashLoopLimit is how many generations in a row the same rank may end, without a
// completed step.
const CrashLoopLimit = 5

// countBarren is the number of such generations with the one that has ended.
func (s *State) countCrashLoop() int {
	switch {
	case s.generation == 0 || s.stepCompleted:
		return 0
	case slices.ContainsFunc(s.endingRanks(), s.inCrashLoop):
		return s.crashLoop + 1
	}
	return 1
}

// setBarren takes in that number, before anything else is known of the next
// generation: also of one that is read from a journal.
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

// enders are the ranks that ended the generation: those it lost, or, where all live,
// the one that is at fault.
func (s *State) endingRanks() []int {
	if len(s.lostRanks) == 0 && s.generationCause != nil {
		return []int{s.generationCause.Rank}
	}
	return slices.Clone(s.lostRanks)
}

// fruitless is the cause of giving up: the rank that is in a loop, and what came
// first of all since the last completed step.
func (s *State) crashLoopCause() *ring.Cause {
	s.setCrashLoop(s.countCrashLoop())
	c := &ring.Cause{Rank: slices.Max(s.crashLoopRanks), Step: s.firstCause.Step, Operation: s.firstCause.Operation, ExitCode: s.firstCause.ExitCode}
	if m := s.member(c.Rank); m != nil {
		c.Host, c.Peer = m.Worker.Host, m.Worker.Addr
	}
	by, who := "", "the ranks" // nobody is named where all live and none is at fault
	if c.Rank >= 0 {
		who = fmt.Sprintf("rank %d", c.Rank)
		by = who + " ended each of "
	}
	s.gaveUp = GaveUp{c.Rank, fmt.Sprintf("gave up: %s%d generations in a row without a completed step (%s, and would not help: see what %s printed)",
		by, s.crashLoop, s.restartsLeftText(), who)}
	c.Text = fmt.Sprintf("%s; it began with: %v", s.gaveUp.Why, s.firstCause)
	s.firstCause = nil // it is in the text
	return c
}
