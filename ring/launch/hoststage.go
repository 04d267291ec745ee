package launch

import (
	"fmt"
	"slices"

	"ringtrain/ring/exitcode"
)

// hostStage is the progress of a host of a login.
type hostStage int

const (
	stageUnknown hostStage = iota // not a host of the branch
	stagePending                  // has not sent hello yet
	stageOpen
	stageLost // lost, or not reachable through this login
)

// dispatch passes f to l, if f is valid.
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
		if len(s.Hosts) > 0 && g.stageOf(s.Hosts[0]) == stageOpen { // else the host is already lost
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

// readLost parses a message that hosts at the stage from are lost. The login's own host
// cannot report itself.
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

// hostsAt returns the hosts at a stage, in the order of the branch.
func (g *login) hostsAt(s hostStage) []int {
	return slices.DeleteFunc(g.branch.hosts(), func(h int) bool { return g.stageOf(h) != s })
}

// openOf returns those of hosts that are open.
func (g *login) openOf(hosts []int) []int {
	return slices.DeleteFunc(hosts, func(h int) bool { return g.stageOf(h) != stageOpen })
}

// stageOf returns the stage of a host.
func (g *login) stageOf(host int) hostStage {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stages[host]
}

// setStage sets the stage of a host.
func (g *login) setStage(host int, s hostStage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stages[host] = s
}
