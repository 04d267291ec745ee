package wire

import (
	"errors"
	"fmt"

	"ringtrain/ring"
	"ringtrain/ring/rendezvous/internal/sanitize"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
)

// EncodeRecord converts a record to its message.
func EncodeRecord(r state.Record) *pb.JournalEntry {
	switch r := r.(type) {
	case state.JobRecord:
		return &pb.JournalEntry{What: &pb.JournalEntry_Job{Job: &pb.JournalJob{
			JobId: sanitize.Name(r.JobID), WorldSize: uint32(r.WorldSize), Spec: EncodeRequest(r.Spec),
		}}}
	case state.CutRecord:
		return &pb.JournalEntry{What: &pb.JournalEntry_Cut{Cut: &pb.JournalCut{Generation: r.Generation}}}
	case state.GenerationRecord:
		return &pb.JournalEntry{What: &pb.JournalEntry_Generation{Generation: &pb.JournalGeneration{
			Generation: r.Generation, Workers: EncodeWorkers(r.Workers), Barren: uint32(r.CrashLoop), Choices: EncodeChoices(r.Choices),
		}}}
	case state.LossRecord:
		return &pb.JournalEntry{What: &pb.JournalEntry_Loss{Loss: &pb.JournalLoss{
			Generation: r.Generation, Lost: EncodeRanks(r.Lost), Used: uint32(r.Used), Cause: EncodeCause(r.Cause), First: EncodeCause(r.First),
		}}}
	case state.EndRecord:
		e := &pb.JournalEnd{}
		if r.Cause != nil {
			e.Cause = EncodeCause(r.Cause)
		}
		return &pb.JournalEntry{What: &pb.JournalEntry_End{End: e}}
	}
	panic("rendezvous: unknown record")
}

// DecodeRecord decodes a record and checks its values. state.Follows checks the order of records.
func DecodeRecord(e *pb.JournalEntry) (state.Record, error) {
	switch w := e.GetWhat().(type) {
	case *pb.JournalEntry_Job:
		size := w.Job.GetWorldSize()
		if size == 0 || size > ring.MaxWorldSize {
			return nil, fmt.Errorf("world size is %d, want 1 to %d", size, ring.MaxWorldSize)
		}
		return state.JobRecord{JobID: sanitize.Name(w.Job.GetJobId()), WorldSize: int(size), Spec: DecodeRequest(w.Job.GetSpec())}, nil
	case *pb.JournalEntry_Cut:
		return state.CutRecord{Generation: w.Cut.GetGeneration()}, nil
	case *pb.JournalEntry_Generation:
		r := state.GenerationRecord{
			Generation: w.Generation.GetGeneration(), CrashLoop: int(min(w.Generation.GetBarren(), state.CrashLoopLimit)),
			Choices: DecodeChoices(w.Generation.GetChoices()),
		}
		for i, p := range w.Generation.GetWorkers() {
			if int(p.GetRank()) != i {
				return nil, fmt.Errorf("rank %d at place %d", p.GetRank(), i)
			}
			r.Workers = append(r.Workers, decodeWorker(p))
		}
		return r, nil
	case *pb.JournalEntry_Loss:
		r := state.LossRecord{
			Generation: w.Loss.GetGeneration(), Lost: DecodeRanks(w.Loss.GetLost()), Used: int(w.Loss.GetUsed()),
			Cause: DecodeCause(w.Loss.GetCause()), First: DecodeCause(w.Loss.GetFirst()),
		}
		return r, nil
	case *pb.JournalEntry_End:
		if w.End.GetCause() == nil {
			return state.EndRecord{}, nil
		}
		return state.EndRecord{Cause: DecodeCause(w.End.GetCause())}, nil
	}
	return nil, errors.New("an entry of no known kind")
}
