package doctor

import (
	"context"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/pairwise"
	"ringtrain/ring/link/tcplink"
)

// measuresRate tells of each rank whether it measures bandwidth, with the others that do.
func measuresRate(m ring.Membership) []bool {
	hosts := m.HostRanks()
	does := make([]bool, m.Size())
	for rank := range does {
		does[rank] = len(hosts) == 1
	}
	for _, ranks := range hosts {
		does[ranks[0]] = true
	}
	return does
}

// turnOf is how long one bandwidth is measured, if all rounds are to take no
// longer than limit: what a turn takes, twice a round, besides its bursts, may be
// as much again. 0: there are too many workers for that.
func turnOf(size int, limit time.Duration) time.Duration {
	turn := min(limit/time.Duration(4*size), turnTime)
	if turn < leastTurn {
		return 0
	}
	return turn
}

// A tour is one worker's way through the tournament.
type tour struct {
	members ring.Membership
	out, in []*line   // by rank; nil where there is none
	pairs   []Pair    // from this worker, by rank
	end     time.Time // of all measurements
	last    time.Time // for sheets to come to rank 0
	turn    time.Duration
	now     func() time.Time
}

// newTour notes who was not reached.
func newTour(m ring.Membership, r *tcplink.AllConns, now func() time.Time) *tour {
	t := &tour{members: m, now: now, pairs: make([]Pair, m.Size())}
	for rank, w := range m.Workers {
		t.out, t.in = append(t.out, newLine(r.Out[rank], rank)), append(t.in, newLine(r.In[rank], rank))
		t.pairs[rank] = Pair{From: m.Rank, To: rank, Address: w.Addr}
		if rank != m.Rank && r.Out[rank] == nil {
			t.pairs[rank].fail(r.Why[rank])
		}
	}
	return t
}

func (p *Pair) fail(err error) {
	p.Fault, p.Code = reason(err), exitcode.Of(exitcode.With(exitcode.Retry, err))
}

// run meets all partners. What fails is noted in the pair.
func (t *tour) run(ctx context.Context) {
	rates, me := measuresRate(t.members), t.members.Rank
	for round := range pairwise.Rounds(t.members.Size()) {
		other := pairwise.Opponent(t.members.Size(), round, me)
		if other < 0 {
			continue
		}
		turn := t.turn
		if !rates[me] || !rates[other] {
			turn = 0
		}
		for _, mine := range []bool{me < other, me > other} {
			t.meet(ctx, other, mine, turn)
		}
	}
}

// meet measures the way to a partner, or answers while that one measures its own. A
// connection on which something went wrong is closed, so that the other end knows.
func (t *tour) meet(ctx context.Context, other int, mine bool, turn time.Duration) {
	list, p := t.in, &t.pairs[other]
	if mine {
		list = t.out
	}
	l := list[other]
	if l == nil {
		return
	}
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	var err error
	if mine {
		err = p.measure(l, t.end, turn, t.now)
	} else {
		err = answer(l, t.end, t.now)
	}
	if err == nil {
		return
	}
	l.Close()
	list[other] = nil
	if mine {
		p.fail(err)
	}
}
