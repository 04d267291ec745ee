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

// reasons has what a person reads of errors of a connection. The first one that matches counts.
var reasons = []struct {
	err  error
	text string
}{
	{syscall.ECONNREFUSED, "connection refused"},
	{syscall.EHOSTUNREACH, "no route to host"},
	{syscall.ENETUNREACH, "no route to host"},
	{os.ErrDeadlineExceeded, "no answer"}, // on an open connection
	{syscall.ECONNRESET, "connection reset"},
	{io.EOF, "connection closed"},
	{io.ErrUnexpectedEOF, "connection closed"},
	{net.ErrClosed, "connection closed"},
	{syscall.EPIPE, "connection closed"},
}

// reason returns a text that says why a connection failed. It tells apart a name that does not
// resolve, a refusal, a timeout and silence.
func reason(err error) string {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Sprintf("name %s does not resolve", dns.Name)
	}
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			return r.text
		}
	}
	return err.Error()
}

// errNoConnection is a dial that timed out.
var errNoConnection = errors.New("connect timeout")

// open dials addr. A timeout is errNoConnection: the error of a silent connection may be the same.
func (c *Config) open(ctx context.Context, addr string) (net.Conn, error) {
	dial := c.dial
	if dial == nil {
		dial = func(ctx context.Context, addr string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", addr)
		}
	}
	conn, err := dial(ctx, addr)
	_, isDNS := errors.AsType[*net.DNSError](err)
	if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() && !isDNS {
		return nil, errNoConnection
	}
	return conn, err
}
