package wire

import (
	"ringtrain/ring/phrase"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
)

// EncodeStatus converts a status to its message.
func EncodeStatus(s state.Status) *pb.Job {
	j := &pb.Job{
		JobId: phrase.Name(s.JobID), Phase: s.Phase, Generation: s.Generation, WorldSize: uint32(s.WorldSize), Present: uint32(s.Present),
		Step: s.Step, StepsPerS: s.StepsPerS, RestartsLeft: int32(s.RestartsLeft), RemainingMs: s.Remaining.Milliseconds(), Stall: phrase.Foreign(s.Stall, phrase.MaxText),
		Choices: encodeChoices(s.Choices), Strangers: names(s.Strangers),
	}
	if s.Cause != nil {
		j.Cause = EncodeCause(s.Cause)
	}
	for _, r := range s.Ranks {
		p := &pb.Rank{
			Worker: encodeWorker(r.Worker), Present: r.Present, Reason: phrase.Name(r.Reason), MissingMs: r.Missing.Milliseconds(),
			Step: r.Step, Phase: r.Phase, BeatMs: r.Beat.Milliseconds(), Wait: new(pb.Wait),
		}
		EncodeWait(p.Wait, r.Wait)
		p.Wait.ForMs = r.For.Milliseconds()
		j.Ranks = append(j.Ranks, p)
	}
	return j
}

// DecodeStatus converts a status from its message.
func DecodeStatus(j *pb.Job) state.Status {
	s := state.Status{
		JobID: phrase.Name(j.GetJobId()), Phase: phrase.Name(j.GetPhase()), Generation: j.GetGeneration(), WorldSize: int(j.GetWorldSize()), Present: int(j.GetPresent()),
		Step: max(j.GetStep(), -1), StepsPerS: j.GetStepsPerS(), RestartsLeft: int(j.GetRestartsLeft()), Remaining: Milliseconds(j.GetRemainingMs()),
		Stall: phrase.Foreign(j.GetStall(), phrase.MaxText), Choices: decodeChoices(j.GetChoices()),
		Strangers: names(j.GetStrangers()),
	}
	if j.GetCause() != nil {
		s.Cause = DecodeCause(j.GetCause())
	}
	for _, p := range j.GetRanks() {
		r := state.RankStatus{
			Worker: decodeWorker(p.GetWorker()), Present: p.GetPresent(), Reason: phrase.Name(p.GetReason()), Missing: Milliseconds(p.GetMissingMs()),
			Step: max(p.GetStep(), -1), Phase: phrase.Name(p.GetPhase()), Beat: Milliseconds(p.GetBeatMs()),
		}
		r.Wait, r.For = DecodeWait(p.GetWait())
		s.Ranks = append(s.Ranks, r)
	}
	return s
}

// names returns the lines of a status.
func names(lines []string) []string {
	var all []string
	for _, l := range lines {
		all = append(all, phrase.Name(l))
	}
	return all
}
