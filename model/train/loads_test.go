package train

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"ringtrain/input"
	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/bucket"
)

// TestStraggler verifies that a rank is found from a tenth of the interval on, and that each
// interval is found for itself.
func TestStraggler(t *testing.T) {
	var l loads
	if rank, share := l.straggler(nil, time.Second); rank != -1 || share != 0 {
		t.Errorf("before the first step: rank %d, share %g, want -1 and 0", rank, share)
	}
	for name, tt := range map[string]struct {
		busy  []time.Duration // in hundredths of the interval
		rank  int
		share float64
	}{
		"one rank":        {[]time.Duration{90}, -1, 0},
		"equal ranks":     {[]time.Duration{50, 52, 51, 50}, -1, 0},
		"below a tenth":   {[]time.Duration{50, 59}, -1, 0},
		"a slow rank":     {[]time.Duration{30, 30, 90, 30}, 2, 0.6},
		"the first":       {[]time.Duration{70, 30}, 0, 0.4},
		"no time is told": {[]time.Duration{0, 0, 0}, -1, 0},
	} {
		for range 2 {
			for rank, hundredths := range tt.busy {
				for range 2 {
					l.add(rank, len(tt.busy), &bucket.Tail{Busy: hundredths * 5 * time.Millisecond})
				}
			}
			rank, share := l.straggler(l.line, time.Second)
			l.endLine()
			if rank != tt.rank || share < tt.share-1e-9 || share > tt.share+1e-9 {
				t.Errorf("%s: rank %d, share %g, want %d and %g", name, rank, share, tt.rank, tt.share)
			}
		}
	}
}

// TestLoads verifies the loads of the ranks since the event before, and that of more than 64 ranks those that the others
// waited for most are told, with the least, the median and the largest of each number.
func TestLoads(t *testing.T) {
	var l loads
	for _, ranks := range []int{2, maxListed + 1} {
		workers := make([]ring.Worker, ranks)
		for round := range 2 {
			for i := range workers {
				workers[i].Host = fmt.Sprint("host-", i)
				l.add(i, ranks, &bucket.Tail{Busy: time.Duration(i+1) * time.Second, Sent: int64(round+1) * 64, Memory: int64(ranks - i)})
			}
			e := l.take(workers, time.Minute)
			want := []int{0, 1}
			if ranks > maxListed {
				want = nil
				for i := ranks - listed; i < ranks; i++ {
					want = append(want, i)
				}
			}
			var got []int
			for _, r := range e.Ranks {
				got = append(got, r.Rank)
				busy := time.Duration(r.Rank+1) * time.Second
				if load := (report.Load{Busy: report.Seconds(busy), Waited: report.Seconds(max(time.Minute-busy, 0)), Sent: int64(round+1) * 64, RSS: int64(ranks - r.Rank)}); r.Load != load || r.Host != workers[r.Rank].Host {
					t.Errorf("%d ranks: %+v, want %+v", ranks, r, load)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d ranks: told of %v, want %v", ranks, got, want)
			}
			if ranks > maxListed && (e.Least.Busy != report.Seconds(time.Second) || e.Median.RSS != 33 || e.Largest.RSS != 65 || e.Largest.Busy != report.Seconds(65*time.Second)) {
				t.Errorf("least %+v, median %+v, largest %+v", e.Least, e.Median, e.Largest)
			}
			if ranks <= maxListed && e.Median != nil {
				t.Errorf("%d ranks have a median", ranks)
			}
		}
	}
}

// TestMissedLoads verifies that the loads of a rank add up to all that it did once it is listed again.
func TestMissedLoads(t *testing.T) {
	var l loads
	var sum report.Load
	workers := make([]ring.Worker, maxListed+1)
	for round := range 4 {
		for i := range workers {
			busy := time.Duration(i+1) * time.Second
			if i == 0 && round%3 == 0 { // listed in the first event and in the last
				busy = time.Minute
			}
			l.add(i, len(workers), &bucket.Tail{Busy: busy, Sent: 64})
		}
		first := l.take(workers, time.Minute).Ranks[0]
		if listed := first.Rank == 0; listed != (round%3 == 0) {
			t.Fatalf("in event %d rank 0 is listed: %v", round, listed)
		}
		if missed := first.Missed; first.Rank == 0 {
			sum.Busy, sum.Waited, sum.Sent = sum.Busy+first.Busy, sum.Waited+first.Waited, sum.Sent+first.Sent
			if missed != nil {
				sum.Busy, sum.Waited, sum.Sent = sum.Busy+missed.Busy, sum.Waited+missed.Waited, sum.Sent+missed.Sent
			}
		}
	}
	if want := (report.Load{Busy: report.Seconds(122 * time.Second), Waited: report.Seconds(118 * time.Second), Sent: 4 * 64}); sum != want {
		t.Errorf("the loads of rank 0 are %+v, want %+v", sum, want)
	}
}

// slowData is a data set whose records take long to read.
type slowData struct{ input.Dataset }

func (d slowData) Append(b *input.Batch, records ...int) error {
	return oneByOne(b, records, d.append)
}

// append waits, and adds record i.
func (d slowData) append(b *input.Batch, i int) error {
	time.Sleep(2 * time.Millisecond)
	return d.Dataset.Append(b, i)
}

// TestSlowRankIsTold verifies that a step event names the rank that reads slowly, and that none is
// named where a rank trains alone.
func TestSlowRankIsTold(t *testing.T) {
	for _, world := range []int{1, 3} {
		slow := world - 1
		members := mustTrain(t, world, loadText(t, linearText, "train.steps=20", "log.every=10", "input.prefetch=0"), linearData(), func(m *member) {
			if m.rank == slow {
				m.data.Train = slowData{m.data.Train}
			}
		})
		checkStream(t, members[0], slow)
		steps := eventsOf[report.Step](members[0])
		last := steps[len(steps)-1].Straggler
		switch {
		case world == 1 && last != nil:
			t.Errorf("one rank: %+v, want none", last)
		case world > 1 && (last == nil || last.Rank != slow || last.Share < minWait || last.Share > 1):
			t.Errorf("%d ranks: %+v, want rank %d", world, last, slow)
		}
	}
}

// checkStream verifies the stream of 20 steps of 10 examples: its steps add up to all of them, those that are due are
// the ones of log.every, and the loads of the ranks add up to a slow rank that is the busiest.
func checkStream(t *testing.T, m *member, slow int) {
	t.Helper()
	var steps report.Step
	var ranks report.Ranks
	var due []int64
	for _, e := range m.stream {
		switch e := e.(type) {
		case report.Step:
			if e.Step <= steps.Step {
				t.Errorf("step %d follows step %d", e.Step, steps.Step)
			}
			if e.Due != nil {
				due = append(due, e.Step)
			}
			steps = steps.Add(e)
		case report.Ranks:
			ranks = ranks.Add(e)
		}
	}
	if steps.Examples != 200 || steps.Step != 20 || steps.Left != 0 || !slices.Equal(due, []int64{10, 20}) {
		t.Errorf("the steps of the stream add up to %+v, due at %v", steps, due)
	}
	if ranks.Step != 20 || len(ranks.Ranks) != slow+1 {
		t.Fatalf("the ranks of the stream add up to %+v", ranks)
	}
	for _, r := range ranks.Ranks {
		if r.Rank != slow && (r.Busy >= ranks.Ranks[slow].Busy || r.Waited <= ranks.Ranks[slow].Waited || r.Sent == 0) {
			t.Errorf("rank %d has %+v beside slow rank %d, %+v", r.Rank, r.Load, slow, ranks.Ranks[slow].Load)
		}
		if runtime.GOOS == "linux" && r.RSS <= 0 {
			t.Errorf("rank %d has no memory", r.Rank)
		}
	}
}
