package delivery

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// TestFault verifies that FrameError names the neighbour once, or the link if bytes were changed, and
// keeps the cause and the exit code.
func TestFault(t *testing.T) {
	self, w := ring.Worker{Rank: 4, Addr: "10.0.0.8:44"}, ring.Worker{Rank: 3, Addr: "10.0.0.7:44"}
	addr := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: 44}
	reset := &net.OpError{Op: "read", Net: "tcp", Source: addr, Addr: addr, Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	tests := []struct {
		name  string
		err   error
		text  string
		cause error
		code  int
	}{
		{"reset", reset, "receive from rank 3 (10.0.0.7:44): connection reset by peer", syscall.ECONNRESET, exitcode.Retry},
		{"killed here", os.NewSyscallError("writev", syscall.ECONNABORTED), "receive from rank 3 (10.0.0.7:44): connection reset by peer", syscall.ECONNRESET, exitcode.Retry},
		{"crash", io.EOF, "receive from rank 3 (10.0.0.7:44): the connection ended without a goodbye: unexpected EOF", io.ErrUnexpectedEOF, exitcode.Retry},
		{"goodbye", ErrGoodbye, "receive from rank 3 (10.0.0.7:44): it closed the link: EOF", io.EOF, exitcode.Retry},
		{"changed", ring.ErrChangedBytes, "link 3 -> 4 at 10.0.0.8:44: bytes were changed on the way", ring.ErrChangedBytes, exitcode.Retry},
		{"corrupt", ring.ErrCorruptFrame, "receive from rank 3 (10.0.0.7:44): ring: corrupt frame", ring.ErrCorruptFrame, exitcode.Protocol},
	}
	for _, tt := range tests {
		t.Run("error="+tt.name, func(t *testing.T) {
			err := FrameError(w, self, w, tt.err)
			if err.Error() != tt.text || !errors.Is(err, tt.cause) || exitcode.Of(err) != tt.code {
				t.Errorf("%q (code %d), want %q with cause %v (code %d)", err, exitcode.Of(err), tt.text, tt.cause, tt.code)
			}
			if strings.Contains(tt.name, "crash") && errors.Is(err, io.EOF) {
				t.Error("a crash passes for an orderly end")
			}
		})
	}
	if err := FrameError(self, w, w, io.EOF); !strings.HasPrefix(err.Error(), "send to rank 3 (10.0.0.7:44): ") {
		t.Errorf("error %q of a send", err)
	}
}
