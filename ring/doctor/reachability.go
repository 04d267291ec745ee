package doctor

import (
	"fmt"
	"net"
	"slices"

	"ringtrain/ring/exitcode"
)

// name returns the name of a rank in messages: its host's, unless another rank is on a host of
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

// host returns name as the subject of a sentence about the host.
func (r *Report) host(rank int) string {
	if name := r.name(rank); name == r.Hosts[rank].Host {
		return "host " + name
	}
	return r.name(rank)
}

// endpoints numbers the ends of connections, by rank: the hosts, or the ranks themselves if there
// is only one host.
func (r *Report) endpoints() []int {
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

// reachability finds the hosts that cannot reach each other. A host that no other reaches is one
// finding, and so are the failures of the same kind between two hosts.
func (r *Report) reachability() []Finding {
	var found []Finding
	places := r.endpoints()
	unreachable, isolated := map[int]bool{}, map[int]bool{}
	for rank, h := range r.Hosts {
		endpoint := places[rank]
		if h.Fault != "" {
			found = append(found, Finding{exitcode.Retry, fmt.Sprintf("%s: %s", r.host(rank), h.Fault), rank, -1})
		}
		if slices.Index(places, endpoint) != rank {
			continue // another rank of its host comes first
		}
		if p := r.all(places, func(p *Pair) bool { return places[p.To] == endpoint }); p != nil {
			unreachable[endpoint] = true
			found = append(found, Finding{p.Code, fmt.Sprintf("%s: no other host can reach it at %s: %s", r.host(rank), p.Address, p.Fault), rank, -1})
		}
		if p := r.all(places, func(p *Pair) bool { return places[p.From] == endpoint }); p != nil {
			isolated[endpoint] = true
			found = append(found, Finding{p.Code, fmt.Sprintf("%s: it can reach no other host; %s at %s: %s", r.host(rank), r.name(p.To), p.Address, p.Fault), rank, -1})
		}
	}
	type path struct {
		from, to int // places
		fault    string
	}
	reported := map[path]bool{}
	for i := range r.Pairs {
		p := &r.Pairs[i]
		w := path{places[p.From], places[p.To], p.Fault}
		if p.reached() || r.silent(p.From) || unreachable[w.to] || isolated[w.from] || reported[w] {
			continue
		}
		reported[w] = true
		found = append(found, Finding{p.Code, fmt.Sprintf("link %s -> %s at %s: %s", r.name(p.From), r.name(p.To), p.Address, p.Fault), p.From, p.To})
	}
	return found
}

// silent reports whether a rank's report is missing.
func (r *Report) silent(rank int) bool { return r.Hosts[rank].Fault != "" }

// all returns one of the pairs that match, which lead to or from one endpoint, if all of them
// failed and they join it with more than one other endpoint. Pairs of ranks without a report do
// not count.
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
