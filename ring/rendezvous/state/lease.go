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
	leaseFactor       = 8
	maxLease          = 60 * time.Second
	minDelays         = 100                    // heartbeats, before they say anything
	maxDelays         = 8192                   // of which the older half is forgotten by halves
	delayUnit         = 100 * time.Millisecond // the resolution
	delayUnits        = int(maxLease / leaseFactor / delayUnit)
	delayPerMille     = 999
	leaseStepFraction = 5 // the lease grows by a fifth at least, or not at all
)

// gaps counts how late heartbeats were, by gapUnit; the last count has all above.
type heartbeatDelays struct {
	count [delayUnits + 1]int
	total int
}

// observe takes in the time between two heartbeats of a healthy worker.
func (g *heartbeatDelays) observe(gap time.Duration) {
	late := max(gap-HeartbeatEvery, 0)
	g.count[min(int(late/delayUnit), delayUnits)]++
	if g.total++; g.total >= maxDelays {
		g.total = 0
		for i := range g.count {
			g.count[i] /= 2
			g.total += g.count[i]
		}
	}
}

// lateness returns the lateness that 99.9 % of the heartbeats did not exceed.
func (g *heartbeatDelays) lateness() time.Duration {
	if g.total < minDelays {
		return 0
	}
	least := (g.total*delayPerMille + 999) / 1000
	for i, sum := 0, 0; ; i++ {
		if sum += g.count[i]; sum >= least {
			return time.Duration(i) * delayUnit
		}
	}
}

// lease returns what the lease should be, now that it is current.
func (g *heartbeatDelays) lease(current time.Duration) time.Duration {
	wanted := min(leaseFactor*g.lateness(), maxLease)
	if wanted < current+current/leaseStepFraction {
		return current
	}
	return wanted
}

// adapt has the lease grow if the heartbeats of healthy workers are late.
func (s *State) adaptLease(gap time.Duration) {
	if s.phase != phaseRunning || gap >= s.silenceNoticeAfter() {
		return
	}
	s.delays.observe(gap)
	lease := s.delays.lease(s.lease)
	if lease == s.lease {
		return
	}
	s.lease = lease
	s.emit(SetLease{lease})
	s.notify(fmt.Sprintf("heartbeats are up to %v late: from now on a rank counts as lost after %v, not %v", s.delays.lateness(), lease, s.config.Lease), nil)
}
