package state

import (
	"fmt"
	"slices"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// resume takes in a worker of a life that goes on. If no life is known, its record is adopted.
func (s *State) resume(e Resumed) {
	j, r := &e.Request, &e.Record
	switch {
	case s.endedAlone:
		s.emit(CloseStream{e.Stream})
	case s.otherJob(j) && (s.inLife() || s.jobID != s.config.DefaultJobID): // a drawn id yields to that of a life
		s.refuse(e.Stream, j, exitcode.Retry, fmt.Sprintf("the rendezvous answers for job %s, not %s", s.jobID, j.JobID))
	case r.Fence.Generation == 0 || r.worker(j.Worker.Incarnation) == nil:
		s.refuse(e.Stream, j, exitcode.Protocol, "its record does not name it")
	case s.dead.Fence.Generation > 0 && s.dead.Fence.Life == r.Fence.Life:
		s.emit(SendAbort{e.Stream, s.dead.Cause})
	case s.phase == phaseEnded:
		s.resumeAfterEnd(e)
	case s.config.WorldSize != 0 && r.Agreed.WorldSize != s.config.WorldSize:
		s.endAlone(JoinCause(j, exitcode.Usage, fmt.Sprintf("the job that goes on has world size %d, and --world-size is %d: want the same", r.Agreed.WorldSize, s.config.WorldSize)))
	case !s.inLife(), r.Fence.Life != s.known.Fence.Life && !s.anyPresent() && !s.config.Unique:
		s.adopt(e)
	case r.Fence.Life != s.known.Fence.Life && s.neverWhole(j) && !s.config.Unique:
		s.adopt(e)
	case r.Fence.Life != s.known.Fence.Life:
		s.refuse(e.Stream, j, exitcode.Retry, "the rendezvous serves another start of job "+s.jobID)
	case Newer(r.Fence, s.known.Fence):
		s.adopt(e)
	default:
		s.resumeKnown(e)
	}
}

// neverWhole reports whether the known generation cannot become whole, because a worker that it names
// has taken another life.
func (s *State) neverWhole(j *Request) bool {
	return s.known.worker(j.Worker.Incarnation) != nil && s.known.Whole.Fence != s.known.Fence
}

// resumeAfterEnd tells a worker the end of its job.
func (s *endingState) resumeAfterEnd(e Resumed) {
	m := s.memberOf(e.Request.Worker.Incarnation)
	switch {
	case m != nil && e.Stream < m.stream:
		s.refuseStream(e.Stream, &e.Request, "came again on another stream")
		return
	case m != nil:
		s.connect(m, e.Stream)
	}
	switch {
	case s.cause != nil:
		s.emit(SendAbort{e.Stream, s.cause})
	case m != nil:
		s.emit(SendEnd{e.Stream})
	default:
		s.refuse(e.Stream, &e.Request, exitcode.Retry, fmt.Sprintf("job %s has ended", s.jobID))
	}
}

// anyPresent reports whether any member of the known generation is here.
func (s *knownState) anyPresent() bool {
	return slices.ContainsFunc(s.members, func(m *member) bool { return !m.fresh && m.present() })
}

// adopt makes the record of e what is known. Workers that have joined are judged again, and all
// other members are away.
func (s *State) adopt(e Resumed) {
	before := s.members
	s.setKnown(e.Record)
	var streams []*member
	for _, m := range before {
		switch {
		case m.fresh:
			s.held = append(s.held, heldJoin{Joined: Joined{m.stream, m.Request}})
		case m.present():
			streams = append(streams, m)
		}
	}
	for _, m := range streams {
		s.resumeKnown(Resumed{Stream: m.stream, Request: m.Request, Doing: OutOfGroup})
	}
	s.notify(fmt.Sprintf("goes on with generation %d of job %s, which %s knows", s.known.Fence.Generation, s.jobID, e.Request.label()), nil)
	s.resumeKnown(e)
}

// setKnown makes r what is known. All members are away, and their ports are probed.
func (s *State) setKnown(r Record) {
	s.known, s.adopted, s.run = r, true, run{startStep: r.Step, startStepUnknown: true}
	s.jobID, s.worldSize = r.JobID, len(r.Workers)
	s.members, s.byStream, s.suspicions = nil, map[uint64]*member{}, suspicions{}
	s.phase = phaseRunning
	if r.Ended {
		s.phase, s.run.cause = phaseRegrouping, r.Cause
	}
	s.startWait()
	if s.stop.code == 0 {
		s.stop.code = r.Stop
	}
	for _, w := range r.Workers {
		if slices.Contains(r.Lost, w.Incarnation) {
			continue
		}
		m := &member{
			Request: Request{JobID: r.JobID, Rank: w.Rank, WorldSize: len(r.Workers), Worker: w, Protocol: r.Agreed.Protocol, Version: r.Agreed.Version, Agree: r.Agreed.Lines},
			joined:  s.clock.now, lastHeard: s.clock.awake, unchangedSince: s.clock.awake, step: -1, wait: ring.Wait{Peer: -1},
		}
		s.members = append(s.members, m)
		s.sendAway(m, "not heard of yet")
	}
}

// resumeKnown takes in a worker of the known life, whose record is not newer than what is known.
func (s *State) resumeKnown(e Resumed) {
	older := e.Record.Fence != s.known.Fence
	s.known = s.known.Merge(e.Record)
	m := s.memberOf(e.Request.Worker.Incarnation)
	if m == nil || older && s.known.worker(m.Worker.Incarnation) == nil {
		s.refuse(e.Stream, &e.Request, exitcode.Retry, fmt.Sprintf("superseded by generation %d", s.currentOrNext()))
		return
	}
	s.reattach(m, e)
	s.followMerge()
	if e.Record.Stop != 0 && s.stop.code == 0 {
		s.stopAll(e.Record.Stop, nil) // it may end the job: the worker hears that on its new stream
	}
}

// followMerge acts on what the record of a worker has told: losses, and the end of the generation.
func (s *regroupingState) followMerge() {
	for _, m := range slices.Clone(s.members) {
		if slices.Contains(s.known.Lost, m.Worker.Incarnation) {
			s.supersede(m, "is lost", false)
		}
	}
	if s.known.Ended && s.phase == phaseRunning {
		s.endGeneration(s.known.Cause)
	}
}

// currentOrNext returns the number of the running generation, or of the one to come.
func (s *knownState) currentOrNext() uint64 {
	if s.phase == phaseRegrouping {
		return s.known.Fence.Generation + 1
	}
	return s.known.Fence.Generation
}

// reattach gives a member its new stream and sends what the member has missed.
func (s *State) reattach(m *member, e Resumed) {
	if e.Stream < m.stream { // an earlier attempt that arrives late
		s.refuseStream(e.Stream, &e.Request, "came again on another stream")
		return
	}
	if m.present() && m.stream != e.Stream {
		s.refuseStream(m.stream, &m.Request, "came again on another stream")
	}
	s.connect(m, e.Stream)
	m.Offers = e.Request.Offers
	s.noteStep(m, max(m.step, e.Record.Step))
	older := e.Record.Fence != s.known.Fence
	s.emit(SendResumed{m.stream})
	switch {
	case e.Doing == WorkDone && !older:
		m.place = left
	case s.phase == phaseRegrouping && (older || e.Doing == OutOfGroup):
		m.place = ready
	case s.phase == phaseRegrouping:
		m.place = here
		s.sendEnd(m)
	case older:
		s.sendMembership(m)
	}
	if s.stop.code != 0 && s.phase == phaseRunning {
		s.emit(SendStop{m.stream, s.stop.code, s.stop.by()})
	}
	s.judgeLater()
	s.endIfAllLeft()
	s.startIfComplete()
}
