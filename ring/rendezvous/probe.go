package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"ringtrain/ring/phrase"
	"ringtrain/ring/port"
	"ringtrain/ring/rendezvous/state"
	"ringtrain/ring/token"
)

// Limits of one attempt to reach an address.
const (
	maxDial       = 20 * time.Second // with the lookup of the name
	dialTimeout   = 2 * time.Second  // once the name is resolved
	askTimeout    = 1 * time.Second  // of a question for the owner, after the connection is open
	maxShownJobID = 80               // bytes of a job id in a reason: two fit in a name
)

// A dialFunc opens a connection to host:port. It resolves names at each call. Nil dials TCP.
type dialFunc func(ctx context.Context, addr string) (net.Conn, error)

func (d dialFunc) open(ctx context.Context, addr string) (net.Conn, error) {
	if d != nil {
		return d(ctx, addr)
	}
	return dialTCP(ctx, addr)
}

// within returns d with a limit.
func (d dialFunc) within(limit time.Duration) dialFunc {
	return func(ctx context.Context, addr string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return d.open(ctx, addr)
	}
}

// dialTCP dials. Its limit begins when the name is resolved: a lookup takes 5 s where the first name
// server is down, and seconds where the host is busy.
func dialTCP(ctx context.Context, addr string) (net.Conn, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	begin := func(context.Context, string, string, syscall.RawConn) error {
		time.AfterFunc(dialTimeout, func() { cancel(os.ErrDeadlineExceeded) })
		return nil
	}
	tcp := net.Dialer{ControlContext: begin}
	c, err := tcp.DialContext(ctx, "tcp", addr)
	if late := context.Cause(ctx); err != nil && late == os.ErrDeadlineExceeded {
		return nil, late
	}
	return c, err
}

// refusedReason is the Reason if the host is up and nobody listens.
const refusedReason = "connection refused"

// Reason returns the kind of a failed dial or exchange, in words for people.
func Reason(err error) string {
	var (
		dns *net.DNSError
		ne  net.Error
	)
	switch {
	case errors.As(err, &dns) && dns.IsTimeout:
		return fmt.Sprintf("no name server answers in time for %s", dns.Name)
	case errors.As(err, &dns):
		return fmt.Sprintf("name %s does not resolve", dns.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return refusedReason
	case errors.Is(err, syscall.ECONNRESET):
		return "connection reset"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "no route to host"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return port.NoFree()
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &ne) && ne.Timeout():
		return "connect timeout"
	}
	return err.Error()
}

// answered returns the error of an exchange with an address that has accepted the connection.
func answered(err error) error {
	if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
		return ErrLate
	}
	return err
}

// probe asks who listens at the port of a member, or at the configured address of a missing rank. Only
// a proved answer names an owner.
func probe(ctx context.Context, p state.Probe, t token.Token) state.Probed {
	o, err := askOwner(ctx, p.Addr, t)
	switch {
	case err != nil:
		return state.Probed{Reason: Reason(err), Refused: errors.Is(err, syscall.ECONNREFUSED)}
	case p.Incarnation != 0:
		return state.Probed{Owner: o.Incarnation, Follows: o.Follows}
	}
	return state.Probed{Reason: ownerReason(p, o)}
}

// askOwner asks the port at addr for its owner.
func askOwner(ctx context.Context, addr string, t token.Token) (port.Owner, error) {
	conn, err := dialFunc(nil).within(dialTimeout)(ctx, addr)
	if err != nil {
		return port.Owner{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	o, err := port.Ask(ctx, conn, t)
	return o, answered(err)
}

// ownerReason returns why o, the process at p.Addr, is not the missing rank.
func ownerReason(p state.Probe, o port.Owner) string {
	switch job := phrase.Name(o.JobID); {
	case o.Rendezvous && job == "":
		return "is a rendezvous, of no rank"
	case o.Rendezvous:
		return "is the rendezvous of run " + phrase.Clip(job, maxShownJobID)
	case job != "" && job != p.JobID:
		return fmt.Sprintf("answers for run %s, not %s", phrase.Clip(job, maxShownJobID), phrase.Clip(p.JobID, maxShownJobID))
	case o.Rank >= 0 && o.Rank != p.Rank:
		return fmt.Sprintf("is rank %d's", o.Rank)
	}
	return "accepts connections, has not joined"
}
