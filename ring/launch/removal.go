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
const returnTime = 5 * time.Second

// A removal finds another place for ranks whose host is lost and that are to be started
// again. Their own host is logged in to once more, for an agent or a connection may be
// gone while the host is well. If it does not answer they are started in free slots: of
// hosts that are open, or else of those in the list that nobody has logged in to, or that
// were lost before. Logins are the launcher's own, whatever the fan-out.
type removal struct {
	homeless map[int]process.Ending // by rank: how it was lost
	trying   map[int]bool           // hosts that are logged in to now
	refused  map[int]error          // hosts that did not answer since somebody is homeless
	dialer   *dialer
	results  chan opened
	life     context.Context // of the tries
	cancel   context.CancelFunc
	works    sync.WaitGroup
}

func (r *removal) open(ctx context.Context) {
	r.homeless, r.trying, r.refused = map[int]process.Ending{}, map[int]bool{}, map[int]error{}
	r.results = make(chan opened)
	r.life, r.cancel = context.WithCancel(ctx)
}

// seek tries the hosts again of which ranks are homeless.
func (l *launcher) seek(lost []int) error {
	for _, h := range lost {
		for rank := range l.removal.homeless {
			if l.seats[rank].Host == h && !l.removal.trying[h] {
				if err := l.try(h, returnTime); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// try logs in to a host.
func (l *launcher) try(host int, patience time.Duration) error {
	r := &l.removal
	if r.dialer == nil {
		d, err := l.dialer()
		if err != nil {
			return err
		}
		r.dialer = d
	}
	r.trying[host] = true
	b := branch{{Host: host, Name: l.config.Hosts[host].Name, Ranks: min(l.config.Hosts[host].Slots, len(l.seats))}}
	r.works.Go(func() {
		ctx, cancel := withPatience(r.life, patience)
		defer cancel()
		g, err := r.dialer.open(ctx, b)
		select {
		case r.results <- opened{b, g, err}:
		case <-l.over:
			if err == nil {
				go g.listen(l.trunk(g))
				g.close()
			}
		}
	})
	return nil
}

// answered takes the result of a try.
func (l *launcher) answered(o opened) error {
	first := o.branch[0]
	delete(l.removal.trying, first.Host)
	if o.err != nil {
		l.removal.refused[first.Host] = o.err
	} else {
		l.enter(o.login)
	}
	return l.house()
}

// house starts the homeless, when nobody is asked any more and there is room. Else it
// asks more hosts, and if there are none the loss ends the job.
func (l *launcher) house() error {
	r := &l.removal
	if len(r.homeless) == 0 || len(r.trying) > 0 {
		return nil
	}
	list := slices.Sorted(maps.Keys(r.homeless))
	moved, without := hosts.Reassign(l.seats, l.config.Hosts, list, func(h int) bool { return l.hosts[h] != nil })
	if without == 0 {
		return l.move(moved)
	}
	spares := l.spares(list, without)
	if spares == nil {
		l.strand(list)
	}
	for _, h := range spares {
		if err := l.try(h, (l.config.StartTimeout+1)/2); err != nil {
			return err
		}
	}
	return nil
}

// spares are hosts to log in to that have room for n ranks of list; nil if there are
// not enough.
func (l *launcher) spares(list []int, n int) []int {
	var found []int
	for h, free := range hosts.FreeSlots(l.seats, l.config.Hosts, list) {
		if n > 0 && free > 0 && l.hosts[h] == nil && l.removal.refused[h] == nil {
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
func (l *launcher) move(seats []hosts.Assignment) error {
	l.config.tell(l.removalLine(seats))
	for _, s := range seats {
		l.seats[s.Rank] = s
		l.homes[s.Rank].Store(int32(s.Host))
	}
	for h := range l.hosts {
		at := func(s hosts.Assignment) bool { return s.Host == h }
		if l.config.Bind == process.BindCore && slices.ContainsFunc(seats, at) {
			l.tellBinding(h, slices.DeleteFunc(slices.Clone(l.seats), func(s hosts.Assignment) bool { return !at(s) }))
		}
	}
	clear(l.removal.homeless)
	clear(l.removal.refused)
	for _, s := range seats { // those that cannot be started are not waited for
		delete(l.left, s.Rank)
	}
	for _, s := range seats {
		if err := l.restart(s.Rank); err != nil {
			return err
		}
	}
	return nil
}

// removalLine says which ranks go from where to where, and why.
func (l *launcher) removalLine(seats []hosts.Assignment) string {
	var line strings.Builder
	from := ""
	for i := 0; i < len(seats); {
		e := l.removal.homeless[seats[i].Rank]
		lost, there, ranks := fmt.Sprintf("host %s was lost: %s", e.Host, e.Why), l.newPlace(seats[i]), []int(nil)
		for ; i < len(seats) && l.removal.homeless[seats[i].Rank].Host == e.Host && l.newPlace(seats[i]) == there; i++ {
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
func (l *launcher) newPlace(s hosts.Assignment) string {
	if s.Host == l.seats[s.Rank].Host {
		return "there"
	}
	return "on host " + l.config.Hosts[s.Host].Name
}

// strand ends the job by the loss of ranks that have no place.
func (l *launcher) strand(list []int) {
	for _, rank := range list {
		e := l.removal.homeless[rank]
		if err := l.removal.refused[l.seats[rank].Host]; err != nil {
			e.Why += "; again: " + whyNot(e.Host, err.Error())
		}
		e.Why += l.triedInVain(e.Host) + "; no other host has a free slot"
		delete(l.left, rank)
		delete(l.again, rank)
		l.failed(e)
	}
	clear(l.removal.homeless)
}

// triedInVain says why hosts other than a lost one have not answered: of the first, and how
// many more there are.
func (l *launcher) triedInVain(lost string) string {
	text, more := "", 0
	for _, h := range slices.Sorted(maps.Keys(l.removal.refused)) {
		switch name := l.config.Hosts[h].Name; {
		case name == lost:
		case text == "":
			text = fmt.Sprintf("; host %s: %s", name, whyNot(name, l.removal.refused[h].Error()))
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
func (r *removal) giveUp(l *launcher) {
	r.cancel()
	for rank := range r.homeless {
		l.course.dropped = true
		delete(l.left, rank)
		delete(l.again, rank)
	}
	clear(r.homeless)
}
