package main

import (
	"fmt"
	"strings"
	"testing"
)

// withoutMemory runs the rest of its arguments where no file may grow, that of a
// memory that processes share neither, if its condition holds.
const withoutMemory = `if test %s; then ulimit -f 0; fi; exec "$@"`

// TestNoSharedMemory trains on a host that refuses its ranks memory in common. If
// it fails, containers with such limits cannot train, or nobody learns why they
// are slow.
func TestNoSharedMemory(t *testing.T) {
	b := newBox(t)
	job := digits(10, "--set", "checkpoint.dir=", "--set", "export.savedmodel=")
	e := b.must(0, append([]string{"run", "-np", "3", "--json", "sh", "-c", fmt.Sprintf(withoutMemory, "1"), "rank", self(b), "train"}, job...)...)
	start := e.only(t, "start")
	if start.text("levels") != "flat" || start.text("link") != "tcp" {
		t.Errorf("levels %s, link %s; want flat, tcp", start.text("levels"), start.text("link"))
	}
	if n := strings.Count(e.stderr, "shared memory is not available"); n != 1 || !strings.Contains(e.stderr, "over links instead") {
		t.Errorf("%d notices, want one that says what is used instead\n%s", n, e.stderr)
	}
	for rank := range 3 {
		if got := e.lastLine(rank); got != "digest="+e.digest(t) {
			t.Errorf("rank %d ends with %q, want the digest", rank, got)
		}
	}
}

// TestNoSharedMemoryOnHosts does so on one of two hosts. If it fails, the other
// one's ranks wait for ever, or nobody learns what to do: they cannot know that
// all must go without.
func TestNoSharedMemoryOnHosts(t *testing.T) {
	hosts := newHosts(t, 2, "")
	b := newBox(t)
	refused := fmt.Sprintf(withoutMemory, "$RANK -ge 2")
	c := b.startArgvOnHosts(hosts, []int{0, 0, 1, 1}, append([]string{"sh", "-c", refused, "rank", self(b), "train"}, inMemory()...))
	for rank, p := range c.ranks {
		if e := p.wait(); e.code != 64 || !strings.Contains(e.last(), "allreduce.levels=flat") {
			t.Errorf("rank %d ended with %d and %q, want 64 and what to do", rank, e.code, e.last())
		}
	}
}
