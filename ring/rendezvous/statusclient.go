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
	"ringtrain/ring/phrase"
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
	c := &StatusClient{options: o}
	limited, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	var err error
	if c.raw, err = o.dial(limited, o.Addr); err != nil {
		if errors.Is(err, syscall.ECONNREFUSED) {
			return nil, c.unreachedError(ctx, ErrGone)
		}
		return nil, c.unreachedError(ctx, errors.New(Reason(err)))
	}
	options := append(dialOptions(c.raw), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxStatusBytes)))
	if c.conn, err = grpc.NewClient("passthrough:///"+o.Addr, options...); err != nil {
		c.raw.Close()
		return nil, c.unreachedError(ctx, err)
	}
	var streamCtx context.Context
	streamCtx, c.cancel = context.WithCancel(ctx)
	err = c.withTimeout(func() (err error) {
		c.stream, err = pb.NewRendezvousClient(c.conn).Status(streamCtx)
		return err
	})
	if err == nil {
		err = c.authenticate(ctx)
	} else {
		err = c.unreachedError(ctx, c.streamError(ctx, err))
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *StatusClient) authenticate(ctx context.Context) error {
	nonce := newNonce()
	reply, err := c.exchange(&pb.StatusRequest{What: &pb.StatusRequest_Hello{Hello: &pb.Hello{Nonce: nonce}}})
	challenge := reply.GetChallenge()
	if err != nil || len(challenge.GetNonce()) != nonceBytes {
		return c.unreachedError(ctx, c.streamError(ctx, err))
	}
	if !c.options.Token.Proves(challenge.Proof, []byte("rendezvous: server"), nonce, challenge.Nonce) {
		return exitcode.With(exitcode.Auth, fmt.Errorf("not the token of the rendezvous at %s: here is %v", c.options.Addr, c.options.Token))
	}
	c.proof = workerProof(c.options.Token, nonce, challenge.Nonce)
	return nil
}

// Next returns the states of the jobs: of the job in the options, if it is known, or of all. After
// an error the caller closes the StatusClient.
func (c *StatusClient) Next(ctx context.Context) ([]state.Status, error) {
	reply, err := c.fetch(ctx, &pb.Ask{JobId: phrase.Name(c.options.JobID)})
	if err != nil {
		return nil, err
	}
	var all []state.Status
	for _, j := range reply.GetReport().GetJobs() {
		all = append(all, wire.DecodeStatus(j))
	}
	return all, nil
}

// fetch sends one request and returns the reply. The server has proved the token.
func (c *StatusClient) fetch(ctx context.Context, ask *pb.Ask) (*pb.StatusReply, error) {
	stop := context.AfterFunc(ctx, c.cancel)
	defer stop()
	ask.Proof, c.proof = c.proof, nil
	reply, err := c.exchange(&pb.StatusRequest{What: &pb.StatusRequest_Ask{Ask: ask}})
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

// streamError returns the reason for a stream that ended with err before any reply.
func (c *StatusClient) streamError(ctx context.Context, err error) error {
	if errors.Is(err, ErrLate) {
		return err
	}
	if owner := otherOwner(ctx, c.options.dial, c.options.Addr); owner != "" {
		return errors.New(owner)
	}
	return errors.New("accepted, but not our protocol, or another version")
}

// exchange sends a request and returns the reply, or ErrLate if the reply does not arrive in time.
func (c *StatusClient) exchange(q *pb.StatusRequest) (reply *pb.StatusReply, err error) {
	err = c.withTimeout(func() error {
		if err := c.stream.Send(q); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		reply, err = c.stream.Recv()
		return err
	})
	return reply, err
}

// withTimeout calls do, and ends the stream if do takes too long.
func (c *StatusClient) withTimeout(do func() error) error {
	limit := time.AfterFunc(c.options.Timeout, c.cancel)
	err := do()
	if !limit.Stop() && err != nil {
		return ErrLate
	}
	return err
}

func (c *StatusClient) unreachedError(ctx context.Context, why error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return exitcode.With(exitcode.Retry, fmt.Errorf("rendezvous at %s not reached: %w", c.options.Addr, why))
}

// Close closes the connection.
func (c *StatusClient) Close() {
	c.cancel()
	c.conn.Close()
	c.raw.Close()
}
