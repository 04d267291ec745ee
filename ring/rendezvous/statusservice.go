package rendezvous

import (
	"context"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/phrase"
	"ringtrain/ring/rendezvous/internal/wire"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
	"ringtrain/ring/token"
)

// maxStatusRanks bounds the ranks in one reply, so that it fits in MaxStatusBytes.
const maxStatusRanks = 2 * ring.MaxWorldSize

// Status returns the state of the job, if the client asks for it or for any.
func (sv service) Status(ctx context.Context, q *pb.StatusRequest) (*pb.StatusReply, error) {
	if _, err := requestOf(ctx, token.Status); err != nil {
		return nil, err
	}
	r := new(pb.StatusReply)
	st := sv.s.Status()
	if id := phrase.Name(q.GetJobId()); id == "" || id == st.JobID {
		st.Ranks = st.Ranks[:min(len(st.Ranks), maxStatusRanks)]
		r.Jobs = append(r.Jobs, wire.EncodeStatus(st))
	}
	return r, nil
}

// Status returns the state of the job.
func (s *Server) Status() state.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Status(time.Since(s.started))
}
