package grpclink

import (
	"errors"
	"fmt"

	"google.golang.org/grpc/status"

	"ringtrain/ring/link/internal/handshake"
)

// stream is the interface that both sides of a gRPC stream have.
type stream interface {
	SendMsg(m any) error
	RecvMsg(m any) error
}

// handshakeConn presents a stream to the handshake as bytes. Each Write is a message.
type handshakeConn struct {
	stream stream
	buf    [handshake.MaxMessageBytes]byte
	rest   []byte // unread bytes of the last message
}

// doHandshake runs one side's part of the handshake over s.
func doHandshake(s stream, part func(handshake.Conn) error) error {
	c := &handshakeConn{stream: s}
	if err := part(c); err != nil {
		return err
	}
	if len(c.rest) > 0 {
		return fmt.Errorf("%d bytes behind the handshake in one message", len(c.rest))
	}
	return nil
}

func (c *handshakeConn) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		var m inMessage
		if err := c.stream.RecvMsg(&m); err != nil {
			return 0, messageOnly(err)
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

func (c *handshakeConn) Write(p []byte) (int, error) {
	if err := c.stream.SendMsg(&outMessage{head: p}); err != nil {
		return 0, messageOnly(err)
	}
	return len(p), nil
}

// rpcError is an error of gRPC that prints the peer's message only, without gRPC's
// prefix.
type rpcError struct{ err error }

func (e rpcError) Error() string { return status.Convert(e.err).Message() }
func (e rpcError) Unwrap() error { return e.err }

// messageOnly returns err as an rpcError if it is an error of gRPC.
func messageOnly(err error) error {
	if _, ok := errors.AsType[interface {
		error
		GRPCStatus() *status.Status
	}](err); ok {
		return rpcError{err}
	}
	return err
}
