package shmlink

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var sizes = []int{2, 4, 8}

// TestSum verifies that processes see what the others wrote before a Sync, and not what they
// write after it.
func TestSum(t *testing.T) {
	for _, p := range sizes {
		t.Run(fmt.Sprintf("p=%d", p), func(t *testing.T) {
			for _, w := range start(t, p, "sum", 0) {
				w.expect("ok")
			}
		})
	}
}

// TestKill verifies that the others name a killed worker and do not wait for it. Members
// notice the end of the leader themselves.
func TestKill(t *testing.T) {
	for _, p := range sizes {
		for _, victim := range []int{leader, p - 1} {
			t.Run(fmt.Sprintf("p=%d/victim=%d", p, victim), func(t *testing.T) {
				all := start(t, p, "loop", 0)
				for _, w := range all {
					w.expect("looping")
				}
				if err := all[victim].cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				for i, w := range all {
					if i != victim {
						w.expect(fmt.Sprintf("missing=%d closed=false", victim),
							fmt.Sprintf("rank %d (here): its process has ended", 2*victim+1))
					}
				}
			})
		}
	}
}

// TestStop verifies that a stopped worker does not end the others' Sync, that Missing names
// it, and that Interrupt ends the wait.
func TestStop(t *testing.T) {
	for _, p := range sizes {
		for _, victim := range []int{leader, p - 1} {
			t.Run(fmt.Sprintf("p=%d/victim=%d", p, victim), func(t *testing.T) {
				all := start(t, p, "loop", 0)
				for _, w := range all {
					w.expect("looping")
				}
				all[victim].stop()
				others := slices.Delete(slices.Clone(all), victim, victim+1)
				for _, w := range others {
					fmt.Fprintln(w.in, victim)
				}
				closed := 0
				for _, w := range others {
					line := w.says()
					if line == "interrupt" {
						line = w.says()
					}
					switch {
					case strings.Contains(line, "closed=true"):
						closed++
					case strings.Contains(line, "it has left"): // interrupted before this worker reached the last barrier
					default:
						t.Errorf("a worker says %q, want that it or another one was interrupted", line)
					}
				}
				if closed == 0 {
					t.Error("no worker was interrupted")
				}
			})
		}
	}
}

// TestOtherUser verifies that a worker of another user id gets no memory although it has the token. It
// needs root.
func TestOtherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can start a process of another user")
	}
	all := start(t, 2, "sum", 1001)
	all[1].expect("open:", "its uid is 1001, want 0: give one uid, or --host-id")
	all[0].cmd.Process.Kill() // it waits for the right worker
}
