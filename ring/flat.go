package ring

import (
	"context"
	"errors"
	"sync"

	"ringtrain/ring/codec"
)

// initFlat prepares the group for operations over the links of t.
func (g *Group) initFlat(t Transport) {
	m, d := g.members, &g.doubling
	g.table, g.tail = g.config.Algorithm.Of(m.Spread()), TailBytes
	g.x.ring = lane{to: right, from: left, abroad: m.Right().HostID != m.Self().HostID}
	g.x.ring.open(t.Ring, &g.x)
	d.g, d.plan = g, cube{m.Size()}
	if len(t.Rounds) == 0 {
		return
	}
	if len(t.Rounds) != d.plan.rounds() {
		panic("ring: links of rounds are not as many as rounds")
	}
	for k, link := range t.Rounds {
		l := lane{stream: StreamRounds + uint8(k), to: across, from: across}
		l.open(link, &g.x)
		partner := d.plan.partner(g.places.me, k)
		if (partner >= 0) != (link != nil) {
			panic("ring: links of rounds are not those of this rank")
		}
		if link != nil {
			l.abroad = m.Workers[g.places.worker[partner]].HostID != m.Self().HostID
		}
		d.lanes = append(d.lanes, l)
	}
}

// closeLinks closes the links, which unblocks whoever waits for them, and
// returns their errors. It closes all at once: each may wait for its neighbour. why, unless
// it is nil, is what the neighbours are told.
func (g *Group) closeLinks(why *Abort) error {
	links := []Link{g.x.ring.link}
	for k := range g.doubling.lanes {
		links = append(links, g.doubling.lanes[k].link) // the rest of a lane is the running operation's
	}
	errs := make([]error, len(links))
	var closing sync.WaitGroup
	for i, link := range links {
		if link != nil {
			closing.Go(func() { errs[i] = closeLink(link, why) })
		}
	}
	closing.Wait()
	return errors.Join(errs...)
}

func closeLink(l Link, why *Abort) error {
	if a, ok := l.(AbortLink); ok && why != nil && !why.guess {
		return a.Abort(why)
	}
	return l.Close()
}

// exactBytes is up to where auto has a codec unused: variables up to this size
// are in exact buckets anyway, and what is larger was meant to be compressed.
const exactBytes = 4 << 10

// Algorithm returns how the group sums a buffer of so many bytes over its links
// with a codec, nil for none. It is by ring, whatever the table says, without
// links for doubling, with tails too long for it, and where halving would have a
// codec or a compressor to use. The table of auto makes way for a codec from 4
// KiB on; one that was given has its sizes exact.
func (g *Group) Algorithm(bytes int, c codec.Codec) Algorithm {
	if len(g.doubling.lanes) == 0 || g.members.Size()*g.tail > maxRoundsTails {
		return ByRing
	}
	by := g.table.at(bytes)
	coded := c != nil && c.ID() != 0 || g.config.Lossless != nil
	auto := len(g.config.Algorithm.rules) == 0
	if coded && (by == ByHalving || auto && bytes > exactBytes) {
		return ByRing
	}
	return by
}

// allReduceFlat does an all-reduce over links.
func (g *Group) allReduceFlat(ctx context.Context, r Reduction) error {
	if by := g.Algorithm(4*len(r.Buf), r.Codec); by != ByRing {
		return g.doubling.allReduce(ctx, r, by)
	}
	a := &g.reduce
	a.set(r)
	g.x.start(ctx, r.terms(ByRing), a, a.manner())
	err := g.x.finish(a.run())
	a.r = Reduction{}
	return err
}
