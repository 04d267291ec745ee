package state

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ringtrain/ring"
)

// A rank or a link in a crash loop fails again each time. The rule: generation after generation
// ends without a completed step, and each names the same rank or link. If different ranks are lost,
// as when hosts are taken away one by one, there is no loop, and only the number of restarts is a
// limit. The lifetime of the ranks does not count: a job whose ranks are killed often makes progress
// as long as it completes steps.

// CrashLoopLimit is the number of generations in a row that one rank or link may end without a
// completed step.
const CrashLoopLimit = 5

// CrashLoop describes the generations in a row that completed no step.
type CrashLoop struct {
	Count int
	Ranks []int // that each of them names: one rank, or the two ends of a link
}

// countCrashLoop returns the length of the crash loop with the generation that has ended.
func (s *endingState) countCrashLoop() int { return s.nextLoop().Count }

// nextLoop returns the crash loop with the generation that has ended.
func (s *endingState) nextLoop() CrashLoop {
	if s.known.Fence.Generation == 0 || s.run.stepCompleted {
		return CrashLoop{}
	}
	named := s.endingRanks()
	if both := slices.DeleteFunc(slices.Clone(named), func(rank int) bool { return !s.inCrashLoop(rank) }); len(both) > 0 {
		return CrashLoop{s.known.Loop.Count + 1, both}
	}
	return CrashLoop{1, named}
}

func (s *endingState) inCrashLoop(rank int) bool { return slices.Contains(s.known.Loop.Ranks, rank) }

// endingRanks returns the ranks that ended the generation: the lost ranks, or the ends of the link
// at fault if none is lost.
func (s *endingState) endingRanks() []int {
	c := s.run.cause
	if lost := s.known.lostRanks(); len(lost) > 0 || c == nil {
		return lost
	}
	if s.run.link != nil {
		return s.run.link
	}
	return []int{c.Rank}
}

// crashLoopCause returns the cause of giving up. It names the rank or the link in the crash loop and
// the first cause since the last completed step.
func (s *endingState) crashLoopCause() *ring.Cause {
	loop, first := s.nextLoop(), s.known.Cause
	c := &ring.Cause{Rank: slices.Max(loop.Ranks), Step: first.Step, Operation: first.Operation, ExitCode: first.ExitCode}
	if m := s.member(c.Rank); m != nil {
		c.Host, c.Peer = m.Worker.Host, m.Worker.Addr
	}
	who, look := "the ranks", "the output of the ranks" // if no rank is lost and none is at fault
	switch {
	case len(loop.Ranks) == 2 && len(s.known.Lost) == 0:
		who, look = fmt.Sprintf("the link between ranks %d and %d", loop.Ranks[0], loop.Ranks[1]), "the network between their hosts"
	case c.Rank >= 0:
		who = fmt.Sprintf("rank %d", c.Rank)
		look = "the output of " + who
	}
	by := ""
	if who != "the ranks" {
		by = who + " ended each of "
	}
	s.gaveUp = GaveUp{c.Rank, fmt.Sprintf("gave up: %s%d generations in a row without a completed step (%s and would not help: see %s)",
		by, loop.Count, s.restartsLeftText(), look)}
	c.Text = fmt.Sprintf("%s; first cause: %v", s.gaveUp.Why, first)
	s.known.Cause = nil // c has its text
	return c
}

// Generations that end without a loss cost nothing, so people may not notice them.
const (
	freeEndsNoticed = 5           // more than so many
	freeEndsWindow  = time.Minute // in this time are worth a notice
)

// noteFreeEnd tells people if links break often.
func (s *regroupingState) noteFreeEnd(c *ring.Cause) {
	now := s.clock.awake
	s.freeEnds = append(slices.DeleteFunc(s.freeEnds, func(e freeEnd) bool { return now-e.at > freeEndsWindow }), freeEnd{now, c.Host})
	if len(s.freeEnds) <= freeEndsNoticed {
		return
	}
	var hosts []string
	for _, e := range s.freeEnds {
		if e.host != "" && !slices.Contains(hosts, e.host) {
			hosts = append(hosts, e.host)
		}
	}
	slices.Sort(hosts)
	s.notify(fmt.Sprintf("links broke %d times in a minute, at hosts %s: see their network", len(s.freeEnds), strings.Join(hosts, ", ")), nil)
	s.freeEnds = nil
}

// freeEnd is the end of a generation that has lost nobody.
type freeEnd struct {
	at   time.Duration
	host string // of the rank that the cause names
}
