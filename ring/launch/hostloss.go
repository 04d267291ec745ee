package launch

import (
	"fmt"

	"ringtrain/ring/launch/hosts"
	"ringtrain/ring/launch/process"
)

// A hostLoss is the loss of open hosts: the first one by itself, and the others because
// they were reached through it.
type hostLoss struct {
	login *login
	hosts []int
	why   string
}

// reason returns why the host at index i of x.hosts is lost.
func (x *hostLoss) reason(i int, hosts []hosts.Host) string {
	if i == 0 {
		return x.why
	}
	return fmt.Sprintf("host %s, by which it was reached, is lost: %s", hosts[x.hosts[0]].Name, x.why)
}

// hostsLost handles the loss of hosts, one after the other: the first is the cause.
func (l *launcher) hostsLost(x *hostLoss) error {
	if x.login.host() == x.hosts[0] {
		x.login.leave()
	}
	for i, h := range x.hosts {
		l.hosts[h] = nil
		l.ranksLost(h, x.reason(i, l.config.Hosts))
	}
	if !l.anyRuns() {
		l.outputs.mux.raiseLimit(true)
	}
	return l.retryHosts(x.hosts)
}

// ranksLost handles the loss of all ranks of a host.
func (l *launcher) ranksLost(host int, why string) {
	for _, s := range l.assignments {
		runs, left := l.ranks[s.Rank]
		if s.Host != host || !left || l.failover.unplaced[s.Rank].Lost {
			continue
		}
		e := process.Ending{Rank: s.Rank, Host: l.config.Hosts[host].Name, Lost: true, Why: why}
		switch {
		case runs:
			l.ranks[s.Rank] = false
			l.rankEnded(e)
		case l.willRestart(s.Rank): // the rank was to be started again on this host
			delete(l.delayed, s.Rank)
			l.failover.unplaced[s.Rank] = e
		}
		if !l.willRestart(s.Rank) {
			delete(l.ranks, s.Rank) // no more events come from that host
		}
	}
}
