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

// Reasons why a rendezvous was not reached, for callers that act on them.
var (
	// ErrGone means that nobody listens: the rendezvous has ended, or has not started.
	ErrGone = errors.New("connection refused")
	// ErrLate means that the rendezvous accepted the connection and did not answer in time. It may
	// be slow or stopped: try again.
	ErrLate = errors.New("connected, no answer in time")
)

// MaxStatusBytes bounds a status reply.
const MaxStatusBytes = 16 << 20

// StatusOptions holds the settings of a StatusClient.
type StatusOptions struct {
	Addr    string        // host:port of the rendezvous
	Token   token.Token   // the job's secret
	JobID   string        // "": all jobs
	Timeout time.Duration // for each answer; 0: 5 s

	dial dialFunc // nil: TCP
}

// A StatusClient asks a rendezvous for the state of its jobs. Its methods are called by one
// goroutine at a time.
type StatusClient struct {
	options StatusOptions
	raw     net.Conn
	conn    *grpc.ClientConn
	stream  grpc.BidiStreamingClient[pb.StatusRequest, pb.StatusReply]
	cancel  context.CancelFunc
	proof   []byte // for the next request; nil: already sent
}

// DialStatus connects to a rendezvous, which proves the token. If the rendezvous is not reached,
// the error has exitcode.Retry, and wraps ErrGone or ErrLate if one of them is the reason. With a
// wrong token the error has exitcode.Auth. The caller must close the StatusClient.
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

// Next returns the states of the jobs: of the job in the options, if it is known, or of all. After
// an error the caller closes the StatusClient.
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

// streamError returns the reason for a stream that ended with err before any reply.
func (l *StatusClient) streamError(ctx context.Context, err error) error {
	if errors.Is(err, ErrLate) {
		return err
	}
	if whose := otherOwner(ctx, l.options.dial, l.options.Addr, err); whose != "" {
		return errors.New(whose)
	}
	return errors.New("accepted, but not our protocol, or another version")
}

// exchange sends a request and returns the reply, or ErrLate if the reply does not arrive in time.
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

// withTimeout calls do, and ends the stream if do takes too long.
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

// Close closes the connection.
func (l *StatusClient) Close() {
	l.cancel()
	l.conn.Close()
	l.raw.Close()
}
