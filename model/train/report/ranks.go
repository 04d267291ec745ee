package report

import "slices"

// Ranks reports the load of each rank since the last such event.
type Ranks struct {
	Step     int64      `json:"step"`       // completed
	Interval Seconds    `json:"interval_s"` // since the last event
	Ranks    []RankLoad `json:"ranks"`      // in ascending order; of more than 64 ranks the 32 that the others waited for most

	// Of more than 64 ranks, each number by itself.
	Least   *Load `json:"least,omitempty"`
	Median  *Load `json:"median,omitempty"`
	Largest *Load `json:"largest,omitempty"`
}

// RankLoad is the load of a rank.
type RankLoad struct {
	Rank int    `json:"rank"`
	Host string `json:"host"`
	Load
	Missed *Load `json:"missed,omitempty"` // of the intervals before that did not list the rank, since the last one that did
}

// Load has what a rank did in an interval.
type Load struct {
	Busy   Seconds `json:"busy_s"`     // time in which it read, computed, or had no core
	Waited Seconds `json:"waited_s"`   // time in which it waited for the exchange
	Sent   int64   `json:"sent_bytes"` // headers included
	RSS    int64   `json:"rss_bytes"`  // resident memory at its end
}

// Add returns the event of the interval of r and of that of next, which follows it.
func (r Ranks) Add(next Ranks) Ranks {
	sum := next
	sum.Interval += r.Interval
	sum.Ranks = slices.Clone(next.Ranks)
	for i := range sum.Ranks {
		to := &sum.Ranks[i]
		at, ok := slices.BinarySearchFunc(r.Ranks, to.Rank, func(l RankLoad, rank int) int { return l.Rank - rank })
		if ok {
			to.Busy += r.Ranks[at].Busy
			to.Waited += r.Ranks[at].Waited
			to.Sent += r.Ranks[at].Sent
		}
	}
	return sum
}
