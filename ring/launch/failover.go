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
	"ringtrain/ring/launch/internal/phrase"
	"ringtrain/ring/launch/process"
)

// returnTime is how long a lost host has to answer again, before its ranks go to another.
const redialTimeout = 5 * time.Second

// A removal finds another place for ranks whose host is lost and that are to be started
// again. Their own host is logged in to once more, for an agent or a connection may be
// gone while the host is well. If it does not answer they are started in free slots: of
// hosts that are open, or else of those in the list that nobody has logged in to, or that
// were lost before. Logins are the launcher's own, whatever the fan-out.
type failover struct {
	unplaced    map[int]process.Ending // by rank: how it was lost
	dialing     map[int]bool           // hosts that are logged in to now
	unreachable map[int]error          // hosts that did not answer since somebody is homeless
	dialer      *dialer
	results     chan dialResult
	ctx         context.Context // of the tries
	cancel      context.CancelFunc
	dials       sync.WaitGroup
}

func (r *failover) init(ctx context.Context) {
	r.unplaced, r.dialing, r.unreachable = map[int]process.Ending{}, map[int]bool{}, map[int]error{}
	r.results = make(chan dialResult)
	r.ctx, r.cancel = context.WithCancel(ctx)
}

// seek tries the hosts again of which ranks are homeless.
func (l *launcher) retryHosts(lost []int) error {
	for _, h := range lost {
		for rank := range l.failover.unplaced {
			if l.assignments[rank].Host == h && !l.failover.dialing[h] {
				if err := l.dialHost(h, redialTimeout); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// try logs in to a host.
func (l *launcher) dialHost(host int, patience time.Duration) error {
	r := &l.failover
	if r.dialer == nil {
		d, err := l.dialer()
		if err != nil {
			return err
		}
		r.dialer = d
	}
	r.dialing[host] = true
	b := branch{{Host: host, Name: l.config.Hosts[host].Name, Ranks: min(l.config.Hosts[host].Slots, len(l.assignments))}}
	r.dials.Go(func() {
		ctx, cancel := withAnswerTimeout(r.ctx, patience)
		defer cancel()
		g, err := r.dialer.open(ctx, b)
		select {
		case r.results <- dialResult{b, g, err}:
		case <-l.done:
			if err == nil {
				go g.receive(l.receiver(g))
				g.close()
			}
		}
	})
	return nil
}

// answered takes the result of a try.
func (l *launcher) dialDone(o dialResult) error {
	first := o.branch[0]
	delete(l.failover.dialing, first.Host)
	if o.err != nil {
		l.failover.unreachable[first.Host] = o.err
	} else {
		l.addLogin(o.login)
	}
	return l.placeUnplaced()
}

// house starts the homeless, when nobody is asked any more and there is room. Else it
// asks more hosts, and if there are none the loss ends the job.
func (l *launcher) placeUnplaced() error {
	r := &l.failover
	if len(r.unplaced) == 0 || len(r.dialing) > 0 {
		return nil
	}
	list := slices.Sorted(maps.Keys(r.unplaced))
	moved, without := hosts.Reassign(l.assignments, l.config.Hosts, list, func(h int) bool { return l.hosts[h] != nil })
	if without == 0 {
		return l.startMoved(moved)
	}
	spares := l.spareHosts(list, without)
	if spares == nil {
		l.failUnplaced(list)
	}
	for _, h := range spares {
		if err := l.dialHost(h, (l.config.StartTimeout+1)/2); err != nil {
			return err
		}
	}
	return nil
}

// spares are hosts to log in to that have room for n ranks of list; nil if there are
// not enough.
func (l *launcher) spareHosts(list []int, n int) []int {
	var found []int
	for h, free := range hosts.FreeSlots(l.assignments, l.config.Hosts, list) {
		if n > 0 && free > 0 && l.hosts[h] == nil && l.failover.unreachable[h] == nil {
			found = append(found, h)
			n -= free
		}
	}
	if n > 0 {
		return nil
	}
	return found
}

// move starts the homeless on their new seats.
func (l *launcher) startMoved(seats []hosts.Assignment) error {
	l.config.tell(l.failoverText(seats))
	for _, s := range seats {
		l.assignments[s.Rank] = s
		l.hostOfRank[s.Rank].Store(int32(s.Host))
	}
	for h := range l.hosts {
		at := func(s hosts.Assignment) bool { return s.Host == h }
		if l.config.Bind == process.BindCore && slices.ContainsFunc(seats, at) {
			l.announceBinding(h, slices.DeleteFunc(slices.Clone(l.assignments), func(s hosts.Assignment) bool { return !at(s) }))
		}
	}
	clear(l.failover.unplaced)
	clear(l.failover.unreachable)
	for _, s := range seats { // those that cannot be started are not waited for
		delete(l.ranks, s.Rank)
	}
	for _, s := range seats {
		if err := l.restartCleared(s.Rank); err != nil {
			return err
		}
	}
	return nil
}

// removalLine says which ranks go from where to where, and why.
func (l *launcher) failoverText(seats []hosts.Assignment) string {
	var line strings.Builder
	from := ""
	for i := 0; i < len(seats); {
		e := l.failover.unplaced[seats[i].Rank]
		lost, there, ranks := fmt.Sprintf("host %s was lost: %s", e.Host, e.Why), l.placeText(seats[i]), []int(nil)
		for ; i < len(seats) && l.failover.unplaced[seats[i].Rank].Host == e.Host && l.placeText(seats[i]) == there; i++ {
			ranks = append(ranks, seats[i].Rank)
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

// newPlace says where a homeless rank is to go.
func (l *launcher) placeText(s hosts.Assignment) string {
	if s.Host == l.assignments[s.Rank].Host {
		return "there"
	}
	return "on host " + l.config.Hosts[s.Host].Name
}

// strand ends the job by the loss of ranks that have no place.
func (l *launcher) failUnplaced(list []int) {
	for _, rank := range list {
		e := l.failover.unplaced[rank]
		if err := l.failover.unreachable[l.assignments[rank].Host]; err != nil {
			e.Why += "; again: " + trimHost(e.Host, err.Error())
		}
		e.Why += l.unreachableText(e.Host) + "; no other host has a free slot"
		delete(l.ranks, rank)
		delete(l.restartAt, rank)
		l.rankFailed(e)
	}
	clear(l.failover.unplaced)
}

// triedInVain says why hosts other than a lost one have not answered: of the first, and how
// many more there are.
func (l *launcher) unreachableText(lost string) string {
	text, more := "", 0
	for _, h := range slices.Sorted(maps.Keys(l.failover.unreachable)) {
		switch name := l.config.Hosts[h].Name; {
		case name == lost:
		case text == "":
			text = fmt.Sprintf("; host %s: %s", name, trimHost(name, l.failover.unreachable[h].Error()))
		default:
			more++
		}
	}
	if more > 0 {
		text += fmt.Sprintf(" (and %s more)", phrase.Count(more, "host"))
	}
	return text
}

// giveUp forgets the homeless once the job ends: nobody starts them any more.
func (r *failover) cancelAll(l *launcher) {
	r.cancel()
	for rank := range r.unplaced {
		l.termination.restartsDropped = true
		delete(l.ranks, rank)
		delete(l.restartAt, rank)
	}
	clear(r.unplaced)
}
