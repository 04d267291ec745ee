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

// A tally is the result of a row's operations on one rank, or on all ranks. The ranks
// exchange its fields in order, 8 bytes each.
type tally struct {
	Median, P99   time.Duration // in place
	OutOfPlace    time.Duration // median out of place
	Sent, Between int64         // bytes sent per operation, and the part that leaves the host
	oracle.Deviation
}

// ofTimes sorts the times and sets the medians and P99. outOfPlace may be empty.
func (t *tally) ofTimes(inPlace, outOfPlace []time.Duration) {
	slices.Sort(inPlace)
	slices.Sort(outOfPlace)
	t.Median, t.P99 = percentile(inPlace, 50), percentile(inPlace, 99)
	if len(outOfPlace) > 0 {
		t.OutOfPlace = percentile(outOfPlace, 50)
	}
}

// overRanks returns the tally of all ranks: the times of the slowest rank, the sums of
// bytes and wrong elements, and the largest error.
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
		all.OutOfPlace = max(all.OutOfPlace, of.OutOfPlace)
		all.Sent, all.Between = all.Sent+of.Sent, all.Between+of.Between
		all.Wrong += of.Wrong
		all.MaxError = max(all.MaxError, of.MaxError)
	}
	return all, nil
}

// percentile returns the k-th percentile of sorted times by the nearest-rank method.
func percentile(sorted []time.Duration, k int) time.Duration {
	return sorted[(k*len(sorted)+99)/100-1]
}
