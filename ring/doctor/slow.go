package doctor

import (
	"fmt"
	"slices"

	"ringtrain/ring/exitcode"
)

// How much worse than the others is worth a word. Networks are seldom even.
const (
	slowTimes = 3
	lateTimes = 10
	lateLeast = 1e-3 // seconds; below, a round trip is no trouble
)

// A quality is what pairs have more or less of; more is better.
type quality struct {
	of    func(*Pair) float64 // 0: not measured
	times float64             // that others have more, to be worth a word
	text  func(float64) string
	says  [2]string // of an end that is slow: as the sender, as the receiver; "": as for the other
}

func qualities() []quality {
	return []quality{
		{func(p *Pair) float64 { return p.Bandwidth }, slowTimes, rateText, [2]string{"sends at ", "receives at "}},
		{promptness, lateTimes, func(q float64) string { return secondsText(1 / q) }, [2]string{"round trips take "}}, // the same both ways
	}
}

// promptness is round trips a second, those that are short enough being equal. The
// pairs that have no bandwidth only repeat others of their hosts.
func promptness(p *Pair) float64 {
	if p.Latency == 0 || p.Bandwidth == 0 {
		return 0
	}
	return 1 / max(p.Latency, lateLeast/lateTimes)
}

// slow finds hosts, and then pairs of others, that are far behind the rest. Within
// one host the network is memory, and uneven because others use the cores.
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

// behind compares the best that each rank has with any other. So a slow rank does
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

// slowPairs finds pairs that are slow though neither end is.
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

// median returns the upper median of what was measured.
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
