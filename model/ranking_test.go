package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// areaOf takes the ties of a Ranking two at a time, as ranks do.
func areaOf(scores, labels []float32) float64 {
	var r Ranking
	r.Add(scores, labels)
	if r.Undefined() {
		return math.NaN()
	}
	r.Sort()
	var a Area
	for ties := r.AppendTies(nil, 2); len(ties) > 0; ties = r.AppendTies(ties[:0], 2) {
		for _, t := range ties {
			a.Add(uint64(t.Positives), uint64(t.Negatives))
			r.Drop(t.Key)
		}
	}
	return a.Value()
}

// TestRankingTies verifies that ties have ascending keys, repeat until Drop, and that
// Reset empties a Ranking.
func TestRankingTies(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var all Ranking
	for range 2 {
		all.Reset()
		want := map[uint32]Tie{}
		for range 500 {
			score, label := float32(r.IntN(60)-30)/8, float32(r.IntN(2))
			all.Add([]float32{score}, []float32{label})
			tie := want[RankKey(score)]
			tie.Key = RankKey(score)
			tie.Positives += uint32(label)
			tie.Negatives += 1 - uint32(label)
			want[tie.Key] = tie
		}
		all.Sort()
		if first, again := all.AppendTies(nil, 7), all.AppendTies(nil, 7); !slices.Equal(first, again) || len(first) != 7 {
			t.Fatalf("the first ties are %v, and then %v", first, again)
		}
		all.Drop(all.AppendTies(nil, 3)[2].Key)
		for k, got := range all.AppendTies(nil, 1000) {
			if got != want[got.Key] || k > 0 && got.Key == 0 {
				t.Errorf("tie %d is %v, want %v", k, got, want[got.Key])
			}
			delete(want, got.Key)
		}
		if len(want) != 3 {
			t.Errorf("%d scores were not told, want the 3 that were dropped", len(want))
		}
	}
}

// TestAUCIsExact verifies the area against a count of pairs, and that it does not depend
// on the order of the examples.
func TestAUCIsExact(t *testing.T) {
	var cases []struct {
		Name           string
		Scores, Labels []float32
		TwiceWins      float64 `json:"twice_wins"`
		TwicePairs     float64 `json:"twice_pairs"`
		AUC            *float64
	}
	golden(t, "auc.json", &cases)
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		t.Run("name="+c.Name, func(t *testing.T) {
			want := c.TwiceWins / c.TwicePairs // NaN if there is one class
			if (c.AUC == nil) != math.IsNaN(want) || c.AUC != nil && *c.AUC != want {
				t.Fatalf("fixture: auc %v, counts give %g", c.AUC, want)
			}
			for range 2 {
				got := areaOf(c.Scores, c.Labels)
				if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
					t.Errorf("AUC is %v, want %v", got, want)
				}
				reverse(c.Scores)
				reverse(c.Labels)
			}
		})
	}
}

func reverse(x []float32) {
	for i, j := 0, len(x)-1; i < j; i, j = i+1, j-1 {
		x[i], x[j] = x[j], x[i]
	}
}

// TestAUCEdges verifies that scores of both signs sort as numbers, that −0 and 0 tie,
// and that the area is NaN if it is undefined.
func TestAUCEdges(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	negZero := float32(math.Copysign(0, -1))
	tests := []struct {
		name           string
		scores, labels []float32
		want           float64
	}{
		{"empty", nil, nil, math.NaN()},
		{"one class", []float32{1, 2}, []float32{1, 1}, math.NaN()},
		{"NaN score", []float32{1, nan}, []float32{0, 1}, math.NaN()},
		{"negative scores", []float32{-3, -2, -1, 1}, []float32{0, 0, 1, 1}, 1},
		{"infinities", []float32{-inf, inf}, []float32{0, 1}, 1},
		{"two zeros tie", []float32{negZero, 0}, []float32{0, 1}, 0.5},
		{"labels flipped", []float32{1, 2, 3, 4}, []float32{1, 1, 0, 0}, 0},
	}
	for _, tt := range tests {
		t.Run("case="+tt.name, func(t *testing.T) {
			got := areaOf(tt.scores, tt.labels)
			if got != tt.want && !(math.IsNaN(got) && math.IsNaN(tt.want)) {
				t.Errorf("AUC is %v, want %v", got, tt.want)
			}
		})
	}
}
