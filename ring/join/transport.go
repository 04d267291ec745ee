package join

import (
	"cmp"
	"context"
	"fmt"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/tcplink"
)

// A layout is what a worker exchanges data over: the memory of its host, and links.
type layout struct {
	memory       bool         // shared with other workers of this host
	shared       bool         // some of the job's workers share memory, this one or others
	ring         []ring.Route // one, or none if all workers share memory
	rounds       []ring.Route
	acrossRing   []ring.Route // one for a driver, else none
	acrossRounds []ring.Route
}

// layoutOf returns the layout of m's worker. In the flat layout each link joins workers of
// the whole job. On two levels the all-reduces go through memory and over the links of the
// drivers; the ring carries the other operations.
func layoutOf(m ring.Membership, flat bool) layout {
	hosts := m.HostRanks()
	ranks, me := m.InRing()
	l := layout{ring: []ring.Route{ring.RingRoute(ranks, me, ring.StreamRing)}}
	switch {
	case m.Size() == 1:
		return layout{}
	case flat || len(hosts) == m.Size():
		l.rounds = ring.RoundRoutes(ranks, me, ring.StreamRounds)
		return l
	}
	_, local := m.Local()
	l.memory, l.shared = local > 1, true
	if len(hosts) == 1 {
		l.ring = nil
	}
	if sub, driver := m.Across(); driver {
		ranks, me := sub.InRing()
		l.acrossRing = []ring.Route{ring.RingRoute(ranks, me, ring.StreamAcross)}
		l.acrossRounds = ring.RoundRoutes(ranks, me, ring.StreamHops)
	}
	return l
}

// routes returns all routes, in the order in which transport takes their links.
func (l layout) routes() []ring.Route {
	var all []ring.Route
	for _, part := range [][]ring.Route{l.ring, l.rounds, l.acrossRing, l.acrossRounds} {
		all = append(all, part...)
	}
	return all
}

// transport returns the transport of l. links are those of l.routes, in that order.
func (l layout) transport(links []ring.Link) ring.Transport {
	take := func(routes []ring.Route) []ring.Link {
		part := links[:len(routes):len(routes)]
		links = links[len(routes):]
		return part
	}
	var t ring.Transport
	if part := take(l.ring); len(part) > 0 {
		t.Ring = part[0]
	}
	t.Rounds = take(l.rounds)
	if part := take(l.acrossRing); len(part) > 0 {
		t.Across = &ring.Transport{Ring: part[0], Rounds: take(l.acrossRounds)}
	}
	return t
}

// why returns the reason why l needs links.
func (l layout) why(m ring.Membership) string {
	if n := m.Hosts(); n > 1 {
		return fmt.Sprintf("the ranks are on %d hosts", n)
	}
	return "levels is flat"
}

// openTransport opens the memory and the links of m's worker. It gives up when ctx ends, or
// after linkTimeout. If the links fail, the memory stays open in t: the others of the host
// would take its end for the fault.
func (t *Team) openTransport(ctx context.Context, m ring.Membership, c Config) (ring.Transport, error) {
	limit := min(linkTimeout, cmp.Or(c.StartTimeout, linkTimeout))
	opening, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("gave up after %v", limit))
	defer cancel()
	l := layoutOf(m, c.Levels == "flat")
	if c.Link == "shm" && len(l.routes()) > 0 {
		return ring.Transport{}, exitcode.With(exitcode.Usage, fmt.Errorf("link is shm, want auto or tcp: %s", l.why(m)))
	}
	memory, err := t.openMemory(opening, m, c, l)
	if err != nil {
		return ring.Transport{}, err
	}
	links, err := t.openLinks(opening, m, c, l.routes())
	if err != nil {
		t.memory = memory
		return ring.Transport{}, err
	}
	tr := l.transport(links)
	tr.Memory = memory
	t.Link = linkName(l.shared, len(links) > 0)
	return tr, nil
}

// openLinks opens the links of routes.
func (t *Team) openLinks(ctx context.Context, m ring.Membership, c Config, routes []ring.Route) ([]ring.Link, error) {
	if len(routes) == 0 {
		return nil, nil
	}
	return tcplink.Open(ctx, m, t.port.Links(), tcplink.Config{
		Token: c.Token, Clear: c.Security == "auth", Spin: tcplink.DefaultSpin,
	}, routes)
}

// linkName names what the data of a job travels over.
func linkName(memory, links bool) string {
	switch {
	case memory && links:
		return "shm+tcp"
	case memory:
		return "shm"
	case links:
		return "tcp"
	}
	return "none"
}
