package launch

import (
	"bufio"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// TestAgentPause verifies that an agent whose launcher has said that it is stopped
// waits for it without end, and that one whose launcher goes on
// and then says nothing ends as ever. The frames are written out: 'P' is the pause, 'G' its end.
func TestAgentPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, launcher := io.Pipe()
		defer launcher.Close() // ends the agent's reader
		a := &agent{in: bufio.NewReader(in), out: &frameWriter{w: io.Discard}, frames: make(chan frame), cleared: make(chan int), ranks: map[int]bool{}, credits: newCredits()}
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
	})
}
