package main

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"ringtrain/model"
)

// TestKernelsOfReplacedHost kills a rank and restarts it on a processor without the
// highest kernel set. It verifies that the job continues with the common set, reports
// both sets and the rank, and that all ranks end with equal bits. With a single set
// nothing is reported.
func TestKernelsOfReplacedHost(t *testing.T) {
	long(t)
	const victim = 1
	c := newCompany(t, steadyDigits(), "--restarts", "1")
	ranks := c.ranks()
	ranks[0].await(`"event":"step"`)
	ranks[victim].signal(syscall.SIGKILL)
	ranks[victim].wait()
	ranks[0].await("generation 1 has ended: ")
	c.box = c.with("GODEBUG=" + withoutHighest())
	ranks[victim] = c.rank(victim)
	digests := map[string]bool{}
	for rank, p := range ranks {
		e := p.wait()
		digests[e.last()] = true
		if e.code != 0 || !strings.HasPrefix(e.last(), "digest=") {
			t.Fatalf("rank %d ended with %d\n%s", rank, e.code, e.stderr)
		}
	}
	if len(digests) != 1 {
		t.Errorf("the ranks end with %v, want one digest", digests)
	}
	sets := model.KernelSets()
	told := slices.DeleteFunc(ranks[0].wait().events(t), func(v event) bool { return v.text("what") != "kernels" })
	if len(sets) == 1 {
		if len(told) != 0 {
			t.Errorf("with one set there is %v, want nothing", told)
		}
		return
	}
	had, left := sets[len(sets)-1], sets[len(sets)-2]
	if len(told) != 1 || told[0].text("choice") != left || !namesRank(told[0].text("why"), victim) || !strings.Contains(told[0].text("why"), "generation 1 had "+had) {
		t.Errorf("told is %v, want %s in place of %s, for rank %d", told, left, had, victim)
	}
}
