package rendezvous

import (
	"errors"
	"fmt"

	"ringtrain/ring"
	pb "ringtrain/ring/ringpb"
)

func recordToWire(r Record) *pb.JournalEntry {
	switch r := r.(type) {
	case JobRecord:
		return &pb.JournalEntry{What: &pb.JournalEntry_Job{Job: &pb.JournalJob{
			JobId: name(r.JobID), WorldSize: uint32(r.WorldSize), Spec: joinToWire(r.Spec),
		}}}
	case CutRecord:
		return &pb.JournalEntry{What: &pb.JournalEntry_Cut{Cut: &pb.JournalCut{Generation: r.Generation}}}
	case GenerationRecord:
		return &pb.JournalEntry{What: &pb.JournalEntry_Generation{Generation: &pb.JournalGeneration{
			Generation: r.Generation, Workers: rosterToWire(r.Workers), Barren: uint32(r.Barren), Choices: choicesToWire(r.Choices),
		}}}
	case LossRecord:
		return &pb.JournalEntry{What: &pb.JournalEntry_Loss{Loss: &pb.JournalLoss{
			Generation: r.Generation, Lost: ranksToWire(r.Lost), Used: uint32(r.Used), Cause: causeToWire(r.Cause), First: causeToWire(r.First),
		}}}
	case EndRecord:
		e := &pb.JournalEnd{}
		if r.Cause != nil {
			e.Cause = causeToWire(r.Cause)
		}
		return &pb.JournalEntry{What: &pb.JournalEntry_End{End: e}}
	}
	panic("rendezvous: unknown record")
}

// recordFromWire checks each entry by itself; follows checks it against those
// before it.
func recordFromWire(e *pb.JournalEntry) (Record, error) {
	switch w := e.GetWhat().(type) {
	case *pb.JournalEntry_Job:
		size := w.Job.GetWorldSize()
		if size == 0 || size > ring.MaxWorldSize {
			return nil, fmt.Errorf("world size is %d, want 1 to %d", size, ring.MaxWorldSize)
		}
		return JobRecord{name(w.Job.GetJobId()), int(size), joinFromWire(w.Job.GetSpec())}, nil
	case *pb.JournalEntry_Cut:
		return CutRecord{w.Cut.GetGeneration()}, nil
	case *pb.JournalEntry_Generation:
		r := GenerationRecord{
			Generation: w.Generation.GetGeneration(), Barren: int(min(w.Generation.GetBarren(), mostBarren)),
			Choices: choicesFromWire(w.Generation.GetChoices()),
		}
		for i, p := range w.Generation.GetWorkers() {
			if int(p.GetRank()) != i {
				return nil, fmt.Errorf("rank %d at place %d", p.GetRank(), i)
			}
			r.Workers = append(r.Workers, workerFromWire(p))
		}
		return r, nil
	case *pb.JournalEntry_Loss:
		r := LossRecord{
			Generation: w.Loss.GetGeneration(), Lost: ranksFromWire(w.Loss.GetLost()), Used: int(w.Loss.GetUsed()),
			Cause: causeFromWire(w.Loss.GetCause()), First: causeFromWire(w.Loss.GetFirst()),
		}
		return r, nil
	case *pb.JournalEntry_End:
		if w.End.GetCause() == nil {
			return EndRecord{}, nil
		}
		return EndRecord{causeFromWire(w.End.GetCause())}, nil
	}
	return nil, errors.New("an entry of no known kind")
}

// follows tells what is wrong with r behind records.
func follows(records []Record, r Record) error {
	if len(records) == 0 {
		if _, ok := r.(JobRecord); !ok {
			return errors.New("does not begin with the job")
		}
		return nil
	}
	job := records[0].(JobRecord)
	last := lastGeneration(records)
	_, next := r.(GenerationRecord)
	switch records[len(records)-1].(type) {
	case EndRecord:
		return errors.New("an entry after the end")
	case CutRecord:
		if !next {
			return errors.New("no generation after those that were left out")
		}
	}
	switch r := r.(type) {
	case CutRecord:
		if len(records) > 1 || r.Generation == 0 {
			return fmt.Errorf("generations up to %d left out behind entry %d, want 1 or more behind the first", r.Generation, len(records))
		}
	case JobRecord:
		return errors.New("a second job")
	case GenerationRecord:
		if r.Generation != last+1 || len(r.Workers) != job.WorldSize {
			return fmt.Errorf("generation %d of %d workers after generation %d, want %d of %d", r.Generation, len(r.Workers), last, last+1, job.WorldSize)
		}
	case LossRecord:
		if r.Generation != last || last == 0 {
			return fmt.Errorf("a loss in generation %d after generation %d", r.Generation, last)
		}
		for _, rank := range r.Lost {
			if rank < 0 || rank >= job.WorldSize {
				return fmt.Errorf("lost rank %d of world size %d", rank, job.WorldSize)
			}
		}
	case EndRecord:
		if last == 0 {
			return errors.New("an end before the first generation")
		}
	}
	return nil
}

// lastGeneration is the number of the newest generation in records, 0 if none.
func lastGeneration(records []Record) uint64 {
	for i := len(records) - 1; i >= 0; i-- {
		switch r := records[i].(type) {
		case GenerationRecord:
			return r.Generation
		case LossRecord:
			return r.Generation
		case CutRecord:
			return r.Generation
		}
	}
	return 0
}
