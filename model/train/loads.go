package train

import (
	"cmp"
	"slices"
	"time"

	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/bucket"
)

// loads add up what each rank did in the steps of a generation. A rank is busy while it reads, computes, or has
// no core; the rest of a step it waits in the exchange. Each tail has the numbers of its rank's step before.
type loads struct {
	all    []load // by rank
	line   []load // all at the last line of log.every
	before []load // all at the line before
	told   []load // all at the last event of the ranks
	listed []load // of each rank, all at the last event that listed it
}

type load struct {
	busy   time.Duration
	steps  time.Duration // the whole time of the steps that take was given
	sent   int64         // bytes
	memory int64         // resident bytes, the newest
}

// add adds a rank's tail. size is the number of ranks.
func (l *loads) add(rank, size int, t *bucket.Tail) {
	if len(l.all) != size {
		for _, list := range []*[]load{&l.all, &l.line, &l.before, &l.told, &l.listed} {
			*list = make([]load, size)
		}
	}
	to := &l.all[rank]
	to.busy += t.Busy
	to.sent += t.Sent
	to.memory = t.Memory
}

// minWait is the least share of an interval that the others wait for a rank that straggler finds.
const minWait = 0.1

// straggler returns the busiest rank of the interval since all was from, and the share of the interval by which it was
// busier than the other ranks were on average. The rank is -1 if the share is below minWait.
func (l *loads) straggler(from []load, interval time.Duration) (rank int, share float64) {
	var sum, most time.Duration
	for i := range l.all {
		busy := l.all[i].busy - from[i].busy
		sum += busy
		if busy > most {
			rank, most = i, busy
		}
	}
	if len(l.all) > 1 && interval > 0 {
		others := (sum - most) / time.Duration(len(l.all)-1)
		share = min((most-others).Seconds()/interval.Seconds(), 1)
	}
	if share < minWait {
		return -1, 0
	}
	return rank, share
}

// endLine ends the interval of a line.
func (l *loads) endLine() {
	copy(l.before, l.line)
	copy(l.line, l.all)
}

// Numbers of ranks in an event: of more than maxListed ranks, those that the others waited for most.
const (
	maxListed = 64
	listed    = 32
)

// take returns the load of each rank since the last call, whose steps took so long.
func (l *loads) take(workers []ring.Worker, steps time.Duration) report.Ranks {
	var e report.Ranks
	for i := range l.all {
		l.all[i].steps += steps
		e.Ranks = append(e.Ranks, report.RankLoad{Rank: i, Host: workers[i].Host, Load: l.all[i].since(l.told[i])})
	}
	if len(e.Ranks) > maxListed {
		e.Least, e.Median, e.Largest = spread(e.Ranks)
		slices.SortStableFunc(e.Ranks, func(a, b report.RankLoad) int { return cmp.Compare(b.Busy, a.Busy) })
		e.Ranks = slices.Clone(e.Ranks[:listed])
		slices.SortFunc(e.Ranks, func(a, b report.RankLoad) int { return a.Rank - b.Rank })
	}
	for i := range e.Ranks {
		r := &e.Ranks[i]
		if missed := l.told[r.Rank].since(l.listed[r.Rank]); missed.Busy+missed.Waited > 0 {
			r.Missed = &missed
		}
		l.listed[r.Rank] = l.all[r.Rank]
	}
	copy(l.told, l.all)
	return e
}

// since returns what a rank did since an earlier load.
func (l load) since(before load) report.Load {
	busy := l.busy - before.busy
	return report.Load{Busy: micro(busy), Waited: micro(max(l.steps-before.steps-busy, 0)), Sent: l.sent - before.sent, RSS: l.memory}
}

// spread returns the least, the median and the largest of each number.
func spread(ranks []report.RankLoad) (least, median, largest *report.Load) {
	least, median, largest = &report.Load{}, &report.Load{}, &report.Load{}
	column := make([]int64, len(ranks))
	for _, number := range []func(*report.Load) *int64{
		func(l *report.Load) *int64 { return (*int64)(&l.Busy) },
		func(l *report.Load) *int64 { return (*int64)(&l.Waited) },
		func(l *report.Load) *int64 { return &l.Sent },
		func(l *report.Load) *int64 { return &l.RSS },
	} {
		for i := range ranks {
			column[i] = *number(&ranks[i].Load)
		}
		slices.Sort(column)
		*number(least), *number(median), *number(largest) = column[0], column[len(column)/2], column[len(column)-1]
	}
	return least, median, largest
}
