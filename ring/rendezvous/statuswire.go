package rendezvous

import (
	"cmp"
	"slices"

	pb "ringtrain/ring/ringpb"
)

// sortRanks has ranks in order, and those without a number last, as they came.
func sortRanks(ranks []RankStatus) {
	slices.SortStableFunc(ranks, func(a, b RankStatus) int { return cmp.Compare(uint(a.Worker.Rank), uint(b.Worker.Rank)) })
}

func statusToWire(s Status) *pb.Job {
	j := &pb.Job{
		JobId: name(s.JobID), Phase: s.Phase, Generation: s.Generation, WorldSize: uint32(s.WorldSize), Present: uint32(s.Present),
		Step: s.Step, StepsPerS: s.StepsPerS, RestartsLeft: int32(s.RestartsLeft), RemainingMs: s.Remaining.Milliseconds(), Stall: line(s.Stall, maxText),
		Choices: choicesToWire(s.Choices),
	}
	if s.Cause != nil {
		j.Cause = causeToWire(s.Cause)
	}
	for _, r := range s.Ranks {
		p := &pb.Rank{
			Worker: workerToWire(r.Worker), Present: r.Present, Reason: name(r.Reason), MissingMs: r.Missing.Milliseconds(),
			Step: r.Step, Phase: r.Phase, BeatMs: r.Beat.Milliseconds(), Wait: new(pb.Wait),
		}
		waitToWire(p.Wait, r.Wait)
		p.Wait.ForMs = r.For.Milliseconds()
		j.Ranks = append(j.Ranks, p)
	}
	return j
}

func statusFromWire(j *pb.Job) Status {
	s := Status{
		JobID: name(j.GetJobId()), Phase: name(j.GetPhase()), Generation: j.GetGeneration(), WorldSize: int(j.GetWorldSize()), Present: int(j.GetPresent()),
		Step: max(j.GetStep(), -1), StepsPerS: j.GetStepsPerS(), RestartsLeft: int(j.GetRestartsLeft()), Remaining: milliseconds(j.GetRemainingMs()),
		Stall: line(j.GetStall(), maxText), Choices: choicesFromWire(j.GetChoices()),
	}
	if j.GetCause() != nil {
		s.Cause = causeFromWire(j.GetCause())
	}
	for _, p := range j.GetRanks() {
		r := RankStatus{
			Worker: workerFromWire(p.GetWorker()), Present: p.GetPresent(), Reason: name(p.GetReason()), Missing: milliseconds(p.GetMissingMs()),
			Step: max(p.GetStep(), -1), Phase: name(p.GetPhase()), Beat: milliseconds(p.GetBeatMs()),
		}
		r.Wait, r.For = waitFromWire(p.GetWait())
		s.Ranks = append(s.Ranks, r)
	}
	return s
}
