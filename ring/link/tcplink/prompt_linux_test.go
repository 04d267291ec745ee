package tcplink

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// TestPromptGoesOn verifies that each TrySend of a partial frame sends as much as there is
// room for, until the frame is sent whole.
func TestPromptGoesOn(t *testing.T) {
	for _, how := range []mode{auth, tls, auth.sharing(), tls.sharing()} {
		links := openRing(t, 2, how)
		stuck := time.AfterFunc(30*time.Second, func() { links[0].Close(); links[1].Close() })
		defer stuck.Stop()
		begun := data(0, whole)
		if links[0].TrySend(begun) {
			t.Fatal("the frame is sent, although no rank receives")
		}
		var receiving sync.WaitGroup
		receiving.Go(func() {
			if f, err := links[1].Recv(t.Context(), make([]byte, len(whole))); err != nil || len(f.Payload) != len(whole) {
				t.Errorf("received %d bytes, %v, want %d", len(f.Payload), err, len(whole))
			}
		})
		for !links[0].TrySend(begun) && !links[0].(*link).closed.Load() {
			runtime.Gosched()
		}
		receiving.Wait()
	}
}
