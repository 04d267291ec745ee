package launch

import (
	"bufio"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// TestAgentPause verifies that an agent whose launcher has said that it is stopped
// waits for it without end, also the agents below it, and that one whose launcher goes on
// and then says nothing ends as ever. The frames are written out: 'P' is the pause, 'G' its end.
func TestAgentPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, launcher := io.Pipe()
		defer launcher.Close() // ends the agent's reader
		below := &login{branch: branch{{Host: 1, Name: "b", Ranks: 1}}, outbox: make(chan frame, 9), leaving: make(chan struct{})}
		to := &frameWriter{w: io.Discard}
		a := &agent{in: bufio.NewReader(in), out: to, frames: make(chan frame), cleared: make(chan int), ranks: map[int]bool{}, credits: newCredits(), relay: newRelay(orders{}, to, nil)}
		a.relay.below = map[int]*login{1: below}
		ended := make(chan time.Time, 1)
		go func() {
			a.serve()
			ended <- time.Now()
		}()
		say := func(kind byte) {
			t.Helper()
			if err := (&frameWriter{w: launcher}).send(frame{kind: kind}); err != nil {
				t.Fatal(err)
			}
		}
		say('P')
		say(kindBeat) // sent before the pause
		time.Sleep(24 * time.Hour)
		select {
		case <-ended:
			t.Fatal("the agent has ended while its launcher was stopped")
		default:
		}
		say('G')
		since := time.Now()
		at := <-ended
		if silent := at.Sub(since); silent < beatTimeout-aliveInterval || silent > beatTimeout+aliveInterval {
			t.Errorf("the agent ended after %v of silence, want %v", silent, beatTimeout)
		}
		for _, want := range []byte{'P', kindBeat, 'G'} {
			if f := <-below.outbox; f.kind != want {
				t.Errorf("the agent below gets a frame %q, want %q", f.kind, want)
			}
		}
	})
}
