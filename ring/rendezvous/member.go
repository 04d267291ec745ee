package rendezvous

import (
	"context"
	"errors"
	"net"
	"time"

	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
	"ringtrain/ring/token"
)

// memberTimeout bounds one probe of a member's port, after the connection is open.
const memberTimeout = 1 * time.Second

// Member answers, at the port of a worker, who the worker is. A rendezvous asks when the worker's
// stream has broken: both sides prove the token first.
type Member struct {
	pb.UnimplementedRendezvousServer
	token   token.Token
	self    func() (incarnation, follows uint64) // follows is the instance of the rendezvous to which the worker is connected; 0: none
	carrier *carrier
}

// ServeMember answers on l, the port of a worker that serves no rendezvous, until Close. The Member
// owns l.
func ServeMember(l net.Listener, t token.Token, self func() (incarnation, follows uint64)) *Member {
	m := &Member{token: t, self: self}
	m.carrier = carry(l, m)
	return m
}

// Close ends all streams and stops listening.
func (m *Member) Close() { m.carrier.close() }

// Status handles one stream.
func (m *Member) Status(stream statusStream) error {
	return answerStatus(stream, m.token, nil, func(*pb.Ask) *pb.StatusReply { return memberReply(m.self) })
}

func memberReply(self func() (incarnation, follows uint64)) *pb.StatusReply {
	p := new(pb.Member)
	if self != nil {
		p.Incarnation, p.Follows = self()
	}
	return &pb.StatusReply{What: &pb.StatusReply_Member{Member: p}}
}

// probeMember asks the port of a member who listens there. Only a proved answer names an owner.
func probeMember(ctx context.Context, p state.Probe, t token.Token) state.Probed {
	c, err := DialStatus(ctx, StatusOptions{Addr: p.Addr, Token: t, Timeout: memberTimeout})
	if err != nil {
		return state.Probed{Reason: err.Error(), Refused: errors.Is(err, ErrGone)}
	}
	defer c.Close()
	reply, err := c.fetch(ctx, &pb.Ask{Member: true})
	if err != nil {
		return state.Probed{Reason: err.Error()}
	}
	m := reply.GetMember()
	return state.Probed{Owner: m.GetIncarnation(), Follows: m.GetFollows()}
}
