package rendezvous

import (
	"errors"
	"io"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
	"ringtrain/ring/rendezvous/internal/wire"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
)

// endReason returns why a stream has ended, for people.
func endReason(err error) string {
	if errors.Is(err, io.EOF) {
		return "connection closed"
	}
	return "connection reset"
}

// handle handles a message of the rendezvous.
func (s *Session) handle(msg *pb.RendezvousMessage) {
	switch w := msg.GetWhat().(type) {
	case *pb.RendezvousMessage_Beat:
		s.control.noteHeard(w.Beat.GetNumber())
		if lease := wire.Milliseconds(w.Beat.GetLeaseMs()); lease > s.Lease() {
			s.lease.Store(int64(lease))
		}
	case *pb.RendezvousMessage_Waiting:
		select {
		case s.waitingReports <- wire.DecodeWaiting(w.Waiting):
		default: // the caller has not read the last report yet
		}
	case *pb.RendezvousMessage_Membership:
		s.startGeneration(w.Membership)
	case *pb.RendezvousMessage_EndGeneration:
		s.endGeneration(w.EndGeneration)
	case *pb.RendezvousMessage_Stop:
		s.leaveRequest.by.Store(w.Stop.GetBy())
		s.leaveRequest.stop.CompareAndSwap(0, w.Stop.GetExitCode())
	case *pb.RendezvousMessage_Notice:
		s.options.notify(phrase.Foreign(w.Notice.GetText(), phrase.MaxText))
	case *pb.RendezvousMessage_Refused:
		s.end(wire.DecodeCause(w.Refused), true, true)
	case *pb.RendezvousMessage_Abort:
		s.mu.Lock()
		c := state.WithLaterStep(wire.DecodeCause(w.Abort), s.step)
		s.mu.Unlock()
		s.end(c, true, false)
	case *pb.RendezvousMessage_End:
		s.end(nil, true, false)
	}
}

// startGeneration takes a membership if this worker is out of its group, and the generation is newer
// than the one it knows and names it. Any other membership is late, and is ignored.
func (s *Session) startGeneration(p *pb.Membership) {
	m, r, ok := wire.DecodeMembership(p, s.options.Self.Incarnation)
	if !ok {
		if _, good := wire.DecodeRecord(p.GetRecord()); !good {
			s.end(s.options.cause(exitcode.Protocol, "the rendezvous at "+s.options.Addr+" sent a bad membership"), true, false)
		}
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.generation
	if isClosed(g.started) || !state.Newer(r.Fence, s.record.Fence) {
		return
	}
	g.membership, s.record, s.rank, s.doing, s.suspicion = m, r, m.Rank, state.InGroup, nil
	g.previousLost = wire.DecodeRanks(p.GetLost())
	if p.GetCause() != nil {
		g.previousCause = wire.DecodeCause(p.GetCause())
	}
	close(g.started)
	if q := s.leaveRequest.message(); q != nil {
		s.control.enqueue(q)
	}
}

// endGeneration ends the generation that p names. The message may arrive twice, also with more
// losses.
func (s *Session) endGeneration(p *pb.EndGeneration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if wire.DecodeFence(p.GetFence()) != s.record.Fence {
		return
	}
	s.record.Ended, s.record.Lost = true, p.GetIncarnations()
	if p.GetFirst() != nil {
		s.record.Cause = wire.DecodeCause(p.GetFirst())
	}
	if s.doing == state.WorkDone {
		s.doing = state.InGroup
	}
	if isClosed(s.generation.started) && !s.generation.hasEnded() {
		s.generation.end(state.WithLaterStep(wire.DecodeCause(p.GetCause()), s.step), wire.DecodeRanks(p.GetLost()))
	}
}
