package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

// threadsOf returns the number of threads of a process, 0 if it has ended.
func threadsOf(pid int) int {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "Threads:"); ok {
			n := 0
			fmt.Sscan(rest, &n)
			return n
		}
	}
	return 0
}

// TestManyRanks verifies sums over 64 ranks on one host, and the number of their
// threads.
func TestManyRanks(t *testing.T) {
	long(t)
	const ranks = 64
	b := newBox(t)
	p := b.start("bench", "allreduce", "-np", fmt.Sprint(ranks), "--sizes", "1MiB", "--iters", "1", "--batch", "1MiB", "--in-place", "--json")
	most, seen := 0, map[int]bool{}
	eventually(t, patience, "the ranks have ended", func() bool {
		for _, pid := range childrenOf(p.cmd.Process.Pid) {
			if n := threadsOf(pid); n > 0 {
				most, seen[pid] = max(most, n), true
			}
		}
		return gone(p.cmd.Process.Pid)
	})
	e := p.wait()
	if rows := e.events(t); e.code != 0 || len(rows) < 1 || rows[0].num("ranks") != ranks || rows[0].num("wrong") != 0 {
		t.Fatalf("ended with %d\n%s%s", e.code, e.stdout, e.stderr)
	}
	if limit := runtime.NumCPU() + 8; most > limit || len(seen) < ranks {
		t.Errorf("a rank has up to %d threads, want %d at most; seen are %d processes", most, limit, len(seen))
	}
	t.Logf("up to %d threads a rank", most)
}
