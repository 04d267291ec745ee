package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
	"ringtrain/ring/rendezvous/internal/wire"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
	"ringtrain/ring/token"
)

// unreachedError is the reason why an attempt did not reach the rendezvous. Another attempt may. A
// server that has not proved the token ends no worker: stale DNS, a reused address or another
// program may answer while the rendezvous is restarted.
type unreachedError struct {
	reason     string
	wrongToken bool // a server with another token answered
	refused    bool // the host is up, and nobody listens
}

func (u unreachedError) Error() string { return u.reason }

// connection is an open stream to a rendezvous. Both ends have proved the token.
type connection struct {
	raw      net.Conn
	conn     *grpc.ClientConn
	stream   grpc.BidiStreamingClient[pb.WorkerMessage, pb.RendezvousMessage]
	cancel   context.CancelFunc
	lease    time.Duration // lease and instance are those of the opening
	instance uint64
	received chan struct{} // closed when nothing more is received
}

// connect makes one attempt to reach the rendezvous, with the rank of job jobID. Its error is an
// unreachedError, or has exitcode.Protocol if the rendezvous has proved the token and is of another
// protocol.
func connect(ctx context.Context, o *Options, jobID string, rank int) (*connection, error) {
	raw, err := prove(ctx, o.dial, o.Addr, o.Token, token.Request{
		Purpose: token.Control, JobID: phrase.Name(jobID),
		From: token.End{Rank: int32(rank), Incarnation: o.Self.Incarnation}, To: token.End{Rank: -1},
	})
	if exitcode.Of(err) == exitcode.Protocol {
		return nil, o.cause(exitcode.Protocol, fmt.Sprintf("the rendezvous at %s: %v", o.Addr, err)).WithCode()
	}
	if err != nil {
		_, wrong := errors.AsType[*token.WrongTokenError](err)
		return nil, unreachedError{Reason(err), wrong, errors.Is(err, syscall.ECONNREFUSED)}
	}
	c := &connection{raw: raw, received: make(chan struct{})}
	if c.conn, err = newClient(raw, o.Addr); err != nil {
		raw.Close()
		return nil, unreachedError{reason: err.Error()}
	}
	var streamCtx context.Context // of the stream, which outlives ctx
	streamCtx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, c.cancel)()
	defer time.AfterFunc(openTimeout, c.cancel).Stop()
	if c.stream, err = pb.NewRendezvousClient(c.conn).Meet(streamCtx); err == nil {
		err = c.open()
	}
	if err != nil {
		c.close()
		return nil, unreachedError{reason: "answers, and then: " + endReason(err)}
	}
	return c, nil
}

// openTimeout bounds the wait for the first message of a rendezvous.
const openTimeout = 5 * time.Second

// proofTimeout bounds the exchange of the proofs. The other end waits for longer: one that a worker gives
// up does not count there as one that proved nothing.
const proofTimeout = token.Timeout - time.Second

// prove dials addr and exchanges the proofs of the token for a request. The error is that of the dial,
// of the exchange, or the refusal of the other end.
func prove(ctx context.Context, dial dialFunc, addr string, t token.Token, r token.Request) (*token.Conn, error) {
	raw, err := dial.open(ctx, addr)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, proofTimeout)
	defer cancel()
	c, _, err := t.DialTLS(ctx, raw, r)
	return c, answered(err)
}

// newClient returns a client over one open connection, which is never replaced.
func newClient(raw net.Conn, addr string) (*grpc.ClientConn, error) {
	var used atomic.Bool
	return grpc.NewClient("passthrough:///"+addr,
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			if used.Swap(true) {
				return nil, net.ErrClosed
			}
			return raw, nil
		}),
		grpc.WithTransportCredentials(insecure.NewCredentials()), // TLS and the proof lie below
		grpc.WithNoProxy(),
		grpc.WithDisableServiceConfig(),
		grpc.WithDisableRetry(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(wire.MaxReplyBytes), grpc.MaxCallSendMsgSize(wire.MaxReplyBytes)),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: maxBackOff, Multiplier: 1, MaxDelay: maxBackOff},
			MinConnectTimeout: openTimeout,
		}))
}

// open receives the first message of the rendezvous.
func (c *connection) open() error {
	msg, err := c.stream.Recv()
	if err != nil {
		return err
	}
	opening := msg.GetOpening()
	if opening == nil {
		return errUnexpected
	}
	c.lease, c.instance = max(wire.Milliseconds(opening.LeaseMs), time.Second), opening.Instance
	return nil
}

// complete adds to a request the address of this worker as the rendezvous sees it.
func (c *connection) complete(j *pb.Join) {
	j.Worker.Addr = completeAddr(j.Worker.Addr, c.raw.LocalAddr())
}

func (c *connection) close() {
	c.cancel()
	c.conn.Close()
	c.raw.Close() // closes a connection that gRPC did not take
}

// cause returns a cause of this worker before it has a rank.
func (o *Options) cause(code int, text string) *ring.Cause {
	return &ring.Cause{Rank: o.Rank, Host: o.Self.Host, Step: -1, Operation: state.OpJoin, Text: text, ExitCode: code}
}
