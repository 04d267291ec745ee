package state

import (
	"slices"
	"time"

	"ringtrain/ring"
)

// Record is what a State must still know after a crash: one of the types below,
// in the order in which they were kept.
type Record interface{ record() }

// The records.
type (
	// JobRecord is the first record, and only that one.
	JobRecord struct {
		JobID     string
		WorldSize int
		Spec      Request // what every worker must agree with
	}
	// CutRecord stands for the generations up to this one, whose records were left out;
	// see compact. It is the second record, or there is none.
	CutRecord struct{ Generation uint64 }
	// GenerationRecord is kept before anybody gets the membership, so that no
	// number is used twice. Barren is how many generations in a row before it
	// were ended by one and the same rank, with no step completed.
	GenerationRecord struct {
		Generation uint64
		Workers    []ring.Worker
		CrashLoop  int
		Choices    []ring.Choice
	}
	// LossRecord ends a generation, or takes more workers from those that are to
	// form the next one. Used is how many restarts that makes. First is the first
	// cause since the last completed step.
	LossRecord struct {
		Generation   uint64
		Lost         []int
		Used         int
		Cause, First *ring.Cause
	}
	// EndRecord is the end of the job; a nil Cause is the clean one.
	EndRecord struct{ Cause *ring.Cause }
)

func (JobRecord) record()        {}
func (CutRecord) record()        {}
func (GenerationRecord) record() {}
func (LossRecord) record()       {}
func (EndRecord) record()        {}

// returnTime is how long after its own return a rendezvous waits for a worker
// to come back, besides the lease.
const returnGrace = 3 * time.Second

func (s *State) persist(r Record) {
	if s.config.HasJournal && !s.journalAbandoned {
		s.emit(Persist{r})
	}
}

// keepJob keeps the job once, with its first generation.
func (s *State) persistJob() {
	if s.reference == nil {
		spec := s.members[0].Request
		spec.Offers = nil // need not be equal
		s.reference = &spec
		s.persist(JobRecord{s.jobID, s.worldSize, spec})
	}
}

// Restore returns the state after the records of a journal, at time 0: nobody
// is here, and those who were are awaited back.
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
		j.Rank, j.Worker, j.Offers = w.Rank, w, nil // it says them as it comes back
		s.members = append(s.members, &member{Request: j, connection: connBroken, lastHeard: returnGrace, step: -1, wait: ring.Wait{Peer: -1}})
	}
}
