package state

import (
	"fmt"
	"time"
)

// On a machine with many more workers than cores a heartbeat may be late although the worker is
// well. The lease therefore grows with the observed delays: it is at least eight times the 99.9th
// percentile of the delays. The lease never shrinks, and it grows to at most a minute.

const (
	leaseFactor       = 8
	maxLease          = 60 * time.Second
	minDelays         = 100                    // heartbeats before the percentile counts
	maxDelays         = 8192                   // at this number all counts are halved, so old delays lose weight
	delayUnit         = 100 * time.Millisecond // resolution
	delayUnits        = int(maxLease / leaseFactor / delayUnit)
	delayPerMille     = 999
	leaseStepFraction = 5 // the lease grows by at least one fifth, or not at all
)

// heartbeatDelays counts heartbeats by their delay in units of delayUnit. The last count has all
// larger delays.
type heartbeatDelays struct {
	count [delayUnits + 1]int
	total int
}

// observe takes in the time between two heartbeats of a healthy worker.
func (d *heartbeatDelays) observe(gap time.Duration) {
	late := max(gap-HeartbeatEvery, 0)
	d.count[min(int(late/delayUnit), delayUnits)]++
	if d.total++; d.total >= maxDelays {
		d.total = 0
		for i := range d.count {
			d.count[i] /= 2
			d.total += d.count[i]
		}
	}
}

// lateness returns the 99.9th percentile of the delays, 0 if there are too few heartbeats.
func (d *heartbeatDelays) lateness() time.Duration {
	if d.total < minDelays {
		return 0
	}
	least := (d.total*delayPerMille + 999) / 1000
	for i, sum := 0, 0; ; i++ {
		if sum += d.count[i]; sum >= least {
			return time.Duration(i) * delayUnit
		}
	}
}

// lease returns the lease for the observed delays, given the current lease.
func (d *heartbeatDelays) lease(current time.Duration) time.Duration {
	wanted := min(leaseFactor*d.lateness(), maxLease)
	if wanted < current+current/leaseStepFraction {
		return current
	}
	return wanted
}

// leaseWatch is the lease, which may grow.
type leaseWatch struct {
	current time.Duration
	delays  heartbeatDelays
}

// adaptLease lengthens the lease if heartbeats of healthy workers are late.
func (s *regroupingState) adaptLease(gap time.Duration) {
	if s.phase != phaseRunning || gap >= s.silenceNoticeAfter() {
		return
	}
	w := &s.lease
	w.delays.observe(gap)
	grown := w.delays.lease(w.current)
	if grown == w.current {
		return
	}
	w.current = grown
	s.emit(SetLease{grown})
	s.notify(fmt.Sprintf("heartbeats are up to %v late: from now on a rank counts as lost after %v, not %v", w.delays.lateness(), grown, s.config.Lease), nil)
}
