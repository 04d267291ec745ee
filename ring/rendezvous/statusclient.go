package rendezvous

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

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

	dial dialFunc
}

// A StatusClient asks a rendezvous for the state of its jobs. Its methods are called by one
// goroutine at a time.
type StatusClient struct {
	options StatusOptions
	raw     net.Conn
	conn    *grpc.ClientConn
}

// DialStatus connects to a rendezvous, which proves the token. If the rendezvous is not reached,
// the error has exitcode.Retry, and wraps ErrGone or ErrLate if one of them is the reason. With a
// wrong token the error has exitcode.Auth, and exitcode.Protocol if the rendezvous is proved and of
// another protocol. The caller must close the StatusClient.
func DialStatus(ctx context.Context, o StatusOptions) (*StatusClient, error) {
	limited, cancel := context.WithTimeout(ctx, cmp.Or(o.Timeout, maxDial))
	defer cancel()
	o.Timeout = cmp.Or(o.Timeout, openTimeout)
	if err := checkAddr(o.Addr); err != nil {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("rendezvous %w", err))
	}
	c := &StatusClient{options: o}
	raw, err := prove(limited, o.dial, o.Addr, o.Token, token.Request{
		Purpose: token.Status, JobID: phrase.Name(o.JobID), From: token.End{Rank: -1}, To: token.End{Rank: -1},
	})
	if err == nil {
		c.raw = raw
		if c.conn, err = newClient(raw, o.Addr); err != nil {
			raw.Close()
		}
	}
	if err != nil {
		return nil, c.dialError(ctx, err)
	}
	return c, nil
}

// dialError returns the error of DialStatus.
func (c *StatusClient) dialError(ctx context.Context, err error) error {
	if _, wrong := errors.AsType[*token.WrongTokenError](err); wrong {
		return exitcode.With(exitcode.Auth, fmt.Errorf("%s %w", c.options.Addr, err))
	}
	switch {
	case exitcode.Of(err) == exitcode.Protocol: // proved: no other attempt succeeds
		return fmt.Errorf("rendezvous at %s: %w", c.options.Addr, err)
	case errors.Is(err, syscall.ECONNREFUSED):
		err = ErrGone
	case !errors.Is(err, ErrLate):
		err = errors.New(Reason(err))
	}
	return c.unreachedError(ctx, err)
}

// Next returns the states of the jobs: of the job in the options, if it is known, or of all. After
// an error the caller closes the StatusClient.
func (c *StatusClient) Next(ctx context.Context) ([]state.Status, error) {
	limited, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	question := &pb.StatusRequest{JobId: phrase.Name(c.options.JobID)}
	reply, err := pb.NewRendezvousClient(c.conn).Status(limited, question, grpc.MaxCallRecvMsgSize(MaxStatusBytes))
	switch {
	case status.Code(err) == codes.DeadlineExceeded:
		return nil, c.unreachedError(ctx, ErrLate)
	case err != nil:
		return nil, c.unreachedError(ctx, errors.New("connection lost"))
	}
	var all []state.Status
	for _, j := range reply.GetJobs() {
		all = append(all, wire.DecodeStatus(j))
	}
	return all, nil
}

func (c *StatusClient) unreachedError(ctx context.Context, why error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return exitcode.With(exitcode.Retry, fmt.Errorf("rendezvous at %s not reached: %w", c.options.Addr, why))
}

// Close closes the connection.
func (c *StatusClient) Close() {
	c.conn.Close()
	c.raw.Close() // closes a connection that gRPC did not take
}
