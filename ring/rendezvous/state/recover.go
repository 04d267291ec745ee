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
func (s *State) endGeneration() {
	s.phase, s.waitSince = phaseRecovering, s.now
	s.generationEnded = s.awake
	s.nextReport, s.nextProbe, s.reportRank0Only = s.now+FirstReport, s.now+firstProbe, false
	s.suspicions, s.decideLeaveAt = nil, 0
	for _, m := range s.members {
		m.progress = inGeneration
		if m.stream != 0 {
			s.emit(SendEndGeneration{m.stream, s.generation, s.lostRanks, s.generationCause})
		}
	}
}

// noteStartStep sets the start step of a generation in which no member had a state from the first
// heartbeat with a step. A step that was restored from a checkpoint does not count as completed in
// the generation.
func (s *State) noteStartStep(e Heartbeat) {
	if s.startStepUnknown && e.Step >= 0 && e.Phase != "" && e.Phase != "restore" {
		s.startStep, s.startStepUnknown = max(s.startStep, e.Step), false
	}
}

// noteStep notes the step of a member.
func (s *State) noteStep(m *member, step int64) {
	m.step = step
	if s.stepCompleted || step <= s.startStep || s.generation == 0 {
		return
	}
	s.stepCompleted = true
	switch s.phase {
	case phaseRunning:
		s.firstCause = nil
	case phaseRecovering:
		s.firstCause = s.generationCause // the cause of earlier generations is overcome
	}
}

func (s *State) memberReady(e ReadyForNext) {
	m := s.byStream[e.Stream]
	if m == nil || s.phase != phaseRecovering || e.Generation != s.generation {
		return
	}
	m.progress, m.lastHeard = readyForNext, s.awake
	s.noteStep(m, e.Step)
	cause := s.withLatestStep(s.generationCause)
	if s.firstCause == s.generationCause {
		s.firstCause = cause
	}
	s.generationCause = cause
	s.startIfComplete()
}

// startIfComplete starts the next generation if all members are ready and no rank is missing. If
// the last generation completes a crash loop, the job ends. This is known once all members have
// reported their step.
func (s *State) startIfComplete() {
	switch {
	case slices.ContainsFunc(s.members, func(m *member) bool { return m.progress != readyForNext }):
	case s.phase == phaseRecovering && s.countCrashLoop() >= CrashLoopLimit:
		s.fail(s.crashLoopCause())
	case len(s.members) == s.worldSize:
		s.startGeneration()
	}
}

// startGeneration assigns the free ranks and starts a generation. The job ends if the offers of the
// members have no common value.
func (s *State) startGeneration() {
	assignRanks(s.members)
	if cause := s.choose(); cause != nil {
		s.fail(cause)
		return
	}
	s.setCrashLoop(s.countCrashLoop())
	s.keepReference()
	s.phase, s.stepCompleted, s.startStep, s.startStepUnknown = phaseRunning, false, 0, true
	s.generation++
	var workers []ring.Worker
	for _, m := range s.members {
		m.Worker.Rank = m.Rank
		workers = append(workers, m.Worker)
		s.startStep, s.startStepUnknown = max(s.startStep, m.step), s.startStepUnknown && m.step < 0
		m.lastHeard, m.nextSilenceNotice, m.progress, m.leaveCode = s.awake, 0, inGeneration, 0
		if m.departure == leaveAsked {
			m.departure = staying
		}
		m.wait, m.unchangedSince = ring.Wait{Peer: -1}, s.awake
		s.processesOf(m.Rank).inGeneration = true
	}
	slices.SortFunc(workers, func(a, b ring.Worker) int { return a.Rank - b.Rank })
	for _, m := range s.members {
		s.sendMembership(m, workers)
	}
}

// keepReference keeps what every worker must agree with, from the first generation on.
func (s *State) keepReference() {
	if s.reference == nil {
		r := s.members[0].Request
		r.Offers = nil // need not be equal
		s.reference = &r
	}
}

func (s *State) sendMembership(m *member, workers []ring.Worker) {
	membership := ring.Membership{JobID: s.jobID, Generation: s.generation, Rank: m.Rank, Workers: workers, Choices: s.choices}
	s.emit(SendMembership{m.stream, membership, s.lostRanks, s.generationCause})
}

// notReturnedCause returns the cause if lost ranks do not come back in time.
func (s *State) notReturnedCause(after time.Duration) *ring.Cause {
	c := &ring.Cause{Rank: -1, Step: -1, Operation: OpJoin, ExitCode: exitcode.Retry}
	if s.firstCause != nil {
		c.Step = s.firstCause.Step
	}
	list := s.missing(maxMissingText)
	names := formatMissing(list, s.worldSize-len(s.members))
	ranks := "ranks " + names
	if len(list) == 1 {
		c.Rank, c.Peer = list[0].Rank, list[0].Address
		ranks = fmt.Sprintf("rank %d", c.Rank)
	}
	c.Text = fmt.Sprintf("%s did not return in %d s", ranks, int64(after.Seconds()))
	if s.firstCause != nil {
		c.Text += ": " + s.firstCause.Text
		s.firstCause = nil
	}
	return c
}
