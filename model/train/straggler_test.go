package train

import (
	"testing"
	"time"

	"ringtrain/input"
	"ringtrain/model/train/report"
)

// TestStraggler verifies that a rank is found from a tenth of the interval on, and that each
// interval is found for itself.
func TestStraggler(t *testing.T) {
	var s straggler
	if rank, share := s.find(time.Second); rank != -1 || share != 0 {
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
				s.add(rank, len(tt.busy), hundredths*5*time.Millisecond)
				s.add(rank, len(tt.busy), hundredths*5*time.Millisecond)
			}
			rank, share := s.find(time.Second)
			if rank != tt.rank || share < tt.share-1e-9 || share > tt.share+1e-9 {
				t.Errorf("%s: rank %d, share %g, want %d and %g", name, rank, share, tt.rank, tt.share)
			}
		}
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
		steps := eventsOf[report.Step](members[0])
		last := steps[len(steps)-1].Straggler
		switch {
		case world == 1 && last != nil:
			t.Errorf("one rank: %+v, want none", last)
		case world > 1 && (last == nil || last.Rank != slow || last.Share < leastWait || last.Share > 1):
			t.Errorf("%d ranks: %+v, want rank %d", world, last, slow)
		}
	}
}
