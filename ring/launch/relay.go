package launch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"ringtrain/ring/launch/process"
)

// relay connects an agent to the hosts below it. It passes frames from above to their
// hosts, and all frames from below to the launcher.
type relay struct {
	host   int // the agent's own host
	up     *frameWriter
	cancel context.CancelFunc // of the logins under way
	logins sync.WaitGroup

	mu     sync.Mutex
	below  map[int]*login // by host; nil: not reached yet, or lost
	cutOff bool
}

// newRelay starts to log in to the hosts below.
func newRelay(o orders, up *frameWriter, guard *process.GuardProcess) *relay {
	ctx, cancel := withAnswerTimeout(context.Background(), o.AnswerTimeout)
	r := &relay{host: o.Host, up: up, cancel: cancel, below: map[int]*login{}}
	for _, t := range o.Below {
		r.below[t.Host] = nil
	}
	if len(o.Below) > 0 {
		r.logins.Go(func() { r.open(ctx, o, guard) })
	}
	return r
}

// open logs in to the hosts below. With Push, hosts get the program from this host.
func (r *relay) open(ctx context.Context, o orders, guard *process.GuardProcess) {
	d := &dialer{ssh: o.SSH, self: o.Self, guard: guard, orders: o, turns: make(chan struct{}, maxLogins)}
	list := branches(o.Below, o.Fanout)
	if o.Push {
		p, err := hashThis()
		if err != nil {
			for _, b := range list {
				r.hostsRefused(r.host, b.hosts(), err)
			}
			return
		}
		d.push = &p
	}
	for _, b := range list {
		r.logins.Go(func() { r.lead(ctx, d, b) })
	}
}

// hashThis hashes this process's own program.
func hashThis() (pushedProgram, error) {
	self, err := process.Self()
	if err != nil {
		return pushedProgram{}, fmt.Errorf("push: %w", err)
	}
	return hashSelf(self)
}

// lead logs in to the first host of b and relays its frames until the end.
func (r *relay) lead(ctx context.Context, d *dialer, b branch) {
	g, err := d.open(ctx, b)
	if err != nil {
		r.hostsRefused(r.host, b.hosts(), err)
		return
	}
	if r.add(g) {
		r.up.send(frameOf(kindHello, g.host(), 0, g.hello))
	} else {
		g.leave()
	}
	g.receive(r)
	r.remove(g)
}

// add adds a login. It reports whether the relay still needs it.
func (r *relay) add(g *login) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range g.branch.hosts() {
		r.below[h] = g
	}
	return !r.cutOff
}

// remove removes a login that has ended.
func (r *relay) remove(g *login) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range g.branch.hosts() {
		r.below[h] = nil
	}
	g.leave()
}

// down passes f on to its host, unless that is lost, or to all hosts. It reports whether
// the host of f is below this one.
func (r *relay) down(f frame) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.isBroadcast() {
		for host, g := range r.below {
			if g != nil && g.host() == host {
				g.enqueue(f)
			}
		}
		return true
	}
	g, known := r.below[f.host]
	if g != nil {
		g.enqueue(f)
	}
	return known
}

// handleFrame passes f on to the launcher. An error means the end of the launcher, which
// also shows at the other pipe.
func (r *relay) handleFrame(f frame) error {
	r.up.send(f)
	return nil
}

func (r *relay) hostsRefused(by int, hosts []int, why error) {
	r.up.send(frameOf(kindRefused, by, 0, wireHosts{hosts, *faultOf(why)}))
}

func (r *relay) hostsSilent(hosts []int) {
	if len(hosts) > 0 {
		r.up.send(frameOf(kindSilent, r.host, 0, wireHosts{Hosts: hosts}))
	}
}

func (r *relay) hostsLost(hosts []int, why string) {
	if len(hosts) > 0 {
		r.up.send(frameOf(kindLost, r.host, 0, wireHosts{hosts, wireFault{Text: why}}))
	}
}

// cut lets all hosts below go, at once.
func (r *relay) cut() {
	r.cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cutOff = true
	for _, g := range r.below {
		if g != nil {
			g.leave()
		}
	}
}

// wait returns when all logins have ended, or after a time in which they should have: the
// guard then ends the ssh processes that are left.
func (r *relay) wait() {
	done := make(chan struct{})
	go func() { r.logins.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(2 * process.SettleTime):
	}
}
