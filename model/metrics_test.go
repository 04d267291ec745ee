package model

import (
	"math"
	"testing"
)

// TestCorrect verifies that ties go to the lowest class, as in argmax, and that exactly
// ½ is class 0.
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
			if got := Correct(matrix(tt.scores), tt.y, 0.5); got != tt.want {
				t.Errorf("Correct is %d, want %d", got, tt.want)
			}
		})
	}
}

// TestRMSE verifies the root of the mean squared error, and NaN for no examples.
func TestRMSE(t *testing.T) {
	if got := RMSE(18, 2); got != 3 {
		t.Errorf("RMSE of two squared errors with sum 18 is %g, want 3", got)
	}
	if got := RMSE(0, 0); !math.IsNaN(got) {
		t.Errorf("RMSE of nothing is %g, want NaN", got)
	}
}
