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
	ruleAuto = "auto" // host
	ruleRank = "rank" // in order of rank
	ruleHost = "host" // through each host once
)

// Parse reads a rule: "auto", "rank", "host", or all ranks in the order of the ring, such as "0,2,1,3". An error has exitcode.Usage.
func Parse(text string) (Rule, error) {
	if slices.Contains([]string{ruleAuto, ruleRank, ruleHost}, text) {
		return Rule{word: text}, nil
	}
	ranks, err := ParseRanks(text)
	if errors.Is(err, errNoRanks) {
		err = errors.New("want auto, rank, host, or all ranks in order, such as 0,2,1,3")
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

// Of returns the order. hosts lists the ranks of each host. A list of other ranks than these is an
// error with exitcode.Usage.
func (r Rule) Of(hosts [][]int) (Order, error) {
	byHost := slices.Concat(hosts...)
	switch {
	case len(r.ranks) > 0:
		if err := Check(r.ranks, len(byHost)); err != nil {
			return Order{}, exitcode.With(exitcode.Usage, fmt.Errorf("order is %s: %w", r, err))
		}
		return New(r.ranks), nil
	case r.word == ruleRank:
		return Order{}, nil
	}
	return New(byHost), nil
}
