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

// reason returns a text that says why a connection failed. It tells apart a name that does not
// resolve, a refusal, a timeout and silence.
func reason(err error) string {
	if s, ok := err.(*phaseError); ok {
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
	case errors.Is(err, os.ErrDeadlineExceeded): // on an open connection
		return "no answer"
	case errors.Is(err, syscall.ECONNRESET):
		return "connection reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.Is(err, syscall.EPIPE):
		return "connection closed"
	}
	return err.Error()
}

// errNoConnection is a dial that timed out.
var errNoConnection = errors.New("connect timeout")

// dialer returns dial with errNoConnection for all timeouts: the errors of a dial that timed out
// and of a silent connection may be the same. nil stands for TCP.
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

// phaseError is an error that names the phase of a measurement.
type phaseError struct {
	what string
	err  error
}

// inPhase wraps err, or returns nil if err is nil.
func inPhase(what string, err error) error {
	if err == nil {
		return nil
	}
	return &phaseError{what, err}
}

func (s *phaseError) Error() string { return s.what + ": " + reason(s.err) }
func (s *phaseError) Unwrap() error { return s.err }
