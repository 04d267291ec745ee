package main

import (
	"fmt"
	"strings"
	"testing"
)

// withoutMemory runs the rest of its arguments where no file may grow beyond so
// many blocks of 512 bytes, that of a memory that processes share neither, if its
// condition holds.
const withoutMemory = `if test %s; then ulimit -f %d; fi; exec "$@"`

// What a limit leaves room for.
const (
	noPage   = 0
	onePage  = 16   // what ranks meet in, not what they sum in
	noArenas = 8192 // all but large gradients
)

// limited is the command line of 3 ranks of a job where files are limited.
func limited(b *box, blocks int, job ...string) []string {
	limit := fmt.Sprintf(withoutMemory, "1", blocks)
	return append([]string{"run", "-np", "3", "--json", "--restarts", "2", "sh", "-c", limit, "rank", self(b), "train"}, job...)
}

// TestNoSharedMemory trains on a host that refuses its ranks memory in common. If
// it fails, containers with such limits cannot train, or nobody learns why they
// are slow.
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

// TestNoSharedArena trains where there is memory in common, but too little. If it
// fails, the ranks start again and again, name one that was refused nothing, or
// nobody learns what to do.
func TestNoSharedArena(t *testing.T) {
	for link, want := range map[string]string{"auto": "allreduce.levels=flat", "shm": "want auto, tcp or grpc"} {
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

// TestNoSharedMemoryOnHosts does so on one of two hosts. If it fails, the other
// one's ranks wait for ever, or nobody learns what to do: they cannot know that
// all must go without.
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
