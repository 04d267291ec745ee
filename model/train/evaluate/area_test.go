package evaluate

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"ringtrain/model"
	"ringtrain/ring"
	"ringtrain/ring/ringtest"
)

// TestAreaUnderCurve verifies the area over the examples of all ranks, which have many ties,
// none at all or no examples, against the count of pairs, on every rank.
func TestAreaUnderCurve(t *testing.T) {
	for _, p := range []int{1, 2, 5} {
		r := rand.New(rand.NewPCG(uint64(p), 7))
		rankings := make([]model.Ranking, p)
		var yes, no []float32
		for rank := range p {
			for range rank * 300 / p {
				score, label := float32(r.IntN(200))/64-1, float32(r.IntN(2))
				if r.IntN(3) == 0 {
					score = float32(r.NormFloat64())
				}
				rankings[rank].Add([]float32{score}, []float32{label})
				if label > 0 {
					yes = append(yes, score)
				} else {
					no = append(no, score)
				}
			}
		}
		want := auc(yes, no) // NaN for p = 1, which has no examples
		ringtest.Run(t, p, ring.DefaultConfig(), func(g *ring.Group) error {
			rank := g.Membership().Rank
			got, err := AreaUnderCurve(t.Context(), g, &rankings[rank])
			if err == nil && got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("world=%d: rank %d has %v, want %v", p, rank, got, want)
			}
			return err
		})
	}
}

// TestMergerRounds has ranks send one, two or seven scores a round. It verifies that the area is
// that of all examples for any overlap of the ranks' scores, and that the rounds end.
func TestMergerRounds(t *testing.T) {
	for _, most := range []int{1, 2, 7} {
		for _, apart := range []float32{0, 3, 100} { // how far the ranks' scores lie apart
			r := rand.New(rand.NewPCG(uint64(most), uint64(apart)))
			rankings := make([]model.Ranking, 3)
			var yes, no []float32
			for rank := range rankings {
				for range 40 {
					score := float32(r.IntN(12)) + apart*float32(rank)
					yes = append(yes, score)
					rankings[rank].Add([]float32{score, score / 2}, []float32{1, 0})
					no = append(no, score/2)
				}
				rankings[rank].Sort()
			}
			m := merger{most: most, tie: tieBytes, ranks: make([][]byte, len(rankings)), area: new(plainArea)}
			for rounds := 0; ; rounds++ {
				if rounds > 1000 {
					t.Fatal("the rounds do not end")
				}
				for rank := range rankings {
					m.ranks[rank] = (&plain{ranking: &rankings[rank]}).appendTies(nil, most)
				}
				counted, more, err := m.round()
				if err != nil {
					t.Fatal(err)
				}
				if !more {
					break
				}
				for rank := range rankings {
					rankings[rank].Drop(counted)
				}
			}
			if got, want := m.area.value(), auc(yes, no); math.Abs(got-want) > 1e-12 {
				t.Errorf("most=%d apart=%g: area %v, want %v", most, apart, got, want)
			}
		}
	}
}

// TestMergerRefuses verifies that the error names the rank if its scores do not ascend, were
// counted already, or are too many.
func TestMergerRefuses(t *testing.T) {
	scores := func(keys ...uint32) (b []byte) {
		for _, k := range keys {
			b = binary.LittleEndian.AppendUint32(b, k)
			b = append(b, 1, 0, 0, 0, 0, 0, 0, 0)
		}
		return b
	}
	for name, tt := range map[string]struct {
		sent []byte
		want string
	}{
		"twice":    {scores(5, 5), "want ascending"},
		"counted":  {scores(3), "want ascending"},
		"too many": {scores(5, 6, 7), "want 12 for each of at most 2"},
		"cut":      {scores(5)[:11], "want 12 for each"},
	} {
		m := merger{most: 2, tie: tieBytes, ranks: [][]byte{scores(9), tt.sent}, next: 4, area: new(plainArea)}
		if _, _, err := m.round(); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "rank 1 sent ") {
			t.Errorf("case=%s: error %v, want rank 1 and %q", name, err, tt.want)
		}
	}
}

// TestBlockSums verifies that runs of blocks that are cut anywhere fold to the same bits, and that
// the sums of another run are refused.
func TestBlockSums(t *testing.T) {
	const blocks = 77
	r := rand.New(rand.NewPCG(8, 9))
	tallies := make([]tally, blocks)
	for i := range tallies {
		tallies[i] = tally{sums: sums{loss: r.NormFloat64(), logLoss: r.Float64(), right: float64(i), top: 1}, weight: 3, correct: int64(i), weighted: 1, undefined: 2, classes: []float64{r.Float64(), 1}}
		tallies[i].calibration[3] = model.CalibrationBucket{Scores: r.Float64(), Weight: 5, Positives: 2, Examples: 4}
	}
	run := func(first, last int) []byte {
		var s blockSums
		s.reset(first, 2)
		for i := first; i < last; i++ {
			s.add(0, &tallies[i])
		}
		if len(s.nodes) > 12 {
			t.Errorf("blocks %d to %d keep %d sums, want at most 2·log₂", first, last, len(s.nodes))
		}
		return s.encode(nil)
	}
	whole := blockSums{classes: 2}
	if _, err := whole.decode(run(0, blocks), blocks); err != nil {
		t.Fatal(err)
	}
	want := whole.total()
	if want.right != blocks*(blocks-1)/2 || want.correct != blocks*(blocks-1)/2 || want.weight != 3*blocks || want.weighted != blocks || want.top != blocks || want.undefined != 2*blocks || want.calibration.Positives() != 2*blocks || want.classes[1] != blocks {
		t.Fatalf("the whole is %v", want)
	}
	for cut := range blocks {
		s := blockSums{classes: 2}
		for _, part := range [][2]int{{0, cut}, {cut, cut}, {cut, blocks}} {
			rest, err := s.decode(append(run(part[0], part[1]), 42), part[1])
			if err != nil || len(rest) != 1 {
				t.Fatalf("cut=%d: %d bytes are left, error %v", cut, len(rest), err)
			}
		}
		if got := s.total(); !reflect.DeepEqual(got, want) {
			t.Errorf("cut=%d: %v, want %v", cut, got, want)
		}
	}
	for name, b := range map[string][]byte{
		"of other blocks": run(1, 9), "too few": run(0, 7), "too many": run(0, 9), "cut": run(0, 8)[:30],
		"huge": appendInt(nil, 1<<60), "negative": appendInt(nil, -1), "none": nil,
	} {
		s := blockSums{classes: 2}
		if _, err := s.decode(b, 8); err == nil {
			t.Errorf("case=%s: no error", name)
		}
	}
}
