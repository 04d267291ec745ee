package doctor

import (
	"context"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/pairwise"
	"ringtrain/ring/link/tcplink"
)

// bandwidthRanks reports for each rank whether it measures bandwidth.
func bandwidthRanks(m ring.Membership) []bool {
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

// burstTime returns the time for one bandwidth measurement. A round has two measurements, each with
// as much time for other messages; all rounds together take at most limit. 0: the world is too
// large to measure bandwidth.
func burstTime(size int, limit time.Duration) time.Duration {
	turn := min(limit/time.Duration(4*size), maxBurstTime)
	if turn < minBurstTime {
		return 0
	}
	return turn
}

// survey is one worker's part of all measurements.
type survey struct {
	members    ring.Membership
	out, in    []*peerConn // by rank; nil: no connection
	pairs      []Pair      // from this worker, by rank
	measureEnd time.Time   // deadline of all measurements
	collectEnd time.Time   // deadline for reports to rank 0
	burstTime  time.Duration
	now        func() time.Time
}

// newSurvey records the ranks that could not be reached.
func newSurvey(m ring.Membership, r *tcplink.AllConns, now func() time.Time) *survey {
	t := &survey{members: m, now: now, pairs: make([]Pair, m.Size())}
	for rank, w := range m.Workers {
		t.out, t.in = append(t.out, newPeerConn(r.Out[rank], rank)), append(t.in, newPeerConn(r.In[rank], rank))
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

// run measures with all partners and records errors in the pair.
func (t *survey) run(ctx context.Context) {
	rates, me := bandwidthRanks(t.members), t.members.Rank
	for round := range pairwise.Rounds(t.members.Size()) {
		other := pairwise.Opponent(t.members.Size(), round, me)
		if other < 0 {
			continue
		}
		turn := t.burstTime
		if !rates[me] || !rates[other] {
			turn = 0
		}
		for _, mine := range []bool{me < other, me > other} {
			t.measureWith(ctx, other, mine, turn)
		}
	}
}

// measureWith measures the pair with a partner, or answers while the partner measures. It closes
// a connection on which an error occurred, so that the other end notices.
func (t *survey) measureWith(ctx context.Context, other int, mine bool, turn time.Duration) {
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
		err = p.measure(l, t.measureEnd, turn, t.now)
	} else {
		err = answer(l, t.measureEnd, t.now)
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
