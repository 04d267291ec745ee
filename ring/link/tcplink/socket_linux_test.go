package tcplink

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestSendBytes verifies that no buffer size is set that the kernel would cut, as it does by
// default on most machines: its own tuning grows further, and a frame of 1 MiB needs room.
func TestSendBytes(t *testing.T) {
	for _, tt := range []struct {
		near               bool
		local, limit, want int
	}{
		{true, 2, 212992, 0},
		{true, 2, bufferBytes, bufferBytes / 2},
		{true, 1, bufferBytes, bufferBytes / 2}, // the membership does not place the neighbour here
		{true, 3, bufferBytes, bufferBytes / 3},
		{true, 64, localSendBytes, localSendBytes},
		{true, 64, localSendBytes - 1, 0},
		{false, 2, localSendBytes, 0},
		{false, 2, bufferBytes, bufferBytes},
		{true, 2, 0, 0}, // unknown limit
	} {
		if got := sendBytes(tt.near, tt.local, tt.limit); got != tt.want {
			t.Errorf("near=%t local=%d limit=%d: %d, want %d", tt.near, tt.local, tt.limit, got, tt.want)
		}
	}
}

// TestLocalCongestion verifies the congestion control of a connection within one machine.
func TestLocalCongestion(t *testing.T) {
	here, there := tcpPair(t)
	for _, c := range []*pollSocket{newReadConn(tune(here, 2), 0).(*pollSocket), newReadConn(tune(there, 2), 0).(*pollSocket)} {
		got, err := unix.GetsockoptString(c.fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
		if err != nil || got != localCongestion {
			t.Errorf("congestion control is %q, %v, want %q", got, err, localCongestion)
		}
		c.Close()
	}
}
