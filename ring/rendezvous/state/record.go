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
		Barren     int
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
const returnTime = 3 * time.Second

func (s *State) keep(r Record) {
	if s.c.Durable && !s.unkept {
		s.do(Keep{r})
	}
}

// keepJob keeps the job once, with its first generation.
func (s *State) keepJob() {
	if s.spec == nil {
		spec := s.here[0].Request
		spec.Offers = nil // need not be equal
		s.spec = &spec
		s.keep(JobRecord{s.job, s.size, spec})
	}
}

// Restore returns the state after the records of a journal, at time 0: nobody
// is here, and those who were are awaited back.
func Restore(c Config, records []Record) *State {
	s := New(c)
	for _, r := range records {
		switch r := r.(type) {
		case JobRecord:
			s.job, s.size, s.spec = r.JobID, r.WorldSize, &r.Spec
		case CutRecord:
			s.generation = r.Generation
		case GenerationRecord:
			s.restoreGeneration(r)
		case LossRecord:
			if s.phase == running {
				s.lost, s.prepaid = nil, true
			}
			s.prepaid = s.prepaid && len(r.Lost) == 0
			s.phase, s.used, s.why, s.first = recovering, r.Used, r.Cause, r.First
			s.addLost(r.Lost)
			s.here = slices.DeleteFunc(s.here, func(m *member) bool { return slices.Contains(r.Lost, m.Rank) })
			for _, rank := range r.Lost {
				s.away[rank] = absence{0, "was lost"}
			}
		case EndRecord:
			s.phase, s.cause, s.first, s.farewell = finished, r.Cause, nil, c.Lease+returnTime
		}
	}
	s.report, s.probe, s.endedAt = FirstReport, firstProbe, returnTime
	return s
}

func (s *State) restoreGeneration(r GenerationRecord) {
	s.setBarren(r.Barren)
	s.phase, s.generation, s.fresh, s.choices = running, r.Generation, true, r.Choices
	s.here, s.away = nil, map[int]absence{}
	for _, w := range r.Workers {
		j := *s.spec
		j.Rank, j.Worker, j.Offers = w.Rank, w, nil // it says them as it comes back
		s.here = append(s.here, &member{Request: j, connection: connBroken, heard: returnTime, step: -1, wait: ring.Wait{Peer: -1}})
	}
}
