package shmlink

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

var sizes = []int{2, 4, 8}

// TestSum fails if processes do not see what the others wrote before a Sync, or
// see it too early.
func TestSum(t *testing.T) {
	for _, p := range sizes {
		t.Run(fmt.Sprintf("p=%d", p), func(t *testing.T) {
			for _, w := range start(t, p, "sum") {
				w.expect("ok")
			}
		})
	}
}

// TestKill fails if the others wait for a worker that was killed, or cannot say
// which it was. A dead leader is noticed by the members themselves.
func TestKill(t *testing.T) {
	for _, p := range sizes {
		for _, victim := range []int{leader, p - 1} {
			t.Run(fmt.Sprintf("p=%d/victim=%d", p, victim), func(t *testing.T) {
				all := start(t, p, "loop")
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

// TestStop fails if a worker that is stopped ends the others' Sync before
// somebody interrupts it, if Missing never names it, or if an interrupt does not
// end the wait.
func TestStop(t *testing.T) {
	for _, p := range sizes {
		for _, victim := range []int{leader, p - 1} {
			t.Run(fmt.Sprintf("p=%d/victim=%d", p, victim), func(t *testing.T) {
				all := start(t, p, "loop")
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
					case strings.Contains(line, "it has left"): // before this one had reached the last barrier
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
