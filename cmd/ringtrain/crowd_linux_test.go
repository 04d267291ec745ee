package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A crowd is the ranks of one job, each a process of its own.
type crowd struct {
	*box
	ranks   []*testProcess // without a launcher
	runner  *testProcess   // or the launcher
	pids    []int          // of the ranks
	sockets []string       // that they have open, by inode
}

// strike sends a rank a signal. The other ranks are to name it.
func (c *crowd) strike(victim int, s syscall.Signal) *blow {
	c.Helper()
	return c.hit(victim, func() { kill(c, c.pids[victim], s) })
}

// hit does something to a rank. The other ranks are to name it.
func (c *crowd) hit(victim int, do func()) *blow {
	c.Helper()
	lines, from := len(c.pids)-1, []*testProcess{c.runner}
	if c.runner == nil {
		lines, from = 1, slices.Delete(slices.Clone(c.ranks), victim, victim+1)
	}
	b := &blow{victim: victim, at: time.Now(), first: make(chan time.Duration, len(from)), named: make(chan time.Duration, 1)}
	do()
	var all sync.WaitGroup
	for _, p := range from {
		all.Go(func() {
			if p.awaitCulprit(victim, 1) {
				b.first <- time.Since(b.at)
			}
			p.awaitCulprit(victim, lines)
		})
	}
	go func() {
		all.Wait()
		close(b.first)
		b.named <- time.Since(b.at)
	}()
	return b
}

// A blow is what was done to a rank.
type blow struct {
	victim int
	at     time.Time
	first  chan time.Duration // when one of the others had named it; closed if none will
	named  chan time.Duration // when all others had named it, or ended
}

// firstNamed returns when one of the others had named the rank; nothing if none
// did.
func (b *blow) firstNamed() []time.Duration {
	if first, ok := <-b.first; ok {
		return []time.Duration{first}
	}
	return nil
}

// awaitCulprit returns true once so many lines of the process name a rank, and
// false if it has ended before.
func (p *testProcess) awaitCulprit(rank, lines int) bool {
	for ended := false; ; {
		text, grown := p.stderr.snapshot()
		if countLines(text, rank) >= lines {
			return true
		}
		if ended {
			return false
		}
		select {
		case <-grown:
		case <-p.ended: // what it wrote at last counts
			ended = true
		}
	}
}

// wantNamed fails the test unless the median over the cases of the time to the
// first line that names the right rank is within a bound. One case alone may be
// late on a busy machine.
func wantNamed(t *testing.T, claim, bound time.Duration, firsts []time.Duration) {
	t.Helper()
	if len(firsts) == 0 {
		return // no case was chosen by -run; one that nobody names has failed
	}
	within(t, "the right rank was first named", claim, bound, firsts...)
}

// How soon a rank is to be named: one that is killed, and one that is silent,
// which the rendezvous has a lease of five seconds for.
const (
	killedNamed  = 2 * time.Second
	stoppedNamed = 8 * time.Second
)

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
