package train

import (
	"context"
	"sync"
	"time"
)

const (
	pulseEvery = 5 * time.Millisecond

	// maxLost is the most that counts of a time without a core. The rest is a pause of the whole job, as by Ctrl-Z, or
	// a hang, which the rendezvous tells.
	maxLost = 500 * time.Millisecond
)

// A pulse measures for how long this process has no core: its beat is late then. A rank may be stopped in turns, or
// other programs have its cores. Where that falls into the exchange, the rank seems to wait as the others do.
type pulse struct {
	mu  sync.Mutex
	due time.Time // the next beat
	sum lost
}

// lost is the time without a core, and the time of pauses.
type lost struct{ late, paused time.Duration }

// run beats until ctx is done.
func (p *pulse) run(ctx context.Context) {
	tick := time.NewTicker(pulseEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.beat(time.Now())
		case <-ctx.Done():
			return
		}
	}
}

func (p *pulse) beat(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sum = p.at(now)
	p.due = now.Add(pulseEvery)
}

// lost returns what is lost until now.
func (p *pulse) lost(now time.Time) lost {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at(now)
}

func (p *pulse) at(now time.Time) lost {
	late := max(now.Sub(p.due), 0)
	return lost{p.sum.late + min(late, maxLost), p.sum.paused + max(late-maxLost, 0)}
}
