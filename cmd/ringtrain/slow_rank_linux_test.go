package main

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestSlowRank stops a rank for half of its time, in a job whose steps are nearly all exchange. It verifies
// that lines about steps name this rank, five in a row.
func TestSlowRank(t *testing.T) {
	const slow = 1
	b := newBox(t)
	job := endless("--set", "log.every=200ms")
	p := b.start(append([]string{"run", "-np", "4"}, job...)...)
	p.stdout.await(t, "step ")
	pid, ticks := b.rankPID(slow), 0
	eventually(t, patience, fmt.Sprintf("five lines in a row name rank %d", slow), func() bool {
		signal := syscall.SIGSTOP
		if ticks++; ticks%2 == 0 {
			signal = syscall.SIGCONT
		}
		kill(t, pid, signal)
		steps := slices.DeleteFunc(linesOf(p.stdout.String(), 0), func(line string) bool { return !strings.HasPrefix(line, "step ") })
		return len(steps) > 5 && !slices.ContainsFunc(steps[len(steps)-5:], func(line string) bool {
			return !strings.Contains(line, fmt.Sprintf(" for rank %d on ", slow))
		})
	})
	kill(t, pid, syscall.SIGCONT)
	p.signal(syscall.SIGTERM)
	if e := p.wait(); e.code != 143 {
		t.Errorf("the job ended with %d, want 143\n%s", e.code, e.stderr)
	}
}
