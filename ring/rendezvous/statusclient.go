package rendezvous

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"google.golang.org/grpc"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/internal/wire"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
	"ringtrain/ring/token"
)

// Why a rendezvous was not reached, where that tells what to do.
var (
	// ErrGone means that nobody listens there: the rendezvous has ended, or has not
	// begun.
	ErrGone = errors.New("connection refused")
	// ErrLate means that one that is connected did not answer in time. It may be slow,
	// or stopped: look again.
	ErrLate = errors.New("connected, no answer in time")
)

// MaxStatusBytes bounds an answer to who looks on.
const MaxStatusBytes = 16 << 20

// StatusOptions say where to look.
type StatusOptions struct {
	Addr    string        // host:port of the rendezvous
	Token   token.Token   // the job's secret
	JobID   string        // "": all jobs
	Timeout time.Duration // for the rendezvous to answer; 0: 5 s

	dial dialFunc // nil: over TCP
}

// A StatusClient looks on: it asks a rendezvous where its jobs stand. Its methods are
// called by one goroutine at a time.
type StatusClient struct {
	options StatusOptions
	raw     net.Conn
	conn    *grpc.ClientConn
	stream  grpc.BidiStreamingClient[pb.StatusRequest, pb.StatusReply]
	cancel  context.CancelFunc
	proof   []byte // to be sent with the next question; nil: it was
}

// Look reaches the rendezvous, which proves the token. One that is not reached is
// exitcode.Retry, and ErrGone or ErrLate where it is one of these; a wrong token is
// exitcode.Auth. A StatusClient must be closed.
func DialStatus(ctx context.Context, o StatusOptions) (*StatusClient, error) {
	o.Timeout = cmp.Or(o.Timeout, handshakeTimeout)
	if err := checkAddr(o.Addr); err != nil {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("rendezvous %w", err))
	}
	if o.dial == nil {
		o.dial = dialTCP
	}
	l := &StatusClient{options: o}
	limited, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	var err error
	if l.raw, err = o.dial(limited, o.Addr); err != nil {
		if errors.Is(err, syscall.ECONNREFUSED) {
			return nil, l.unreachedError(ctx, ErrGone)
		}
		return nil, l.unreachedError(ctx, errors.New(Reason(err)))
	}
	options := append(dialOptions(l.raw), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxStatusBytes)))
	if l.conn, err = grpc.NewClient("passthrough:///"+o.Addr, options...); err != nil {
		l.raw.Close()
		return nil, l.unreachedError(ctx, err)
	}
	var life context.Context
	life, l.cancel = context.WithCancel(ctx)
	err = l.withTimeout(func() (err error) {
		l.stream, err = pb.NewRendezvousClient(l.conn).Status(life)
		return err
	})
	if err == nil {
		err = l.authenticate(ctx)
	} else {
		err = l.unreachedError(ctx, l.streamError(ctx, err))
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

func (l *StatusClient) authenticate(ctx context.Context) error {
	mine := newNonce()
	reply, err := l.exchange(&pb.StatusRequest{What: &pb.StatusRequest_Hello{Hello: &pb.Hello{Nonce: mine}}})
	c := reply.GetChallenge()
	if err != nil || len(c.GetNonce()) != nonceBytes {
		return l.unreachedError(ctx, l.streamError(ctx, err))
	}
	if !l.options.Token.Proves(c.Proof, []byte("rendezvous: server"), mine, c.Nonce) {
		return exitcode.With(exitcode.Auth, fmt.Errorf("not the token of the rendezvous at %s: here is %v", l.options.Addr, l.options.Token))
	}
	l.proof = workerProof(l.options.Token, mine, c.Nonce)
	return nil
}

// Next returns where the jobs stand now: the one that was asked for, if it is known,
// or all. After an error it is to be closed.
func (l *StatusClient) Next(ctx context.Context) ([]state.Status, error) {
	reply, err := l.fetch(ctx)
	if err != nil {
		return nil, err
	}
	if m := reply.GetMember(); m != nil {
		return nil, l.memberError(ctx, m)
	}
	var all []state.Status
	for _, j := range reply.GetReport().GetJobs() {
		all = append(all, wire.DecodeStatus(j))
	}
	return all, nil
}

// notOurs is what to make of a connection that err has ended before there was a word.
func (l *StatusClient) streamError(ctx context.Context, err error) error {
	if errors.Is(err, ErrLate) {
		return err
	}
	if whose := otherOwner(ctx, l.options.dial, l.options.Addr, err); whose != "" {
		return errors.New(whose)
	}
	return errors.New("accepted, but not our protocol, or another version")
}

// ask sends a question and returns the answer; ErrLate if it does not come in time.
func (l *StatusClient) exchange(q *pb.StatusRequest) (reply *pb.StatusReply, err error) {
	err = l.withTimeout(func() error {
		if err := l.stream.Send(q); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		reply, err = l.stream.Recv()
		return err
	})
	return reply, err
}

// inTime ends the stream, and so do, when the time to answer is over.
func (l *StatusClient) withTimeout(do func() error) error {
	limit := time.AfterFunc(l.options.Timeout, l.cancel)
	err := do()
	if !limit.Stop() && err != nil {
		return ErrLate
	}
	return err
}

func (l *StatusClient) unreachedError(ctx context.Context, why error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return exitcode.With(exitcode.Retry, fmt.Errorf("rendezvous at %s not reached: %w", l.options.Addr, why))
}

// Close ends the connection.
func (l *StatusClient) Close() {
	l.cancel()
	l.conn.Close()
	l.raw.Close()
}
