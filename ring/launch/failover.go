package launch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"ringtrain/ring/launch/hosts"
	"ringtrain/ring/launch/process"
	"ringtrain/ring/phrase"
)

// redialTimeout bounds the answer of a lost host to a new login, before its ranks go to
// other hosts.
const redialTimeout = 5 * time.Second

// A failover finds another place for ranks of a lost host that are to be started again. The
// launcher logs in to their own host once more, for an agent or a connection may be gone
// while the host is well. If the host does not answer, the ranks go to free slots: of open
// hosts, else of hosts of the list that were not used, or that were lost before.
type failover struct {
	unplaced    map[int]process.Ending // ranks without a place: how each was lost
	dialing     map[int]bool           // hosts of logins under way
	unreachable map[int]error          // hosts that did not answer since a rank is unplaced
	dialer      *dialer
	results     chan dialResult
	ctx         context.Context // of the logins
	cancel      context.CancelFunc
	dials       sync.WaitGroup
}

// init makes an empty failover.
func (f *failover) init(ctx context.Context) {
	f.unplaced, f.dialing, f.unreachable = map[int]process.Ending{}, map[int]bool{}, map[int]error{}
	f.results = make(chan dialResult)
	f.ctx, f.cancel = context.WithCancel(ctx)
}

// retryHost logs in again to a lost host with unplaced ranks.
func (f *failover) retryHost(l *launcher, lost int) error {
	for rank := range f.unplaced {
		if l.assignments[rank].Host == lost && !f.dialing[lost] {
			return f.dialHost(l, lost, redialTimeout)
		}
	}
	return nil
}

// dialHost logs in to a host.
func (f *failover) dialHost(l *launcher, host int, patience time.Duration) error {
	if f.dialer == nil {
		d, err := l.dialer()
		if err != nil {
			return err
		}
		f.dialer = d
	}
	f.dialing[host] = true
	t := l.target(host)
	f.dials.Go(func() {
		ctx, cancel := withAnswerTimeout(f.ctx, patience)
		defer cancel()
		g, err := f.dialer.open(ctx, t)
		select {
		case f.results <- dialResult{t, g, err}:
		case <-l.done:
			if err == nil {
				go g.receive(newReceiver(l, g))
				g.close()
			}
		}
	})
	return nil
}

// dialDone handles the result of a login.
func (f *failover) dialDone(l *launcher, o dialResult) error {
	delete(f.dialing, o.target.host)
	if o.err != nil {
		f.unreachable[o.target.host] = o.err
	} else {
		l.addLogin(o.login)
	}
	return f.placeUnplaced(l)
}

// placeUnplaced starts the unplaced ranks, once no login is under way and there is room.
// Without room it logs in to more hosts. If there are none, the loss ends the job.
func (f *failover) placeUnplaced(l *launcher) error {
	if len(f.unplaced) == 0 || len(f.dialing) > 0 {
		return nil
	}
	list := slices.Sorted(maps.Keys(f.unplaced))
	moved, without := hosts.Reassign(l.assignments, l.config.Hosts, list, func(h int) bool { return l.hosts[h] != nil })
	if without == 0 {
		return f.startMoved(l, moved)
	}
	spares := f.spareHosts(l, list, without)
	if spares == nil {
		f.failUnplaced(l, list)
	}
	for _, h := range spares {
		if err := f.dialHost(l, h, (l.config.StartTimeout+1)/2); err != nil {
			return err
		}
	}
	return nil
}

// spareHosts returns hosts to log in to that have room for n ranks of list; nil if there
// are too few.
func (f *failover) spareHosts(l *launcher, list []int, n int) []int {
	var found []int
	for h, free := range hosts.FreeSlots(l.assignments, l.config.Hosts, list) {
		if n > 0 && free > 0 && l.hosts[h] == nil && f.unreachable[h] == nil {
			found = append(found, h)
			n -= free
		}
	}
	if n > 0 {
		return nil
	}
	return found
}

// startMoved starts the unplaced ranks by their new assignments.
func (f *failover) startMoved(l *launcher, moved []hosts.Assignment) error {
	l.config.tell(f.text(l, moved))
	for _, s := range moved {
		l.assignments[s.Rank] = s
		l.hostOfRank[s.Rank].Store(int32(s.Host))
	}
	for h := range l.hosts {
		at := func(s hosts.Assignment) bool { return s.Host == h }
		if l.config.Bind == process.BindCore && slices.ContainsFunc(moved, at) {
			l.announceBinding(h, slices.DeleteFunc(slices.Clone(l.assignments), func(s hosts.Assignment) bool { return !at(s) }))
		}
	}
	clear(f.unplaced)
	clear(f.unreachable)
	for _, s := range moved { // the launcher does not wait for ranks that cannot be started
		delete(l.ranks, s.Rank)
	}
	for _, s := range moved {
		if err := l.restartCleared(s.Rank); err != nil {
			return err
		}
	}
	return nil
}

// text tells people which ranks move where, and why.
func (f *failover) text(l *launcher, moved []hosts.Assignment) string {
	var line strings.Builder
	from := ""
	for i := 0; i < len(moved); {
		e := f.unplaced[moved[i].Rank]
		lost, there, ranks := fmt.Sprintf("host %s was lost: %s", e.Host, e.Why), f.placeText(l, moved[i]), []int(nil)
		for ; i < len(moved) && f.unplaced[moved[i].Rank].Host == e.Host && f.placeText(l, moved[i]) == there; i++ {
			ranks = append(ranks, moved[i].Rank)
		}
		switch {
		case line.Len() == 0:
			line.WriteString(lost + "; started again: ")
		case lost != from:
			line.WriteString("; " + lost + "; started again: ")
		default:
			line.WriteString(", ")
		}
		line.WriteString(phrase.Ranks(ranks) + " " + there)
		from = lost
	}
	return fmt.Sprintf("%s (%s left)", line.String(), phrase.Count(l.config.Server.RestartsLeft(), "restart"))
}

// placeText names the new host of an unplaced rank.
func (f *failover) placeText(l *launcher, s hosts.Assignment) string {
	if s.Host == l.assignments[s.Rank].Host {
		return "there"
	}
	return "on host " + l.config.Hosts[s.Host].Name
}

// failUnplaced ends the job: no host has a free slot for the ranks of list.
func (f *failover) failUnplaced(l *launcher, list []int) {
	for _, rank := range list {
		e := f.unplaced[rank]
		if err := f.unreachable[l.assignments[rank].Host]; err != nil {
			e.Why += "; again: " + trimHost(e.Host, err.Error())
		}
		e.Why += f.unreachableText(l, e.Host) + "; no other host has a free slot"
		delete(l.ranks, rank)
		delete(l.restartAt, rank)
		l.rankFailed(e)
	}
	clear(f.unplaced)
}

// unreachableText tells why hosts other than the lost one have not answered: the reason of
// the first, and the number of the others.
func (f *failover) unreachableText(l *launcher, lost string) string {
	text, more := "", 0
	for _, h := range slices.Sorted(maps.Keys(f.unreachable)) {
		switch name := l.config.Hosts[h].Name; {
		case name == lost:
		case text == "":
			text = fmt.Sprintf("; host %s: %s", name, trimHost(name, f.unreachable[h].Error()))
		default:
			more++
		}
	}
	if more > 0 {
		text += fmt.Sprintf(" (and %s more)", phrase.Count(more, "host"))
	}
	return text
}

// cancelAll drops the unplaced ranks once the job ends.
func (f *failover) cancelAll(l *launcher) {
	f.cancel()
	for rank := range f.unplaced {
		l.termination.restartsDropped = true
		delete(l.ranks, rank)
		delete(l.restartAt, rank)
	}
	clear(f.unplaced)
}

// A hostLoss is the loss of an open host.
type hostLoss struct {
	login *login
	why   string
}

// hostLost handles the loss of a host.
func (l *launcher) hostLost(x *hostLoss) error {
	host := x.login.target.host
	x.login.leave()
	l.hosts[host] = nil
	l.ranksLost(host, x.why)
	if !l.anyRuns() {
		l.outputs.mux.raiseLimit(true)
	}
	return l.failover.retryHost(l, host)
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
