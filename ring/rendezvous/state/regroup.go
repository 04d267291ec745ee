package state

import (
	"fmt"
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// endGeneration tells all members to leave their groups. The next generation begins when all
// members are ready and the lost ranks are back.
func (s *regroupingState) endGeneration(c *ring.Cause) {
	s.phase, s.known.Ended, s.run.cause = phaseRegrouping, true, c
	s.startWait()
	s.suspicions = suspicions{}
	for _, m := range s.members {
		if m.fresh {
			continue
		}
		if m.place == left && m.present() {
			m.place = here
		}
		s.sendEnd(m)
	}
}

// sendEnd tells a member that the known generation has ended.
func (s *knownState) sendEnd(m *member) {
	if m.present() {
		s.emit(SendEndGeneration{m.stream, s.known.Fence, s.known.lostRanks(), s.known.Lost, s.run.cause, s.known.Cause})
	}
}

// noteStartStep sets the start step of a generation in which no member had a state, or of an
// adopted one, from the first heartbeat with a step. A step that was restored from a checkpoint
// does not count as completed in the generation.
func (s *knownState) noteStartStep(e Heartbeat) {
	if s.run.startStepUnknown && e.Step >= 0 && e.Phase != "" && e.Phase != "restore" {
		s.run.startStep, s.run.startStepUnknown = max(s.run.startStep, e.Step), false
	}
}

// noteStep notes the step of a member.
func (s *knownState) noteStep(m *member, step int64) {
	m.step = step
	s.known.Step = max(s.known.Step, step)
	if s.run.stepCompleted || step <= s.run.startStep || !s.inLife() {
		return
	}
	s.run.stepCompleted = true
	s.known.Cause = nil
	if s.phase == phaseRegrouping {
		s.known.Cause = s.run.cause // the cause of earlier generations is overcome
	}
}

func (s *regroupingState) memberReady(e ReadyForNext) {
	m := s.byStream[e.Stream]
	if m == nil || s.phase != phaseRegrouping || e.Generation != s.known.Fence.Generation {
		return
	}
	m.place = ready
	m.heard(s.clock.awake)
	s.noteStep(m, e.Step)
	cause := s.withLatestStep(s.run.cause)
	if s.known.Cause == s.run.cause {
		s.known.Cause = cause
	}
	s.run.cause = cause
	s.startIfComplete()
}

// startIfComplete starts the next generation if all members are ready, no rank is missing, and no
// other rendezvous can start one. If the last generation completes a crash loop, the job ends. This
// is known once all members have reported their step.
func (s *regroupingState) startIfComplete() {
	switch {
	case s.phase != phaseForming && s.phase != phaseRegrouping:
	case slices.ContainsFunc(s.members, func(m *member) bool { return m.place != ready }):
	case s.phase == phaseRegrouping && s.countCrashLoop() >= CrashLoopLimit:
		s.fail(s.crashLoopCause())
	case len(s.members) < s.worldSize:
	case s.phase == phaseForming && !s.config.Unique && s.clock.now-s.clock.listensSince < settleTime:
	case s.phase == phaseForming || s.mayGoOn():
		s.startGeneration()
	}
}

// mayGoOn reports whether the members may form a generation after the known one: they have a
// quorum, or nobody who may have the state is alive.
func (s *regroupingState) mayGoOn() bool {
	return s.config.Unique || s.known.allDead() || s.known.quorum(func(id uint64) bool { return s.memberOf(id) != nil })
}

// startGeneration assigns the free ranks and starts a generation. The job ends if the offers of the
// members have no common value.
func (s *regroupingState) startGeneration() {
	assignRanks(s.members)
	slices.SortFunc(s.members, func(a, b *member) int { return a.Rank - b.Rank })
	choices, cause := s.choose()
	if cause != nil {
		s.fail(cause)
		return
	}
	lost, ended := s.known.lostRanks(), s.endedCause()
	s.setNext(choices)
	s.phase, s.run = phaseRunning, run{startStepUnknown: true}
	for _, m := range s.members {
		s.run.startStep, s.run.startStepUnknown = max(s.run.startStep, m.step), s.run.startStepUnknown && m.step < 0
		m.place, m.fresh, m.leaveCode, m.lastHeard, m.nextSilenceNotice = here, false, 0, s.clock.awake, 0
		m.wait, m.unchangedSince = ring.Wait{Peer: -1}, s.clock.awake
		s.processesOf(m.Rank).inGeneration = true
	}
	for _, m := range s.members {
		s.emit(SendMembership{m.stream, s.known.Membership(m.Rank), s.known, lost, ended})
	}
}

// endedCause returns the cause of the known generation's end, with the latest step that is known to
// have been completed in it. It returns nil before the first generation.
func (s *regroupingState) endedCause() *ring.Cause {
	if s.run.cause == nil {
		return nil
	}
	c := *s.run.cause
	c.Step = max(c.Step, s.known.Step)
	return &c
}

// setNext makes the next generation the known one. It begins a new life if no member has a state.
func (s *regroupingState) setNext(choices []ring.Choice) {
	r, first := s.known, s.members[0]
	r.Loop = s.nextLoop()
	if !slices.ContainsFunc(s.members, func(m *member) bool { return !m.fresh }) {
		r.Fence.Life, r.Whole, r.Taken, r.Dead, s.adopted = s.config.NewLife(), Roster{}, nil, nil, false
	}
	r.JobID, r.Fence.Generation, r.Fence.Issuer = s.jobID, r.Fence.Generation+1, s.config.Instance
	r.Agreed = Agreed{s.worldSize, first.Protocol, first.Version, first.Agree}
	r.Choices, r.Restarts, r.Used, r.Ended, r.Lost = choices, max(s.restarts(), 0), s.known.used(), false, nil
	r.Workers = nil
	for _, m := range s.members {
		m.Worker.Rank = m.Rank
		r.Workers = append(r.Workers, m.Worker)
	}
	r.Step = -1
	for _, m := range s.members {
		r.Step = max(r.Step, m.step)
	}
	r.take()
	s.known = r
}

// sendMembership tells a member again of the known generation.
func (s *knownState) sendMembership(m *member) {
	s.emit(SendMembership{m.stream, s.known.Membership(m.Rank), s.known, nil, s.known.Cause})
}

// notReturnedCause returns the cause if the next generation is not complete in time.
func (s *endingState) notReturnedCause(after time.Duration) *ring.Cause {
	c := &ring.Cause{Rank: -1, Step: -1, Operation: OpJoin, ExitCode: exitcode.Retry}
	first := s.known.Cause
	if first != nil {
		c.Step = first.Step
	}
	list := s.missing(maxMissingText)
	names := formatMissing(list, s.worldSize-s.readyCount())
	switch {
	case len(list) == 1:
		c.Rank, c.Peer = list[0].Rank, list[0].Address
		c.Text = fmt.Sprintf("rank %d did not return in %d s", c.Rank, int64(after.Seconds()))
		if m := s.member(c.Rank); m != nil {
			c.Text = fmt.Sprintf("rank %d %s for %d s", c.Rank, s.awaitedReason(m), int64(after.Seconds()))
		}
	case len(list) > 1:
		c.Text = fmt.Sprintf("ranks %s did not return in %d s", names, int64(after.Seconds()))
	default:
		c.Text = fmt.Sprintf("all ranks are here, and no quorum of the generation before is known in %d s: another rendezvous may have it", int64(after.Seconds()))
	}
	if first != nil {
		c.Text += ": " + first.Text
		s.known.Cause = nil
	}
	return c
}

// readyCount returns the number of members that are ready for the next generation.
func (s *knownState) readyCount() int {
	n := 0
	for _, m := range s.members {
		if m.place == ready {
			n++
		}
	}
	return n
}
