package wire

import (
	"slices"

	"ringtrain/ring"
	"ringtrain/ring/phrase"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
)

// maxTaken bounds the generations that a record may have taken without completing an operation. A
// crash loop ends long before.
const maxTaken = 64

// EncodeFence converts a fence to its message.
func EncodeFence(f ring.Fence) *pb.Fence {
	return &pb.Fence{Life: f.Life[:], Generation: f.Generation, Issuer: f.Issuer}
}

// DecodeFence decodes a fence. A life of a wrong length is no life.
func DecodeFence(p *pb.Fence) ring.Fence {
	f := ring.Fence{Generation: p.GetGeneration(), Issuer: p.GetIssuer()}
	if b := p.GetLife(); len(b) == len(f.Life) {
		f.Life = [16]byte(b)
	}
	return f
}

func encodeRoster(t state.Roster) *pb.Roster {
	return &pb.Roster{Fence: EncodeFence(t.Fence), Incarnations: t.Incarnations}
}

func decodeRoster(p *pb.Roster) state.Roster {
	list := p.GetIncarnations()
	return state.Roster{Fence: DecodeFence(p.GetFence()), Incarnations: list[:min(len(list), ring.MaxWorldSize)]}
}

// EncodeRecord converts a record to its message. The lines that must agree are left out: a
// membership goes to workers that have them.
func EncodeRecord(r state.Record) *pb.Record {
	p := &pb.Record{
		JobId: phrase.Name(r.JobID), Fence: EncodeFence(r.Fence), Workers: encodeWorkers(r.Workers), Choices: encodeChoices(r.Choices),
		Protocol: uint32(r.Agreed.Protocol), Version: phrase.Name(r.Agreed.Version), LoopCount: uint32(r.Loop.Count), LoopRanks: EncodeRanks(r.Loop.Ranks),
		Restarts: int32(r.Restarts), Used: uint32(r.Used), Dead: r.Dead, Ended: r.Ended, Lost: r.Lost, Step: r.Step, Stop: int32(r.Stop),
	}
	if r.Whole.Incarnations != nil {
		p.Whole = encodeRoster(r.Whole)
	}
	for _, t := range r.Taken {
		p.Taken = append(p.Taken, encodeRoster(t))
	}
	if r.Cause != nil {
		p.Cause = EncodeCause(r.Cause)
	}
	return p
}

// DecodeRecord decodes a record. ok is false if it is of no generation, or a rank is not at its
// place.
func DecodeRecord(p *pb.Record) (r state.Record, ok bool) {
	r = state.Record{
		JobID: phrase.Name(p.GetJobId()), Fence: DecodeFence(p.GetFence()), Choices: decodeChoices(p.GetChoices()),
		Loop:     state.CrashLoop{Count: int(p.GetLoopCount()), Ranks: DecodeRanks(p.GetLoopRanks())},
		Restarts: int(max(p.GetRestarts(), 0)), Used: int(p.GetUsed()), Dead: sorted(p.GetDead()), Ended: p.GetEnded(), Lost: sorted(p.GetLost()),
		Step: max(p.GetStep(), -1), Stop: exitCode(p.GetStop()),
	}
	if p.GetWhole() != nil {
		r.Whole = decodeRoster(p.GetWhole())
	}
	for _, t := range p.GetTaken()[:min(len(p.GetTaken()), maxTaken)] {
		r.Taken = append(r.Taken, decodeRoster(t))
	}
	if p.GetCause() != nil {
		r.Cause = DecodeCause(p.GetCause())
	}
	for i, w := range p.GetWorkers() {
		if int(w.GetRank()) != i {
			return r, false
		}
		r.Workers = append(r.Workers, decodeWorker(w))
	}
	r.Agreed = state.Agreed{WorldSize: len(r.Workers), Protocol: int(p.GetProtocol()), Version: phrase.Name(p.GetVersion())}
	for _, l := range p.GetAgree() {
		r.Agreed.Lines = append(r.Agreed.Lines, phrase.Foreign(l, MaxRequestBytes))
	}
	return r, r.Fence.Generation > 0 && len(r.Workers) > 0 && len(r.Workers) <= ring.MaxWorldSize
}

// sorted returns a sorted copy of at most ring.MaxWorldSize incarnations.
func sorted(list []uint64) []uint64 {
	return slices.Compact(slices.Sorted(slices.Values(list[:min(len(list), ring.MaxWorldSize)])))
}

// exitCode returns a valid exit code, 0 for any other number.
func exitCode(code int32) int {
	if code < 0 || code > 255 {
		return 0
	}
	return int(code)
}

// DecodeMembership decodes a membership as the worker with an incarnation sees it. ok is false if
// the record is bad, or does not name the worker at its rank.
func DecodeMembership(p *pb.Membership, incarnation uint64) (m ring.Membership, r state.Record, ok bool) {
	r, ok = DecodeRecord(p.GetRecord())
	rank := int(p.GetRank())
	if !ok || rank < 0 || rank >= len(r.Workers) || r.Workers[rank].Incarnation != incarnation {
		return m, r, false
	}
	return r.Membership(rank), r, true
}
