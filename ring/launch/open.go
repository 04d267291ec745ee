package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"ringtrain/ring/exitcode"
)

// maxLogins is how many hosts are logged in to at a time.
const maxLogins = 32

// waitingEvery is how often people are told for which hosts the start waits.
const waitingEvery = 5 * time.Second

// opened is how the opening of a host went.
type opened struct {
	index int
	host  *remoteHost
	err   error
}

// openHosts makes all hosts ready to start ranks. All that cannot be reached
// are in the error. A signal that asks to end ends it, as does ctx.
func (l *launcher) openHosts(ctx context.Context) error {
	c := l.config
	hosts := c.Hosts
	if len(hosts) == 0 {
		hosts = []Host{{Name: "localhost", Local: true}}
	}
	l.hosts = make([]host, len(hosts))
	remote, err := l.openRemote(ctx, hosts)
	if err != nil {
		return err
	}
	at := c.Rendezvous
	if len(remote) > 0 {
		at = ownAddress(c.Reach, remote[0].hello.Rendezvous, at)
	}
	for i, h := range hosts {
		if h.Local {
			l.hosts[i] = &localHost{
				env: c.localEnv(at), dir: c.Dir, bind: c.Bind, cores: ownCores(), grace: c.Grace, input: ownInput(), guard: l.guard,
				hear: l.voices.hear, tell: l.tell, ranks: map[int]*child{},
			}
		}
	}
	l.announce(hosts)
	return nil
}

// ownAddress is the rendezvous' address for ranks beside it. They tell the
// others the address that they reach it by: so it is the one by which another
// host does, if that is ours, and never the loopback.
func ownAddress(reach []string, other, loopback string) string {
	switch {
	case slices.Contains(reach, other):
		return other
	case len(reach) > 0:
		return reach[0]
	}
	return loopback
}

// openRemote opens the other hosts that ranks are on.
func (l *launcher) openRemote(ctx context.Context, hosts []Host) ([]*remoteHost, error) {
	d, err := l.dialer()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, l.config.StartTimeout, fmt.Errorf("no answer in %v", l.config.StartTimeout))
	defer cancel()
	results, logins := make(chan opened, len(hosts)), make(chan struct{}, maxLogins)
	waiting := map[int]bool{}
	for i, h := range hosts {
		if h.Local || !slices.ContainsFunc(l.seats, func(s seat) bool { return s.host == i }) {
			continue
		}
		waiting[i] = true
		go func() {
			logins <- struct{}{}
			defer func() { <-logins }()
			r, err := d.open(ctx, h.Name)
			results <- opened{i, r, err}
		}()
	}
	return l.collect(hosts, waiting, results, cancel)
}

// collect takes the hosts that were opened, until all are there or failed.
func (l *launcher) collect(hosts []Host, waiting map[int]bool, results <-chan opened, cancel func()) ([]*remoteHost, error) {
	var (
		list    []*remoteHost
		errs    []error
		stopped error
	)
	since, told, signals := time.Now(), time.NewTicker(waitingEvery), l.config.Signals
	defer told.Stop()
	for len(waiting) > 0 {
		select {
		case o := <-results:
			delete(waiting, o.index)
			errs = append(errs, o.err)
			if o.err == nil {
				list = append(list, o.host)
				l.hosts[o.index] = o.host
				l.config.tell(o.host.hello.Notice)
				mine := func(rank int) bool { return rank < len(l.seats) && l.seats[rank].host == o.index }
				go o.host.listen(mine, l.voices.hear, l.tell, func(name, why string) { l.lost(o.index, name, why) })
			}
		case s, ok := <-signals:
			if sig, is := s.(syscall.Signal); is && ends(sig) {
				stopped = exitcode.With(128+int(sig), fmt.Errorf("stopped by %s before all hosts had answered", signalText(sig)))
				cancel()
			}
			if !ok {
				signals = nil
			}
		case <-told.C:
			l.config.tell(waitingFor(hosts, waiting, time.Since(since)))
		}
	}
	if stopped != nil {
		return nil, stopped
	}
	return list, errors.Join(errs...)
}

// waitingFor names the hosts that have not answered.
func waitingFor(hosts []Host, waiting map[int]bool, d time.Duration) string {
	var late []Host
	for i, h := range hosts {
		if waiting[i] {
			late = append(late, h)
		}
	}
	return fmt.Sprintf("waiting for %s to answer by ssh for %v: %s", count(len(late), "host"), d.Round(time.Second), listHosts(late))
}

// dialer is what opens other hosts; nil where all ranks are here.
func (l *launcher) dialer() (*dialer, error) {
	c := l.config
	if !c.Remote() {
		return nil, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, exitcode.With(exitcode.Internal, err)
	}
	dir, must := c.Dir, c.Dir != ""
	if !must {
		dir, _ = os.Getwd() // "": no host has it
	}
	d := &dialer{
		ssh: c.SSH, self: self, guard: l.guard, ranks: len(l.seats),
		orders: orders{
			Protocol: agentProtocol, Version: c.Version, Rendezvous: c.Reach, Behind: c.Behind,
			Env: c.remoteEnv(), Dir: dir, MustDir: must, Bind: c.Bind, Grace: c.Grace,
		},
	}
	if c.Push {
		p, err := hashSelf(self)
		if err != nil {
			return nil, err
		}
		d.push = &p
	}
	return d, nil
}

// lost tells that all ranks of a host are gone, each in turn.
func (l *launcher) lost(index int, name, why string) {
	for _, s := range l.seats {
		if s.host == index {
			e := ending{rank: s.rank, host: name, lost: true, why: why}
			l.tell(event{ending: e})
			l.tell(event{ending: e, cleared: true})
		}
	}
}

// announce tells people what is about to be started where.
func (l *launcher) announce(hosts []Host) {
	ranks := make([][]seat, len(hosts))
	used := 0
	for _, s := range l.seats {
		if len(ranks[s.host]) == 0 {
			used++
		}
		ranks[s.host] = append(ranks[s.host], s)
	}
	l.config.tell(fmt.Sprintf("%s on %s", count(len(l.seats), "rank"), count(used, "host")))
	if l.config.Bind != BindCore {
		return
	}
	for i, h := range l.hosts {
		switch h := h.(type) {
		case *localHost:
			if name, _ := os.Hostname(); len(ranks[i]) > 0 {
				l.config.tell(bindingLine(name, ranks[i], h.cores))
			}
		case *remoteHost:
			l.config.tell(bindingLine(h.name, ranks[i], h.hello.Cores))
		}
	}
}

// closeHosts ends what leads to the hosts, all at the same time.
func (l *launcher) closeHosts() {
	done := make(chan struct{})
	n := 0
	for _, h := range l.hosts {
		if h != nil {
			n++
			go func() { h.close(); done <- struct{}{} }()
		}
	}
	for range n {
		<-done
	}
}
