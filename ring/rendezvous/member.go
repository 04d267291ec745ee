package rendezvous

import (
	"context"
	"errors"
	"io"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/port"
	"ringtrain/ring/rendezvous/internal/sanitize"
	"ringtrain/ring/rendezvous/internal/wire"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
	"ringtrain/ring/token"
)

// Member answers status requests for a worker that does not serve the rendezvous. To a client with
// the token it tells whether the worker is in a generation of its job.
type Member struct {
	Token      token.Token
	Membership func() ring.Membership // returns the newest membership; its Generation is 0 before the first
}

// Status handles one stream. Both sides prove the token first.
func (m Member) Status(stream statusStream) error {
	requests, read := receiveRequests(stream)
	go read() // ends with the stream, which ends when Status returns
	limit := time.NewTimer(handshakeTimeout)
	defer limit.Stop()
	h := handshake{token: m.Token}
	for {
		select {
		case q, ok := <-requests:
			if !ok {
				return nil
			}
			reply, err := h.reply(q, func(*pb.Ask) *pb.StatusReply { return m.answer() })
			if err == nil {
				err = stream.Send(reply)
			}
			if err != nil || reply.GetChallenge() == nil {
				return err
			}
		case <-limit.C:
			return errSilent
		}
	}
}

func (m Member) answer() *pb.StatusReply {
	membership := m.Membership()
	p := &pb.Member{JobId: sanitize.Name(membership.JobID), Rank: int32(membership.Rank), Generation: membership.Generation}
	return &pb.StatusReply{What: &pb.StatusReply_Member{Member: p}}
}

// errOtherHost reports a worker that this host cannot reach.
var errOtherHost = errors.New("its address is a loopback address of another host")

// IsMember asks worker w whether it is in a generation of job o.JobID. It ignores o.Addr. An answer
// without a valid proof is an error, as in [DialStatus]; the error is ErrGone if nobody listens.
func IsMember(ctx context.Context, w ring.Worker, o StatusOptions) (bool, error) {
	if !state.ReachableFrom(Self("").HostID, &w) {
		return false, errOtherHost
	}
	o.Addr = w.Addr
	c, err := DialStatus(ctx, o)
	if err != nil {
		return false, err
	}
	defer c.Close()
	reply, err := c.fetch(ctx)
	if err != nil {
		return false, err
	}
	if m := reply.GetMember(); m != nil {
		return m.GetJobId() == sanitize.Name(o.JobID) && m.GetGeneration() > 0, nil
	}
	for _, j := range reply.GetReport().GetJobs() {
		if j.GetJobId() == sanitize.Name(o.JobID) && j.GetGeneration() > 0 {
			return true, nil
		}
	}
	return false, nil
}

// fetch sends one request and returns the reply. The server has proved the token.
func (c *StatusClient) fetch(ctx context.Context) (*pb.StatusReply, error) {
	stop := context.AfterFunc(ctx, c.cancel)
	defer stop()
	reply, err := c.exchange(&pb.StatusRequest{What: &pb.StatusRequest_Ask{Ask: &pb.Ask{Proof: c.proof, JobId: sanitize.Name(c.options.JobID)}}})
	c.proof = nil
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, ErrLate):
		return nil, c.unreachedError(ctx, err)
	case errors.Is(err, io.EOF):
		return nil, c.unreachedError(ctx, errors.New("connection closed"))
	case err != nil:
		return nil, c.unreachedError(ctx, errors.New("connection lost"))
	case reply.GetRefused() != nil:
		return nil, wire.DecodeCause(reply.GetRefused()).WithCode()
	}
	return reply, nil
}

// memberError returns the error for a worker that answered and does not serve the rendezvous.
func (c *StatusClient) memberError(ctx context.Context, m *pb.Member) error {
	return c.unreachedError(ctx, errors.New(otherOwnerText(c.options.Addr, port.Owner{JobID: m.GetJobId(), Rank: int(m.GetRank())})))
}
