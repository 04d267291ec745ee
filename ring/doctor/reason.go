package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
)

// reason is why a way does not work, in words for people. A name that does not
// resolve, a refusal, a time that ran out, and silence are different troubles.
func reason(err error) string {
	if s, ok := err.(*stage); ok {
		return s.Error()
	}
	dns, isDNS := errors.AsType[*net.DNSError](err)
	switch {
	case isDNS:
		return fmt.Sprintf("name %s does not resolve", dns.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "no route to host"
	case errors.Is(err, os.ErrDeadlineExceeded): // of a connection that stands
		return "no answer"
	case errors.Is(err, syscall.ECONNRESET):
		return "connection reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.Is(err, syscall.EPIPE):
		return "connection closed"
	}
	return err.Error()
}

// errNoConnection is a dial that ran out of time.
var errNoConnection = errors.New("connect timeout")

// dialer returns dial with errNoConnection for all that a dial says of a time that
// ran out, some of which a connection says, too. nil stands for TCP.
func dialer(dial func(ctx context.Context, addr string) (net.Conn, error)) func(ctx context.Context, addr string) (net.Conn, error) {
	if dial == nil {
		dial = func(ctx context.Context, addr string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", addr)
		}
	}
	return func(ctx context.Context, addr string) (net.Conn, error) {
		conn, err := dial(ctx, addr)
		_, isDNS := errors.AsType[*net.DNSError](err)
		if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() && !isDNS {
			return nil, errNoConnection
		}
		return conn, err
	}
}

// stage is an error that says how far a measurement has come.
type stage struct {
	what string
	err  error
}

// at returns nil for nil.
func at(what string, err error) error {
	if err == nil {
		return nil
	}
	return &stage{what, err}
}

func (s *stage) Error() string { return s.what + ": " + reason(s.err) }
func (s *stage) Unwrap() error { return s.err }
