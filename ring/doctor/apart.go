package doctor

import (
	"fmt"
	"net"
	"slices"

	"ringtrain/ring/exitcode"
)

// name is what people call a rank: by its host, if no other rank is on a host of
// that name.
func (r *Report) name(rank int) string {
	h := r.Hosts[rank]
	same := func(o Host) bool { return o.Host == h.Host && o.Rank != rank }
	if h.Host == "" || slices.ContainsFunc(r.Hosts, same) {
		ip, _, err := net.SplitHostPort(h.Address)
		if err != nil {
			return fmt.Sprintf("rank %d", rank)
		}
		return fmt.Sprintf("rank %d (%s)", rank, ip)
	}
	return h.Host
}

// host is name, for a sentence about the host.
func (r *Report) host(rank int) string {
	if name := r.name(rank); name == r.Hosts[rank].Host {
		return "host " + name
	}
	return r.name(rank)
}

// places numbers the places that ways lead between, by rank: the hosts, or, where
// there is one only, the ranks themselves.
func (r *Report) places() []int {
	places, seen := make([]int, len(r.Hosts)), map[string]int{}
	for rank, h := range r.Hosts {
		if _, ok := seen[h.HostID]; !ok {
			seen[h.HostID] = len(seen)
		}
		places[rank] = seen[h.HostID]
	}
	if len(seen) == 1 {
		for rank := range places {
			places[rank] = rank
		}
	}
	return places
}

// apart finds who does not reach whom. A host that nobody reaches is named once,
// and not by all who do not; of the ways between two hosts that fail alike, one is.
func (r *Report) apart() []Finding {
	var found []Finding
	places := r.places()
	hidden, lame := map[int]bool{}, map[int]bool{}
	for rank, h := range r.Hosts {
		place := places[rank]
		if h.Fault != "" {
			found = append(found, Finding{exitcode.Retry, fmt.Sprintf("%s: %s", r.host(rank), h.Fault), rank, -1})
		}
		if slices.Index(places, place) != rank {
			continue // not the first of its host
		}
		if p := r.all(places, func(p *Pair) bool { return places[p.To] == place }); p != nil {
			hidden[place] = true
			found = append(found, Finding{p.Code, fmt.Sprintf("%s: nobody reaches it at %s: %s", r.host(rank), p.Address, p.Fault), rank, -1})
		}
		if p := r.all(places, func(p *Pair) bool { return places[p.From] == place }); p != nil {
			lame[place] = true
			found = append(found, Finding{p.Code, fmt.Sprintf("%s: it reaches nobody; %s at %s: %s", r.host(rank), r.name(p.To), p.Address, p.Fault), rank, -1})
		}
	}
	type way struct {
		from, to int // places
		fault    string
	}
	told := map[way]bool{}
	for i := range r.Pairs {
		p := &r.Pairs[i]
		w := way{places[p.From], places[p.To], p.Fault}
		if p.reached() || r.silent(p.From) || hidden[w.to] || lame[w.from] || told[w] {
			continue
		}
		told[w] = true
		found = append(found, Finding{p.Code, fmt.Sprintf("link %s -> %s at %s: %s", r.name(p.From), r.name(p.To), p.Address, p.Fault), p.From, p.To})
	}
	return found
}

// silent tells whether what a rank has found is missing.
func (r *Report) silent(rank int) bool { return r.Hosts[rank].Fault != "" }

// all returns one of the pairs meant, which lead to or from one place, if none of
// them was reached and they join it with more than one other place. What silent
// ranks would have found does not count.
func (r *Report) all(places []int, meant func(*Pair) bool) *Pair {
	var one *Pair
	others := map[int]bool{}
	for i := range r.Pairs {
		p := &r.Pairs[i]
		switch {
		case !meant(p) || r.silent(p.From) || places[p.From] == places[p.To]:
		case p.reached():
			return nil
		default:
			one = p
			others[places[p.From]], others[places[p.To]] = true, true
		}
	}
	if len(others) < 3 {
		return nil
	}
	return one
}
