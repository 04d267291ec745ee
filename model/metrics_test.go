package model

import (
	"math"
	"testing"
)

// TestAUCIsExact compares AUC with the counts of pairs, and with itself on
// other orders of the examples: ranks hand their pairs over in any.
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
			want := c.TwiceWins / c.TwicePairs // NaN for one class
			if (c.AUC == nil) != math.IsNaN(want) || c.AUC != nil && *c.AUC != want {
				t.Fatalf("fixture: auc %v, counts give %g", c.AUC, want)
			}
			for range 2 {
				got := AUC(c.Scores, c.Labels)
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

// TestAUCEdges: scores of both signs sort as numbers, not as bits; −0 ties with
// 0; what has no AUC is NaN and not a number that looks good.
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
			got := AUC(tt.scores, tt.labels)
			if got != tt.want && !(math.IsNaN(got) && math.IsNaN(tt.want)) {
				t.Errorf("AUC is %v, want %v", got, tt.want)
			}
		})
	}
}

// TestCorrect: ties go to the lowest class, as in argmax; exactly ½ is a 0.
func TestCorrect(t *testing.T) {
	tests := []struct {
		name   string
		scores [][]float32
		y      []float32
		want   int64
	}{
		{"classes", [][]float32{{0.1, 0.9}, {0.8, 0.2}, {0.3, 0.7}}, []float32{1, 0, 0}, 2},
		{"tie", [][]float32{{0.2, 0.4, 0.4}, {0.2, 0.4, 0.4}}, []float32{1, 2}, 1},
		{"binary", [][]float32{{0.5}, {0.5}, {0.51}, {0.49}}, []float32{0, 1, 1, 1}, 2},
	}
	for _, tt := range tests {
		t.Run("case="+tt.name, func(t *testing.T) {
			if got := Correct(matrix(tt.scores), tt.y); got != tt.want {
				t.Errorf("Correct is %d, want %d", got, tt.want)
			}
		})
	}
}

func TestRMSE(t *testing.T) {
	if got := RMSE(18, 2); got != 3 {
		t.Errorf("RMSE of two squared errors with sum 18 is %g, want 3", got)
	}
	if got := RMSE(0, 0); !math.IsNaN(got) {
		t.Errorf("RMSE of nothing is %g, want NaN", got)
	}
}
