package main

import (
	"fmt"
	"strings"
	"testing"
)

// withoutMemory runs its arguments with a limit on the file size, in blocks of 512
// bytes, if its condition holds. The limit also applies to shared memory.
const withoutMemory = `if test %s; then ulimit -f %d; fi; exec "$@"`

// Limits and what they permit.
const (
	noPage   = 0
	onePage  = 16   // the memory of the join, not that of sums
	noArenas = 8192 // everything except large gradients
)

// limited returns the command line of 3 ranks of a job with limited files.
func limited(b *box, blocks int, job ...string) []string {
	limit := fmt.Sprintf(withoutMemory, "1", blocks)
	return append([]string{"run", "--verbose", "-np", "3", "--json", "--restarts", "2", "sh", "-c", limit, "rank", self(b), "train"}, job...)
}

// TestNoSharedMemory verifies that a job trains on a host that refuses shared memory,
// and reports the reason.
func TestNoSharedMemory(t *testing.T) {
	for _, blocks := range []int{noPage, onePage} {
		t.Run(fmt.Sprintf("blocks=%d", blocks), func(t *testing.T) { testNoSharedMemory(t, blocks) })
	}
}

func testNoSharedMemory(t *testing.T, blocks int) {
	b := newBox(t)
	e := b.must(0, limited(b, blocks, digits(10, "--set", "checkpoint.dir=", "--set", "export.savedmodel=")...)...)
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

// TestNoSharedArena verifies that a job with too little shared memory trains, or ends
// with the remedy, and names the refused rank.
func TestNoSharedArena(t *testing.T) {
	for link, want := range map[string]string{"auto": "allreduce.levels=flat", "shm": "want auto or tcp"} {
		b := newBox(t)
		e := b.run(limited(b, noArenas, digitsMLP(2048, 10, "--set", "checkpoint.dir=", "--link", link)...)...)
		if e.code != 64 || strings.Contains(e.stderr, "generation") {
			t.Errorf("link=%s: exit code %d, want 64 at once\n%s", link, e.code, e.stderr)
		}
		for rank := range 3 {
			if got := e.lastLine(rank); !strings.Contains(got, "shared memory is not available: rank 0 ") || !strings.Contains(got, want) {
				t.Errorf("link=%s: rank %d ends with %q, want what rank 0 is refused, and %q", link, rank, got, want)
			}
		}
	}
}

// TestNoSharedMemoryOnHosts verifies that ranks end with the remedy if one of two hosts
// refuses shared memory: the ranks of the other host cannot know that all must do
// without.
func TestNoSharedMemoryOnHosts(t *testing.T) {
	for _, blocks := range []int{noPage, onePage} {
		t.Run(fmt.Sprintf("blocks=%d", blocks), func(t *testing.T) { testNoSharedMemoryOnHosts(t, blocks) })
	}
}

func testNoSharedMemoryOnHosts(t *testing.T, blocks int) {
	hosts := newHosts(t, 2, "")
	b := newBox(t)
	refused := fmt.Sprintf(withoutMemory, "$RANK -ge 2", blocks)
	c := b.startArgvOnHosts(hosts, []int{0, 0, 1, 1}, append([]string{"sh", "-c", refused, "rank", self(b), "train"}, inMemory()...))
	for rank, p := range c.ranks {
		if e := p.wait(); e.code != 64 || !strings.Contains(e.last(), "allreduce.levels=flat") {
			t.Errorf("rank %d ended with %d and %q, want 64 and what to do", rank, e.code, e.last())
		}
	}
}
