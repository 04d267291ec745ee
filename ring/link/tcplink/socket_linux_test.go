package tcplink

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestSendBytes fails if a buffer is set that the kernel would cut, as it does on most
// machines as they come: its own grows to more, and a frame of 1 MiB is to find room.
func TestSendBytes(t *testing.T) {
	for _, tt := range []struct {
		near               bool
		local, limit, want int
	}{
		{true, 2, 212992, 0},
		{true, 2, bufferBytes, bufferBytes / 2},
		{true, 1, bufferBytes, bufferBytes / 2}, // the other one is not known to be here
		{true, 3, bufferBytes, bufferBytes / 3},
		{true, 64, nearSendBytes, nearSendBytes},
		{true, 64, nearSendBytes - 1, 0},
		{false, 2, nearSendBytes, 0},
		{false, 2, bufferBytes, bufferBytes},
		{true, 2, 0, 0}, // not known
	} {
		if got := sendBytes(tt.near, tt.local, tt.limit); got != tt.want {
			t.Errorf("near=%t local=%d limit=%d: %d, want %d", tt.near, tt.local, tt.limit, got, tt.want)
		}
	}
}

// TestNearCongestion fails if a connection within one machine is paced or slowed down as one
// over a network is.
func TestNearCongestion(t *testing.T) {
	here, there := tcpPair(t)
	for _, c := range []*own{newSource(tune(here, 2), 0).(*own), newSource(tune(there, 2), 0).(*own)} {
		got, err := unix.GetsockoptString(c.fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
		if err != nil || got != nearCongestion {
			t.Errorf("congestion control is %q, %v, want %q", got, err, nearCongestion)
		}
		c.Close()
	}
}
