package join

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/pairwise"
	"ringtrain/ring/order"
)

// The survey repeats a measurement before it accepts an order other than the one by hosts,
// so that a moment of congestion does not decide. These constants bound the repetitions.
const (
	maxPasses     = 5
	passTimeLimit = 5 * time.Second
)

// findOrder returns the order of the ring of m, the same on all ranks. If c.Order has the
// order measured, findOrder is collective. It then returns an order that an earlier start
// or generation has measured, if a rank knows one that fits; the lowest such rank counts.
// Else it measures.
func (t *Team) findOrder(ctx context.Context, m ring.Membership, c Config) (order.Order, error) {
	o, err := c.Order.Of(m.HostRanks())
	if err != nil {
		return o, fmt.Errorf("allreduce.%w", err)
	}
	if !c.Order.Measures(m.Hosts()) {
		return o, nil
	}
	m.Order = o
	g, err := t.openSurvey(ctx, m, c)
	if err != nil {
		return o, err
	}
	defer g.Close()
	kept, found, err := keptOrder(ctx, g, c)
	if err != nil || found {
		return kept, err
	}
	s, err := t.newSurvey(ctx, g, c)
	if err != nil {
		return o, err
	}
	defer s.close()
	return s.order(ctx)
}

// openSurvey forms a flat group of all ranks, for the survey alone.
func (t *Team) openSurvey(ctx context.Context, m ring.Membership, c Config) (*ring.Group, error) {
	ranks, me := m.InRing()
	links, err := t.openBriefly(ctx, m, c, []ring.Route{ring.RingRoute(ranks, me, ring.StreamSurvey)})
	if err != nil {
		return nil, err
	}
	return ring.New(ctx, m, ring.Transport{Ring: links[0]}, ring.DefaultConfig())
}

// openBriefly opens links that last for the survey only, within linkTimeout.
func (t *Team) openBriefly(ctx context.Context, m ring.Membership, c Config, routes []ring.Route) ([]ring.Link, error) {
	limit := min(linkTimeout, cmp.Or(c.StartTimeout, linkTimeout))
	opening, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("gave up after %v", limit))
	defer cancel()
	return t.openLinks(opening, m, c, routes, false)
}

// keptOrder asks all ranks for the order that they know from before.
func keptOrder(ctx context.Context, g *ring.Group, c Config) (order.Order, bool, error) {
	m := g.Membership()
	var mine []byte
	if c.KeptOrder != nil {
		mine = []byte(order.Format(c.KeptOrder(m.Rank)))
	}
	var all ring.Gathered
	if err := g.AllGather(ctx, mine, &all); err != nil {
		return order.Order{}, false, err
	}
	for rank := range m.Size() {
		ranks, err := order.ParseRanks(string(all.At(rank)))
		if err != nil {
			continue // the rank knows no order
		}
		if o, ok := order.Kept(ranks, m.Size()); ok {
			return o, true, nil
		}
	}
	return order.Order{}, false, nil
}

// A bandwidthSurvey measures the bandwidth between all pairs of hosts. The first rank of
// each host measures for its host; the other ranks wait.
type bandwidthSurvey struct {
	group *ring.Group
	began time.Time
	hosts [][]int
	host  int       // this worker's host, -1 if the worker is not its first rank
	pairs []probe   // by host, to its first rank
	rates []float64 // by host, bytes per second, the best of all passes
}

// newSurvey opens a link between each two hosts. A link that cannot be opened ends the
// start, as a link of the ring does.
func (t *Team) newSurvey(ctx context.Context, g *ring.Group, c Config) (*bandwidthSurvey, error) {
	m := g.Membership()
	s := &bandwidthSurvey{group: g, began: time.Now(), hosts: m.HostRanks(), host: -1}
	var routes []ring.Route
	var partners []int
	for h, ranks := range s.hosts {
		if ranks[0] == m.Rank {
			s.host = h
		}
	}
	if s.host < 0 {
		return s, nil
	}
	for h, ranks := range s.hosts {
		if h != s.host {
			routes = append(routes, ring.Route{Stream: ring.StreamPairs, To: ranks[0], From: ranks[0]})
			partners = append(partners, h)
		}
	}
	links, err := t.openBriefly(ctx, m, c, routes)
	if err != nil {
		return nil, err
	}
	s.pairs, s.rates = make([]probe, len(s.hosts)), make([]float64, len(s.hosts))
	for i, h := range partners {
		s.pairs[h] = probe{link: links[i], partner: m.Workers[routes[i].To], generation: m.Generation}
	}
	return s, nil
}

// close closes the links at the same time, for each may wait for its neighbour.
func (s *bandwidthSurvey) close() {
	var closing sync.WaitGroup
	for _, p := range s.pairs {
		if p.link != nil {
			closing.Go(func() { p.link.Close() })
		}
	}
	closing.Wait()
}

// order measures and returns the order.
func (s *bandwidthSurvey) order(ctx context.Context) (order.Order, error) {
	for pass := 1; ; pass++ {
		if err := s.pass(ctx); err != nil {
			return order.Order{}, err
		}
		bandwidth, took, err := s.gather(ctx)
		if err != nil {
			return order.Order{}, err
		}
		o := order.Measured(s.hosts, bandwidth)
		asBefore := slices.Equal(o.Workers, s.group.Membership().Order.Workers)
		if asBefore || pass == maxPasses || took > passTimeLimit {
			return o, nil
		}
	}
}

// pass measures all pairs. Each host is in one pair at a time.
func (s *bandwidthSurvey) pass(ctx context.Context) error {
	for round := range pairwise.Rounds(len(s.hosts)) {
		if s.host >= 0 {
			if h := pairwise.Opponent(len(s.hosts), round, s.host); h >= 0 {
				rate, err := s.pairs[h].measure(ctx, s.host < h)
				if err != nil {
					return err
				}
				s.rates[h] = max(s.rates[h], rate)
			}
		}
		if err := s.group.Barrier(ctx); err != nil {
			return err
		}
	}
	return nil
}

// gather returns what all hosts have measured so far. It also returns the time since the
// start, by rank 0's clock.
func (s *bandwidthSurvey) gather(ctx context.Context) (bandwidth [][]float64, took time.Duration, err error) {
	var mine []byte
	if s.host >= 0 {
		mine = binary.LittleEndian.AppendUint64(mine, uint64(time.Since(s.began)))
		for _, r := range s.rates {
			mine = binary.LittleEndian.AppendUint64(mine, math.Float64bits(r))
		}
	}
	var all ring.Gathered
	if err := s.group.AllGather(ctx, mine, &all); err != nil {
		return nil, 0, err
	}
	for _, ranks := range s.hosts {
		theirs := all.At(ranks[0])
		rates, err := decodeRates(theirs, len(s.hosts))
		if err != nil {
			return nil, 0, exitcode.With(exitcode.Protocol, fmt.Errorf("bandwidth that rank %d has measured: %w", ranks[0], err))
		}
		bandwidth = append(bandwidth, rates)
	}
	return bandwidth, time.Duration(binary.LittleEndian.Uint64(all.At(s.hosts[0][0]))), nil
}

var errRate = errors.New("a rate is not a number, want 0 or more")

// decodeRates parses the rates in a message of gather.
func decodeRates(b []byte, hosts int) ([]float64, error) {
	if len(b) != 8*(1+hosts) {
		return nil, fmt.Errorf("%d bytes, want %d", len(b), 8*(1+hosts))
	}
	rates := make([]float64, hosts)
	for h := range rates {
		r := math.Float64frombits(binary.LittleEndian.Uint64(b[8*(1+h):]))
		if !(r >= 0 && r <= math.MaxFloat64) {
			return nil, errRate
		}
		rates[h] = r
	}
	return rates, nil
}
