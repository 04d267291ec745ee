package tcplink

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"ringtrain/ring"
)

// TestPromptGoesOn verifies that each TrySend of a partial frame sends as much as there is
// room for, until the frame is sent whole.
func TestPromptGoesOn(t *testing.T) {
	eachKind(t, func(t *testing.T, shared bool) {
		links := openRing(t, 2, Config{PayloadCRC: true})
		if shared {
			links = openShared(t, 2, Config{PayloadCRC: true})
		}
		stuck := time.AfterFunc(30*time.Second, func() { links[0].Close(); links[1].Close() })
		defer stuck.Stop()
		begun := data(0, whole)
		if links[0].(ring.PromptLink).TrySend(begun) {
			t.Fatal("the frame is sent, although no rank receives")
		}
		var receiving sync.WaitGroup
		receiving.Go(func() {
			if f, err := links[1].Recv(t.Context(), make([]byte, len(whole))); err != nil || len(f.Payload) != len(whole) {
				t.Errorf("received %d bytes, %v, want %d", len(f.Payload), err, len(whole))
			}
		})
		for !links[0].(ring.PromptLink).TrySend(begun) && !links[0].(*link).closed.Load() {
			runtime.Gosched()
		}
		receiving.Wait()
	})
}

// TestSharedIdle verifies that a receiver on a shared connection calls the idle function
// before it sleeps while the sender's goroutine reads, and that this goroutine does not.
func TestSharedIdle(t *testing.T) {
	links := openShared(t, 2, Config{Repair: true, Spin: DefaultSpin})
	here := links[0].(*link)
	told := make(chan struct{}, 100)
	here.OnIdle(func(last bool) {
		if last {
			told <- struct{}{}
		}
	})
	if here.in.in.(*pollSocket).idle != nil {
		t.Error("a connection that two goroutines read calls the idle function")
	}
	here.in.reading.Lock() // in place of the sender's goroutine
	var receiving sync.WaitGroup
	receiving.Go(func() {
		if _, err := here.Recv(t.Context(), nil); err != nil {
			t.Error(err)
		}
	})
	select {
	case <-told:
	case <-time.After(30 * time.Second):
		t.Error("Recv sleeps and has not called the idle function")
	}
	here.in.reading.Unlock()
	if err := links[1].Send(t.Context(), data(0, nil)); err != nil {
		t.Error(err)
	}
	receiving.Wait()
}
