package tcplink

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"ringtrain/ring"
)

// TestPromptGoesOn fails if a frame that is tried again and again is not sent on each time as
// far as there is room, and in the end whole.
func TestPromptGoesOn(t *testing.T) {
	eachKind(t, func(t *testing.T, shared bool) {
		links := openRing(t, 2, Config{PayloadCRC: true})
		if shared {
			links = openPairs(t, 2, Config{PayloadCRC: true})
		}
		stuck := time.AfterFunc(30*time.Second, func() { links[0].Close(); links[1].Close() })
		defer stuck.Stop()
		begun := data(0, whole)
		if links[0].(ring.PromptLink).TrySend(begun) {
			t.Fatal("the frame is sent, with nobody to receive it")
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

// TestPairIdle fails if who receives over a shared connection sleeps and has not said so while
// the sender's goroutine reads, or if that one says it.
func TestPairIdle(t *testing.T) {
	links := openPairs(t, 2, Config{Repair: true, Spin: DefaultSpin})
	here := links[0].(*link)
	told := make(chan struct{}, 100)
	here.OnIdle(func(last bool) {
		if last {
			told <- struct{}{}
		}
	})
	if here.in.in.(*own).idle != nil {
		t.Error("a connection that two goroutines read calls idle")
	}
	here.in.reading.Lock() // as the sender's goroutine does
	var receiving sync.WaitGroup
	receiving.Go(func() {
		if _, err := here.Recv(t.Context(), nil); err != nil {
			t.Error(err)
		}
	})
	select {
	case <-told:
	case <-time.After(30 * time.Second):
		t.Error("it sleeps and has not said so")
	}
	here.in.reading.Unlock()
	if err := links[1].Send(t.Context(), data(0, nil)); err != nil {
		t.Error(err)
	}
	receiving.Wait()
}
