package grpclink

import (
	"errors"
	"fmt"

	"google.golang.org/grpc/status"

	"ringtrain/ring/link/internal/handshake"
)

// stream is what both sides of a gRPC stream have.
type stream interface {
	SendMsg(m any) error
	RecvMsg(m any) error
}

// conduit is a stream as the handshake sees it: bytes. Each Write is a message.
type conduit struct {
	stream stream
	buf    [handshake.MaxMessageBytes]byte
	rest   []byte // of the last message
}

// shake does one side's part of the handshake over s.
func shake(s stream, part func(handshake.Conn) error) error {
	c := &conduit{stream: s}
	if err := part(c); err != nil {
		return err
	}
	if len(c.rest) > 0 {
		return fmt.Errorf("%d bytes behind the handshake in one message", len(c.rest))
	}
	return nil
}

func (c *conduit) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		var m inMessage
		if err := c.stream.RecvMsg(&m); err != nil {
			return 0, bare(err)
		}
		n := m.take(c.buf[:], nil)
		if n == 0 || n > len(c.buf) {
			return 0, fmt.Errorf("message of %d bytes, want 1 to %d", n, len(c.buf))
		}
		c.rest = c.buf[:n]
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *conduit) Write(p []byte) (int, error) {
	if err := c.stream.SendMsg(&outMessage{head: p}); err != nil {
		return 0, bare(err)
	}
	return len(p), nil
}

// rpcError is an error of gRPC in its own words, without the wrapping that
// gRPC puts around them.
type rpcError struct{ err error }

func (e rpcError) Error() string { return status.Convert(e.err).Message() }
func (e rpcError) Unwrap() error { return e.err }

// bare returns err as an rpcError if it is one of gRPC.
func bare(err error) error {
	if _, ok := errors.AsType[interface {
		error
		GRPCStatus() *status.Status
	}](err); ok {
		return rpcError{err}
	}
	return err
}
