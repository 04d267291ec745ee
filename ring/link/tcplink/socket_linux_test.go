package tcplink

import "testing"

// TestSendBytes fails if a buffer is set that the kernel would cut, as it does on most
// machines as they come: its own grows to more, and a frame of 1 MiB is to find room.
func TestSendBytes(t *testing.T) {
	for _, tt := range []struct {
		near        bool
		limit, want int
	}{
		{true, 212992, 0},
		{true, nearSendBytes, nearSendBytes},
		{true, bufferBytes, nearSendBytes},
		{false, nearSendBytes, 0},
		{false, bufferBytes, bufferBytes},
		{true, 0, 0}, // not known
	} {
		if got := sendBytes(tt.near, tt.limit); got != tt.want {
			t.Errorf("near=%t limit=%d: %d, want %d", tt.near, tt.limit, got, tt.want)
		}
	}
}
