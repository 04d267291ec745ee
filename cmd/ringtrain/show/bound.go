package show

import (
	"time"
)

// messageTimeout bounds the wait for a reader of the last message.
const messageTimeout = 5 * time.Second

// Bound calls write and waits for its return, but at most for messageTimeout. A terminal or a
// pipe may take no output, for instance after Ctrl-S: the process must end nevertheless.
func Bound(write func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		write()
	}()
	select {
	case <-done:
	case <-time.After(messageTimeout):
	}
}
