package state

import (
	"slices"
	"time"

	"ringtrain/ring"
)

// Record is an entry of the journal, which a rendezvous needs after a crash: one of the types
// below, in the order of writing.
type Record interface{ record() }

// The records.
type (
	// JobRecord is the first record.
	JobRecord struct {
		JobID     string
		WorldSize int
		Spec      Request // what every worker must agree with
	}
	// CutRecord replaces the records of the generations up to Generation; see Compact. It is the
	// second record if there is one.
	CutRecord struct{ Generation uint64 }
	// GenerationRecord is written before any worker gets the membership, so that no number is used
	// twice. CrashLoop is the number of generations in a row before this one that the same rank
	// ended without a completed step.
	GenerationRecord struct {
		Generation uint64
		Workers    []ring.Worker
		CrashLoop  int
		Choices    []ring.Choice
	}
	// LossRecord ends a generation, or adds lost ranks to a generation that has ended. Used is the
	// number of restarts used so far. First is the first cause since the last completed step.
	LossRecord struct {
		Generation   uint64
		Lost         []int
		Used         int
		Cause, First *ring.Cause
	}
	// EndRecord is the end of the job. Cause is nil after a clean end.
	EndRecord struct{ Cause *ring.Cause }
)

func (JobRecord) record()        {}
func (CutRecord) record()        {}
func (GenerationRecord) record() {}
func (LossRecord) record()       {}
func (EndRecord) record()        {}

// returnGrace is how long a restarted rendezvous waits for a worker to reconnect, in addition to
// the lease.
const returnGrace = 3 * time.Second

func (s *State) persist(r Record) {
	if s.config.HasJournal && !s.journalAbandoned {
		s.emit(Persist{r})
	}
}

// persistJob persists the job once, with its first generation.
func (s *State) persistJob() {
	if s.reference == nil {
		spec := s.members[0].Request
		spec.Offers = nil // need not be equal
		s.reference = &spec
		s.persist(JobRecord{s.jobID, s.worldSize, spec})
	}
}

// Restore returns the state after the records of a journal, at time 0. All members are awaited
// back.
func Restore(c Config, records []Record) *State {
	s := New(c)
	for _, r := range records {
		switch r := r.(type) {
		case JobRecord:
			s.jobID, s.worldSize, s.reference = r.JobID, r.WorldSize, &r.Spec
		case CutRecord:
			s.generation = r.Generation
		case GenerationRecord:
			s.restoreGeneration(r)
		case LossRecord:
			if s.phase == phaseRunning {
				s.lostRanks, s.restartPrepaid = nil, true
			}
			s.restartPrepaid = s.restartPrepaid && len(r.Lost) == 0
			s.phase, s.restartsUsed, s.generationCause, s.firstCause = phaseRecovering, r.Used, r.Cause, r.First
			s.addLost(r.Lost)
			s.members = slices.DeleteFunc(s.members, func(m *member) bool { return slices.Contains(r.Lost, m.Rank) })
			for _, rank := range r.Lost {
				s.absences[rank] = absence{0, "was lost"}
			}
		case EndRecord:
			s.phase, s.cause, s.firstCause, s.endUntil = phaseFinished, r.Cause, nil, c.Lease+returnGrace
		}
	}
	s.nextReport, s.nextProbe, s.generationEnded = FirstReport, firstProbe, returnGrace
	return s
}

func (s *State) restoreGeneration(r GenerationRecord) {
	s.setCrashLoop(r.CrashLoop)
	s.phase, s.generation, s.startStepUnknown, s.choices = phaseRunning, r.Generation, true, r.Choices
	s.members, s.absences = nil, map[int]absence{}
	for _, w := range r.Workers {
		j := *s.reference
		j.Rank, j.Worker, j.Offers = w.Rank, w, nil // the worker sends its offers when it reconnects
		s.members = append(s.members, &member{Request: j, connection: connBroken, lastHeard: returnGrace, step: -1, wait: ring.Wait{Peer: -1}})
	}
}
