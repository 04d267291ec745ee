package model

import (
	"fmt"
	"math"
	"testing"
)

// TestSmooth verifies smoothed losses against the cross-entropy with the smoothed target
// in float64, and Backward as their gradient.
func TestSmooth(t *testing.T) {
	for _, c := range examples {
		if c.loss.Kind == "squared" || c.Kind == "linear" && c.loss.Kind == "" {
			continue
		}
		for _, s := range []float32{0.1, 0.2} {
			t.Run(fmt.Sprintf("model=%s/smoothing=%v", c.name(), s), func(t *testing.T) {
				m := build(t, c)
				m.Smooth(s)
				place(m, 5)
				x, y := batch(c, 6, 2)
				weight := []float32{1, 0.25, 0, 2, 1, 0.5}
				objective := func() float64 {
					m.Forward(x, y)
					var sum float64
					for i, l := range m.Losses() {
						sum += l * float64(weight[i])
					}
					return sum
				}
				objective()
				for i, got := range m.Losses() {
					if want := smoothed(m.Scores().Row(i), y[i], float64(s)); math.Abs(got-want) > 1e-4*(1+want) {
						t.Errorf("loss %d is %v, want %v", i, got, want)
					}
				}
				m.Backward(weight, ignore)
				for _, v := range m.Variables() {
					differences(t, v.Name, v.Value, wholeGrad(v, &x.Bags), objective)
				}
			})
		}
	}
}

// smoothed returns −Σ target·ln p for the scores of an example.
func smoothed(scores []float32, label float32, s float64) float64 {
	if len(scores) == 1 {
		scores = []float32{1 - scores[0], scores[0]}
	}
	sum := 0.0
	for j, p := range scores {
		target := s / float64(len(scores))
		if j == int(label) {
			target += 1 - s
		}
		sum -= target * math.Log(float64(p))
	}
	return sum
}
