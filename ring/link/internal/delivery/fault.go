package delivery

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// ErrGoodbye is the end of a stream whose sender said so (ring.KindClose). It
// wraps io.EOF.
var ErrGoodbye = fmt.Errorf("it closed the link: %w", io.EOF)

// Fault says which neighbour an error is about. The error of an operation on a
// socket loses its addresses, which would only repeat that.
//
// Corrupt frames are exitcode.Protocol; the rest is a neighbour that is gone,
// exitcode.Retry.
func Fault(w ring.Worker, err error) error {
	code := exitcode.Retry
	if errors.Is(err, ring.ErrCorruptFrame) {
		code = exitcode.Protocol
	}
	return exitcode.With(code, fmt.Errorf("rank %d (%s): %w", w.Rank, w.Addr, Bare(err)))
}

// Bare strips addresses and system calls from an error of package net, and makes the end of
// a stream that nobody announced an error of its own: io.EOF means a goodbye.
func Bare(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("the connection ended without a goodbye: %w", io.ErrUnexpectedEOF)
	}
	if op, ok := err.(*net.OpError); ok {
		err = op.Err
	}
	if call, ok := err.(*os.SyscallError); ok {
		err = call.Err
	}
	return err
}
