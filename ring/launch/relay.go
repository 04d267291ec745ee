package launch

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"ringtrain/ring/launch/process"
)

// relay is an agent's way to the hosts below it. It passes on what comes from
// above to where it goes, and all that comes from below, at once.
type relay struct {
	host   int // the agent's own
	up     *frameWriter
	cancel context.CancelFunc // of the logins that go on
	logins sync.WaitGroup     // logins

	mu     sync.Mutex
	below  map[int]*login // by host; nil: not there yet, or gone
	cutOff bool
}

// newRelay begins to log in to the hosts below.
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

// open logs in to the hosts below. With Push, what they lack they get from here.
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

// hashThis reads this process's own program.
func hashThis() (pushedProgram, error) {
	self, err := os.Executable()
	if err != nil {
		return pushedProgram{}, fmt.Errorf("push: %w", err)
	}
	return hashSelf(self)
}

// lead leads to the hosts of b until the end.
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

// add tells whether there is still something to do for g.
func (r *relay) add(g *login) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range g.branch.hosts() {
		r.below[h] = g
	}
	return !r.cutOff
}

func (r *relay) remove(g *login) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range g.branch.hosts() {
		r.below[h] = nil
	}
	g.leave()
}

// down passes f on to its host, unless that is gone. It tells whether there is
// such a host. What is for all goes to all.
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

// hear passes f on to the launcher. An error is the launcher's end, which shows
// at the other pipe, too.
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

// wait returns when they are gone, or when they have had the time for it: the
// guard ends what is then left of ssh.
func (r *relay) wait() {
	done := make(chan struct{})
	go func() { r.logins.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(2 * process.SettleTime):
	}
}
