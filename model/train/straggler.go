package train

import "time"

// straggler finds the rank that the others wait for. A rank is busy while it reads and computes;
// the rest of a step it waits in the exchange. Each tail has the busy time of its rank's step before.
type straggler struct {
	busy []time.Duration // by rank, since the last call of find
}

// leastWait is the least share of an interval that the others wait for a rank that find reports.
const leastWait = 0.1

// add adds the busy time of one step of a rank. size is the number of ranks.
func (s *straggler) add(rank, size int, took time.Duration) {
	if len(s.busy) != size {
		s.busy = make([]time.Duration, size)
	}
	s.busy[rank] += took
}

// find returns the busiest rank, and the share of the interval by which it was busier than the other
// ranks were on average. The rank is -1 if the share is below leastWait. find starts the next interval.
func (s *straggler) find(interval time.Duration) (rank int, share float64) {
	var sum time.Duration
	for i, took := range s.busy {
		sum += took
		if took > s.busy[rank] {
			rank = i
		}
	}
	if len(s.busy) > 1 && interval > 0 {
		others := (sum - s.busy[rank]) / time.Duration(len(s.busy)-1)
		share = min((s.busy[rank]-others).Seconds()/interval.Seconds(), 1)
	}
	clear(s.busy)
	if share < leastWait {
		return -1, 0
	}
	return rank, share
}
