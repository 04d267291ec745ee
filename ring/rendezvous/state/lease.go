package state

import (
	"fmt"
	"time"
)

// On a machine with many more workers than cores a heartbeat may be late although
// its worker is well. The lease therefore grows with what is observed: it is at
// least eight times the lateness that one of a thousand heartbeats exceeds. It
// never shrinks again, and never exceeds a minute unless it was asked to.

const (
	leaseFactor   = 8
	longestLease  = 60 * time.Second
	gapsEnough    = 100                    // heartbeats, before they say anything
	gapsMost      = 8192                   // of which the older half is forgotten by halves
	gapUnit       = 100 * time.Millisecond // the resolution
	gapUnits      = int(longestLease / leaseFactor / gapUnit)
	gapPerMille   = 999
	leaseStepSize = 5 // the lease grows by a fifth at least, or not at all
)

// gaps counts how late heartbeats were, by gapUnit; the last count has all above.
type gaps struct {
	count [gapUnits + 1]int
	all   int
}

// observe takes in the time between two heartbeats of a healthy worker.
func (g *gaps) observe(gap time.Duration) {
	late := max(gap-BeatEvery, 0)
	g.count[min(int(late/gapUnit), gapUnits)]++
	if g.all++; g.all >= gapsMost {
		g.all = 0
		for i := range g.count {
			g.count[i] /= 2
			g.all += g.count[i]
		}
	}
}

// lateness returns the lateness that 99.9 % of the heartbeats did not exceed.
func (g *gaps) lateness() time.Duration {
	if g.all < gapsEnough {
		return 0
	}
	least := (g.all*gapPerMille + 999) / 1000
	for i, sum := 0, 0; ; i++ {
		if sum += g.count[i]; sum >= least {
			return time.Duration(i) * gapUnit
		}
	}
}

// lease returns what the lease should be, now that it is current.
func (g *gaps) lease(current time.Duration) time.Duration {
	wanted := min(leaseFactor*g.lateness(), longestLease)
	if wanted < current+current/leaseStepSize {
		return current
	}
	return wanted
}

// adapt has the lease grow if the heartbeats of healthy workers are late.
func (s *State) adapt(gap time.Duration) {
	if s.phase != running || gap >= s.healthy() {
		return
	}
	s.gaps.observe(gap)
	lease := s.gaps.lease(s.lease)
	if lease == s.lease {
		return
	}
	s.lease = lease
	s.do(SetLease{lease})
	s.warn(fmt.Sprintf("heartbeats are up to %v late: from now on a rank counts as lost after %v, not %v", s.gaps.lateness(), lease, s.c.Lease), nil)
}
