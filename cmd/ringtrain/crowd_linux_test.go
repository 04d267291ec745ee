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

// A crowd has the ranks of one job, each a separate process.
type crowd struct {
	*box
	ranks   []*testProcess // processes of the ranks, without a launcher
	runner  *testProcess   // the launcher, or nil
	pids    []int          // of the ranks
	sockets []string       // open sockets, by inode
}

// strike sends a rank a signal. The other ranks must name the rank.
func (c *crowd) strike(victim int, s syscall.Signal) *blow {
	c.Helper()
	return c.hit(victim, func() { kill(c, c.pids[victim], s) })
}

// hit disturbs a rank. The other ranks must name the rank.
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

// A blow is a disturbance of a rank.
type blow struct {
	victim int
	at     time.Time
	first  chan time.Duration // time at which another rank named it; closed if none will
	named  chan time.Duration // time at which all others had named it or ended
}

// firstNamed returns the time at which another rank named the rank, if one did.
func (b *blow) firstNamed() []time.Duration {
	if first, ok := <-b.first; ok {
		return []time.Duration{first}
	}
	return nil
}

// awaitCulprit returns true after the given number of lines that name a rank, and false
// if the process has ended before.
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
		case <-p.ended: // including its last output
			ended = true
		}
	}
}

// wantNamed verifies that the median time over the cases to the first line that names
// the right rank is within a bound. A single case may be late on a busy machine.
func wantNamed(t *testing.T, claim, bound time.Duration, firsts []time.Duration) {
	t.Helper()
	if len(firsts) == 0 {
		return // -run selected no case; a case without a name has already failed
	}
	within(t, "the right rank was first named", claim, bound, firsts...)
}

// Bounds of the time to name a rank: a killed one, and a silent one, for which the
// rendezvous has a lease of five seconds.
const (
	killedNamed  = 2 * time.Second
	stoppedNamed = 8 * time.Second
)

// wait returns the ends of the other ranks: their exit codes, if there is no launcher,
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

// countLines returns the number of lines that name a rank as the culprit.
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

// blames reports whether a line names a rank before any other: consequences on other
// ranks may follow.
func blames(line string, rank int) bool {
	m := firstRank.FindStringSubmatch(line)
	return m != nil && m[1] == strconv.Itoa(rank)
}

// wantCulprit verifies that all ends name the victim and, if they have their own codes,
// end with 138.
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
