package order

import (
	"errors"
	"fmt"
	"slices"

	"ringtrain/ring/exitcode"
)

// Rule says how the order of the ring is found. The zero Rule is "host". All ranks must
// have the same Rule: compare String.
type Rule struct {
	word  string // "": host
	ranks []int  // of a list
}

// The rules that have a name.
const (
	ruleAuto     = "auto"     // host, and from leastAutoHosts hosts on measured
	ruleRank     = "rank"     // in order of rank
	ruleHost     = "host"     // through each host once
	ruleMeasured = "measured" // through each host once, by the bandwidth between hosts
)

const (
	// leastHosts is the number of hosts from which on "measured" measures. Three hosts
	// have one ring in two directions, and bandwidth may differ by direction.
	leastHosts = 3

	// leastAutoHosts and mostAutoHosts bound the hosts for which "auto" measures: fewer
	// have one ring, and more take long to measure.
	leastAutoHosts = 4
	mostAutoHosts  = 32
)

// Parse reads a rule: "auto", "rank", "host", "measured", or all ranks in the order of
// the ring, such as "0,2,1,3". An error has exitcode.Usage.
func Parse(text string) (Rule, error) {
	if slices.Contains([]string{ruleAuto, ruleRank, ruleHost, ruleMeasured}, text) {
		return Rule{word: text}, nil
	}
	ranks, err := ParseRanks(text)
	if errors.Is(err, errNoRanks) {
		err = errors.New("want auto, rank, host, measured, or all ranks in order, such as 0,2,1,3")
	}
	if err != nil {
		return Rule{}, exitcode.With(exitcode.Usage, fmt.Errorf("order is %q: %w", text, err))
	}
	return Rule{word: Format(ranks), ranks: ranks}, nil
}

// String returns the text that Parse reads as r.
func (r Rule) String() string {
	if r.word == "" {
		return ruleHost
	}
	return r.word
}

// Measures reports whether the order is found by measurement if the job has this number
// of hosts.
func (r Rule) Measures(hosts int) bool {
	return r.word == ruleMeasured && hosts >= leastHosts ||
		r.word == ruleAuto && hosts >= leastAutoHosts && hosts <= mostAutoHosts
}

// Of returns the order without measurement. hosts lists the ranks of each host. A list of
// other ranks than these is an error with exitcode.Usage.
func (r Rule) Of(hosts [][]int) (Order, error) {
	byHost := slices.Concat(hosts...)
	switch {
	case len(r.ranks) > 0:
		if err := Check(r.ranks, len(byHost)); err != nil {
			return Order{}, exitcode.With(exitcode.Usage, fmt.Errorf("order is %s: %w", r, err))
		}
		return New(r.ranks, ""), nil
	case r.word == ruleRank:
		return Order{}, nil
	}
	o := New(byHost, "")
	switch {
	case r.word == ruleMeasured && !r.Measures(len(hosts)):
		o.Why = fmt.Sprintf("%d hosts have one ring: there is nothing to measure", len(hosts))
	case o.Workers != nil:
		o.Why = "the ranks of a host follow each other, so that the ring leaves each host once"
	}
	return o, nil
}
