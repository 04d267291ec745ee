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

// NeighbourError adds the neighbour's rank and address to err, and removes the addresses
// that a socket's error repeats.
//
// A corrupt frame is exitcode.Protocol. Any other error is a lost neighbour,
// exitcode.Retry.
func NeighbourError(w ring.Worker, err error) error {
	code := exitcode.Retry
	if errors.Is(err, ring.ErrCorruptFrame) {
		code = exitcode.Protocol
	}
	return exitcode.With(code, fmt.Errorf("rank %d (%s): %w", w.Rank, w.Addr, WithoutAddresses(err)))
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
