package main

import (
	"testing"
	"testing/synctest"

	"ringtrain/ring/rendezvous"
)

// TestWatchStranger lets a server with another token use the port of a watched
// rendezvous for a while. It verifies that status --watch waits for the rendezvous and
// shows its job again.
func TestWatchStranger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{left: []string{"dial", "runs", "lost", "token", "token", "dial", "runs", "ended"}}
		shown := 0
		w := &watcher{look: s.look, notice: func(string) {}, show: func([]rendezvous.Status) error { shown++; return nil }}
		if err := w.run(t.Context()); err != nil || shown != 3 {
			t.Errorf("ended with %v after %d looks, want the end of the job after 3", err, shown)
		}
	})
}
