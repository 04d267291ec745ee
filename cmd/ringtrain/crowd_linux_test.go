package main

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A crowd is the ranks of one job, each a process of its own.
type crowd struct {
	*box
	ranks   []*process // without a launcher
	runner  *process   // or the launcher
	pids    []int      // of the ranks
	sockets []string   // that they have open, by inode
}

// strike sends a rank a signal. The other ranks are to name it.
func (c *crowd) strike(victim int, s syscall.Signal) *blow {
	c.Helper()
	b := &blow{victim: victim, at: time.Now(), named: make(chan time.Duration, 1)}
	kill(c, c.pids[victim], s)
	lines, from := len(c.pids)-1, []*process{c.runner}
	if c.runner == nil {
		lines, from = 1, slices.Delete(slices.Clone(c.ranks), victim, victim+1)
	}
	go func() {
		for _, p := range from {
			p.awaitCulprit(victim, lines)
		}
		b.named <- time.Since(b.at)
	}()
	return b
}

// A blow is what was done to a rank.
type blow struct {
	victim int
	at     time.Time
	named  chan time.Duration // when all others had named it, or ended
}

// awaitCulprit returns once so many lines of the process name a rank, or it has
// ended.
func (p *process) awaitCulprit(rank, lines int) {
	for {
		text, grown := p.stderr.snapshot()
		if countLines(text, rank) >= lines {
			return
		}
		select {
		case <-grown:
		case <-p.ended:
			return
		}
	}
}

// wait returns how the other ranks ended: their exit codes, without a launcher,
// and last lines.
func (c *crowd) wait(victim int) map[int]rankEnd {
	c.Helper()
	ends := map[int]rankEnd{}
	var e ended
	if c.runner != nil {
		e = c.runner.wait()
	}
	for rank := range c.pids {
		switch {
		case rank == victim:
		case c.runner != nil:
			ends[rank] = rankEnd{last: e.lastLine(rank)}
		default:
			e := c.ranks[rank].wait()
			ends[rank] = rankEnd{e.code, e.last()}
		}
	}
	return ends
}

// countLines counts the lines of text that name a rank as the culprit.
func countLines(text string, rank int) int {
	n := 0
	for line := range strings.Lines(text) {
		if strings.Contains(line, "ringtrain: ") && blames(line, rank) {
			n++
		}
	}
	return n
}

var firstRank = regexp.MustCompile(`\brank (\d+)\b`)

// blames tells whether a line names a rank before any other: what others have
// met with because of it may follow.
func blames(line string, rank int) bool {
	m := firstRank.FindStringSubmatch(line)
	return m != nil && m[1] == strconv.Itoa(rank)
}

// wantCulprit fails the test unless all ends name the victim and, where they
// have codes of their own, end with 138.
func (c *crowd) wantCulprit(ends map[int]rankEnd, victim int) {
	c.Helper()
	for rank, end := range ends {
		if !blames(end.last, victim) {
			c.Errorf("rank %d ends with %q, want rank %d blamed", rank, end.last, victim)
		}
		if c.runner == nil && end.code != 138 {
			c.Errorf("rank %d ended with %d, want 138", rank, end.code)
		}
	}
}

// self is this binary, which acts as ringtrain in a box.
func self(b *box) string {
	b.Helper()
	path, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	return path
}
