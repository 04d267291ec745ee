package port

import (
	"errors"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"ringtrain/ring/token"
)

// maxKnown bounds the addresses of strangers that are remembered: those that came last.
const maxKnown = 1024

// Strangers is what a port remembers of connections that proved nothing. Nothing of it is proved but
// the addresses.
type Strangers struct {
	Closed uint64     // connections; those that closed without a byte are not counted
	Most   netip.Addr // that most of them came from
	Known  []Stranger // the last who came first
}

// Stranger is one address that proved nothing.
type Stranger struct {
	From  netip.Addr
	Times uint64
	Other token.ID // the other token, of the last time; zero: another reason
	Last  time.Time
}

// register counts the strangers of a port.
type register struct {
	mu     sync.Mutex
	closed uint64
	known  map[netip.Addr]*Stranger
}

// add counts a connection from an address that proved nothing.
func (r *register) add(from netip.Addr, why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed++
	if !from.IsValid() {
		from = netip.AddrFrom4([4]byte{127, 0, 0, 1}) // a Unix socket: this host
	}
	s := r.known[from]
	if s == nil {
		if len(r.known) == maxKnown {
			delete(r.known, r.oldest())
		}
		s = &Stranger{From: from}
		r.known[from] = s
	}
	s.Times++
	s.Other, s.Last = token.ID{}, time.Now()
	if w, ok := errors.AsType[*token.WrongTokenError](why); ok {
		s.Other = w.There
	}
}

// oldest returns the address that has not come for the longest time.
func (r *register) oldest() (from netip.Addr) {
	var last time.Time
	for a, s := range r.known {
		if last.IsZero() || s.Last.Before(last) {
			from, last = a, s.Last
		}
	}
	return from
}

// Strangers returns who proved nothing since the port is open.
func (p *Port) Strangers() Strangers {
	r := &p.strangers
	r.mu.Lock()
	defer r.mu.Unlock()
	all := Strangers{Closed: r.closed}
	var most uint64
	for _, from := range slices.SortedFunc(maps.Keys(r.known), netip.Addr.Compare) {
		s := *r.known[from]
		all.Known = append(all.Known, s)
		if s.Times > most {
			most, all.Most = s.Times, from
		}
	}
	slices.SortStableFunc(all.Known, func(a, b Stranger) int { return b.Last.Compare(a.Last) })
	return all
}
