package main

import (
	"strings"
	"syscall"
	"testing"
)

// TestPausedRendezvousProcess suspends a rendezvous with a journal by SIGSTOP
// until all ranks have given it up, resumes it, and kills a rank. It verifies that the
// job continues, and that the killed rank is named.
func TestPausedRendezvousProcess(t *testing.T) {
	c := newCompany(t, endless("--json"), "--lease", "2s", "--journal", "journal")
	ranks := c.ranks()
	steps := func() int { return strings.Count(ranks[0].stdout.String(), `"event":"step"`) }
	eventually(t, patience, "rank 0 trains", func() bool { return steps() > 0 })
	c.meeting.signal(syscall.SIGSTOP)
	for _, p := range ranks {
		p.await("lost the rendezvous at " + c.at)
	}
	c.meeting.signal(syscall.SIGCONT)
	for _, p := range ranks {
		p.await("the rendezvous at " + c.at + " is back")
	}
	before := steps()
	eventually(t, patience, "steps go on after the pause", func() bool { return steps() > before+2 })
	ranks[1].signal(syscall.SIGKILL)
	for _, rank := range []int{0, 2} {
		if e := ranks[rank].wait(); e.code != 138 || !strings.Contains(e.last(), "rank 1") {
			t.Errorf("rank %d ended with %d and %q, want 138 and the name of rank 1", rank, e.code, e.last())
		}
	}
	if e := c.meeting.wait(); e.code != 138 || !strings.Contains(e.last(), "rank 1") {
		t.Errorf("the rendezvous ended with %d and %q, want 138 and the name of rank 1", e.code, e.last())
	}
}
