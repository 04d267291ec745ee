package delivery

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// ErrGoodbye is the end of a stream whose sender has sent a goodbye (ring.KindClose). It
// wraps io.EOF.
var ErrGoodbye = fmt.Errorf("it closed the link: %w", io.EOF)

// FrameError returns why a link from one worker to another has ended, as the one of both that is not
// neighbour sees it: "receive from rank 3 (10.0.0.7:44): connection reset by peer". It removes the
// addresses that a socket's error repeats. Changed bytes are the fault of neither, so that error names
// the link: "link 3 -> 4 at 10.0.0.8:44: bytes were changed on the way".
//
// A corrupt frame is exitcode.Protocol. Any other error is a lost neighbour,
// exitcode.Retry.
func FrameError(from, to, neighbour ring.Worker, err error) error {
	code := exitcode.Retry
	if errors.Is(err, ring.ErrCorruptFrame) {
		code = exitcode.Protocol
	}
	verb := "send to"
	if neighbour.Rank == from.Rank {
		verb = "receive from"
	}
	if errors.Is(err, ring.ErrChangedBytes) {
		err = fmt.Errorf("link %d -> %d at %s: %w", from.Rank, to.Rank, to.Addr, err)
	} else {
		err = fmt.Errorf("%s rank %d (%s): %w", verb, neighbour.Rank, neighbour.Addr, WithoutAddresses(err))
	}
	return exitcode.With(code, err)
}

// WithoutAddresses strips addresses and system calls from an error of package net. It turns
// the end of a stream without a goodbye into io.ErrUnexpectedEOF, since io.EOF means a goodbye,
// and the words of a kernel that has ended the connection on this side into a reset.
func WithoutAddresses(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("the connection ended without a goodbye: %w", io.ErrUnexpectedEOF)
	}
	if op, ok := err.(*net.OpError); ok {
		err = op.Err
	}
	if call, ok := err.(*os.SyscallError); ok {
		err = call.Err
	}
	if err == syscall.ECONNABORTED || err == syscall.EPIPE {
		return syscall.ECONNRESET
	}
	return err
}
