package doctor

import (
	"fmt"
	"slices"

	"ringtrain/ring/exitcode"
)

// The factors by which a measurement must be worse than the others to be reported. Networks are
// seldom even.
const (
	slowTimes = 3
	lateTimes = 10
	lateLeast = 1e-3 // seconds; shorter round trips are never reported
)

// quality is a property of pairs; more is better.
type quality struct {
	of    func(*Pair) float64 // 0: not measured
	times float64             // factor by which the others must be better
	text  func(float64) string
	says  [2]string // verb for a slow sender and a slow receiver; "": as for the sender
}

func qualities() []quality {
	return []quality{
		{func(p *Pair) float64 { return p.Bandwidth }, slowTimes, rateText, [2]string{"sends at ", "receives at "}},
		{promptness, lateTimes, func(q float64) string { return secondsText(1 / q) }, [2]string{"round trips take "}}, // equal in both directions
	}
}

// promptness returns the round trips per second, bounded so that short ones are equal. Pairs
// without a bandwidth only repeat others of their hosts.
func promptness(p *Pair) float64 {
	if p.Latency == 0 || p.Bandwidth == 0 {
		return 0
	}
	return 1 / max(p.Latency, lateLeast/lateTimes)
}

// slow finds hosts, and then pairs of other hosts, that are far slower than the rest. It skips a
// single host, whose network is memory and uneven because other work uses the cores.
func (r *Report) slow() []Finding {
	if len(r.Hosts) == r.ranksOf(r.Hosts[0].HostID) {
		return nil
	}
	var found []Finding
	for _, q := range qualities() {
		found = append(found, r.behind(q)...)
	}
	return found
}

// behind compares the best value that each rank has with any other rank, so that a slow rank does
// not make its partners look slow.
func (r *Report) behind(q quality) []Finding {
	var found []Finding
	var blamed [2][]bool
	for end, says := range q.says {
		best := make([]float64, len(r.Hosts))
		for i := range r.Pairs {
			p := &r.Pairs[i]
			rank := []int{p.From, p.To}[end]
			best[rank] = max(best[rank], q.of(p))
		}
		usual := median(best)
		blamed[end] = make([]bool, len(best))
		for rank, b := range best {
			if b > 0 && b*q.times < usual {
				blamed[end][rank] = true
				if says == "" {
					continue
				}
				found = append(found, Finding{exitcode.OK, fmt.Sprintf("%s: %s%s where others have %s", r.host(rank), says, q.text(b), q.text(usual)), rank, -1})
			}
		}
	}
	return append(found, r.slowPairs(q, blamed)...)
}

// slowPairs finds slow pairs neither of whose ends is slow.
func (r *Report) slowPairs(q quality, blamed [2][]bool) []Finding {
	var (
		found []Finding
		all   []float64
	)
	for i := range r.Pairs {
		all = append(all, q.of(&r.Pairs[i]))
	}
	usual := median(all)
	for i := range r.Pairs {
		p := &r.Pairs[i]
		if b := q.of(p); b > 0 && b*q.times < usual && !blamed[0][p.From] && !blamed[1][p.To] {
			found = append(found, Finding{exitcode.OK, fmt.Sprintf("link %s -> %s: %s where others have %s", r.name(p.From), r.name(p.To), q.text(b), q.text(usual)), p.From, p.To})
		}
	}
	return found
}

// median returns the upper median of the positive values.
func median(list []float64) float64 {
	var known []float64
	for _, x := range list {
		if x > 0 {
			known = append(known, x)
		}
	}
	if len(known) == 0 {
		return 0
	}
	slices.Sort(known)
	return known[len(known)/2]
}
