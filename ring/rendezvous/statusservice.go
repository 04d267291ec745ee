package rendezvous

import (
	"time"

	"google.golang.org/grpc"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
	"ringtrain/ring/rendezvous/internal/wire"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
	"ringtrain/ring/token"
)

// statusStream is the server's end of a status stream.
type statusStream = grpc.BidiStreamingServer[pb.StatusRequest, pb.StatusReply]

// maxStatusRanks bounds the ranks in one reply, so that it fits in MaxStatusBytes.
const maxStatusRanks = 2 * ring.MaxWorldSize

// Status handles one stream.
func (sv service) Status(stream statusStream) error {
	return answerStatus(stream, sv.s.config.Token, sv.s.ctx.Done(), sv.s.report)
}

// answerStatus answers the requests of a stream until it ends or quit is closed. The client proves
// the token as a worker does, within handshakeTimeout, and then sends any number of requests.
func answerStatus(stream statusStream, t token.Token, quit <-chan struct{}, answer func(*pb.Ask) *pb.StatusReply) error {
	requests := make(chan *pb.StatusRequest)
	go receiveRequests(stream, requests) // ends with the stream, which ends with the handler
	limit := time.NewTimer(handshakeTimeout)
	defer limit.Stop()
	h := handshake{token: t}
	for {
		select {
		case q, ok := <-requests:
			if !ok {
				return nil
			}
			reply, err := h.reply(q, answer)
			if err == nil {
				err = stream.Send(reply)
			}
			if err != nil || reply.GetRefused() != nil {
				return err
			}
			if h.proved {
				limit.Stop()
			}
		case <-limit.C:
			return errSilent
		case <-quit:
			return errClosed
		}
	}
}

// receiveRequests sends the requests of a stream to requests, and closes it when the stream ends.
func receiveRequests(stream statusStream, requests chan<- *pb.StatusRequest) {
	defer close(requests)
	for {
		q, err := stream.Recv()
		if err != nil {
			return
		}
		select {
		case requests <- q:
		case <-stream.Context().Done():
			return
		}
	}
}

// reply returns the reply to q: a challenge to a hello, and the result of answer to a client that
// has proved the token.
func (h *handshake) reply(q *pb.StatusRequest, answer func(*pb.Ask) *pb.StatusReply) (*pb.StatusReply, error) {
	if hello := q.GetHello(); hello != nil {
		c := h.challenge(hello)
		if c == nil {
			return nil, errUnexpected
		}
		return &pb.StatusReply{What: &pb.StatusReply_Challenge{Challenge: c}}, nil
	}
	ask := q.GetAsk()
	if ask == nil || !h.proved && !h.challenged() {
		return nil, errUnexpected
	}
	if !h.proved && !h.verify(ask.GetProof()) {
		c := state.JoinCause(&state.Request{Rank: -1}, exitcode.Auth, "not the token of the rendezvous")
		return &pb.StatusReply{What: &pb.StatusReply_Refused{Refused: wire.EncodeCause(c)}}, nil
	}
	return answer(ask), nil
}

// report returns the state of the job, if the client asks for it or for any, or who the worker at
// this port is.
func (s *Server) report(ask *pb.Ask) *pb.StatusReply {
	if ask.GetMember() {
		return memberReply(s.config.Member)
	}
	r := new(pb.StatusReply_Report)
	st := s.Status()
	if id := phrase.Name(ask.GetJobId()); id == "" || id == st.JobID {
		st.Ranks = st.Ranks[:min(len(st.Ranks), maxStatusRanks)]
		r.Jobs = append(r.Jobs, wire.EncodeStatus(st))
	}
	return &pb.StatusReply{What: &pb.StatusReply_Report_{Report: r}}
}

// Status returns the state of the job.
func (s *Server) Status() state.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Status(time.Since(s.started))
}
