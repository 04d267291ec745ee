package launch

import (
	"fmt"
	"slices"

	"ringtrain/ring/exitcode"
)

// stage is how far a host of a login is.
type hostStage int

const (
	stageUnknown hostStage = iota // none of the branch
	stagePending                  // it has not said hello yet
	stageOpen
	stageLost // lost, or not to be had by this login
)

// take gives f to l, if it makes sense.
func (g *login) dispatch(l loginHandler, f frame) error {
	at := g.stageOf(f.host)
	switch {
	case f.kind == kindHello && at == stagePending:
		g.setStage(f.host, stageOpen)
	case f.kind == kindHello || at != stageOpen:
		return exitcode.With(exitcode.Protocol, fmt.Errorf("agent sent a frame %q of host %d, which does not speak there", f.kind, f.host))
	case f.kind == kindAlive:
		return nil
	case f.kind == kindSilent:
		var s wireHosts
		if err := f.decode(&s); err != nil {
			return err
		}
		if len(s.Hosts) > 0 && g.stageOf(s.Hosts[0]) == stageOpen { // else it is lost by now
			l.hostsSilent(g.openOf(s.Hosts))
		}
		return nil
	case f.kind == kindRefused:
		s, err := g.readLost(f, stagePending)
		if err == nil {
			l.hostsRefused(f.host, s.Hosts, s.Why.error())
		}
		return err
	case f.kind == kindLost:
		s, err := g.readLost(f, stageOpen)
		if err == nil {
			l.hostsLost(s.Hosts, s.Why.Text)
		}
		return err
	}
	return l.handleFrame(f)
}

// decline reads that hosts which are at a stage are gone. The login's own host
// cannot say that of itself.
func (g *login) readLost(f frame, from hostStage) (s wireHosts, err error) {
	if err := f.decode(&s); err != nil {
		return s, err
	}
	for _, h := range s.Hosts {
		if g.stageOf(h) != from || h == g.host() {
			return s, exitcode.With(exitcode.Protocol, fmt.Errorf("agent sent a frame %q that host %d is gone, which is not there", f.kind, h))
		}
		g.setStage(h, stageLost)
	}
	if len(s.Hosts) == 0 {
		return s, exitcode.With(exitcode.Protocol, fmt.Errorf("agent sent a frame %q of no host", f.kind))
	}
	return s, nil
}

// at lists the hosts at a stage, in the order of the branch.
func (g *login) hostsAt(s hostStage) []int {
	return slices.DeleteFunc(g.branch.hosts(), func(h int) bool { return g.stageOf(h) != s })
}

// open lists those of hosts that are open.
func (g *login) openOf(hosts []int) []int {
	return slices.DeleteFunc(hosts, func(h int) bool { return g.stageOf(h) != stageOpen })
}

func (g *login) stageOf(host int) hostStage {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stages[host]
}

// enter has a host be at a stage.
func (g *login) setStage(host int, s hostStage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stages[host] = s
}
