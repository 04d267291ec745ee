package bench

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/oracle"
)

// A tally is what one rank has seen of the operations of a row, or what all
// have seen together. Its fields travel as they stand, 8 bytes each.
type tally struct {
	Median, P99   time.Duration // in place
	Apart         time.Duration // median out of place
	Sent, Between int64         // bytes that an operation sends, and those that leave the host
	oracle.Deviation
}

// ofTimes sorts the times and fills in the medians. Out of place there may be
// none.
func (t *tally) ofTimes(inPlace, apart []time.Duration) {
	slices.Sort(inPlace)
	slices.Sort(apart)
	t.Median, t.P99 = percentile(inPlace, 50), percentile(inPlace, 99)
	if len(apart) > 0 {
		t.Apart = percentile(apart, 50)
	}
}

// overRanks returns what all ranks have seen: the slowest rank's times, all
// bytes, all wrong elements and the largest error.
func (t tally) overRanks(ctx context.Context, g *ring.Group) (tally, error) {
	mine, err := binary.Append(nil, binary.LittleEndian, t)
	if err != nil {
		return tally{}, err
	}
	var ranks ring.Gathered
	if err := g.AllGather(ctx, mine, &ranks); err != nil {
		return tally{}, err
	}
	var all tally
	for rank := range g.Membership().Size() {
		var of tally
		if _, err := binary.Decode(ranks.At(rank), binary.LittleEndian, &of); err != nil {
			return tally{}, fmt.Errorf("bench: rank %d's tally: %w", rank, err)
		}
		all.Median, all.P99 = max(all.Median, of.Median), max(all.P99, of.P99)
		all.Apart = max(all.Apart, of.Apart)
		all.Sent, all.Between = all.Sent+of.Sent, all.Between+of.Between
		all.Wrong += of.Wrong
		all.MaxError = max(all.MaxError, of.MaxError)
	}
	return all, nil
}

// percentile returns the smallest of the sorted times that k in 100 of them do
// not exceed (the nearest rank).
func percentile(sorted []time.Duration, k int) time.Duration {
	return sorted[(k*len(sorted)+99)/100-1]
}
