package launch

import (
	"fmt"

	"ringtrain/ring/launch/hosts"
	"ringtrain/ring/launch/process"
)

// A loss is of open hosts: the first one by itself, and the others with it, since they
// were reached by it.
type hostLoss struct {
	login *login
	hosts []int
	why   string
}

// reason is why the host at place i is lost, in a sentence that names that host.
func (x *hostLoss) reason(i int, hosts []hosts.Host) string {
	if i == 0 {
		return x.why
	}
	return fmt.Sprintf("host %s, by which it was reached, is lost: %s", hosts[x.hosts[0]].Name, x.why)
}

// lose takes note that hosts are gone, each in turn: the first is the cause.
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

// loseRanks takes note that all ranks of a host are gone.
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
		case l.willRestart(s.Rank): // it was to be started again here
			delete(l.delayed, s.Rank)
			l.failover.unplaced[s.Rank] = e
		}
		if !l.willRestart(s.Rank) {
			delete(l.ranks, s.Rank) // of what is left there nobody will hear
		}
	}
}
