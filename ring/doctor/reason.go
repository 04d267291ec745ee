package doctor

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"ringtrain/ring/rendezvous"
)

// reason returns a text that says why a connection failed. It tells apart a name that does not
// resolve, a refusal, a dial that timed out, and the silence or the end of an open connection.
func reason(err error) string {
	switch {
	case errors.Is(err, errNoConnection):
		return err.Error()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "no answer"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.Is(err, syscall.EPIPE):
		return "connection closed"
	}
	return rendezvous.Reason(err)
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
	if err != nil && rendezvous.Reason(err) == errNoConnection.Error() {
		err = errNoConnection
	}
	return conn, err
}
