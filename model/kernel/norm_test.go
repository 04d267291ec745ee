package kernel

import (
	"fmt"
	"math"
	"testing"
)

// exactNorm is the definition of a row in float64.
func exactNorm(x []float64, gamma, beta []float32, epsilon float64) []float64 {
	mean, variance := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / float64(len(x))
	}
	y := make([]float64, len(x))
	for j, v := range x {
		y[j] = (v-mean)/math.Sqrt(variance+epsilon)*float64(gamma[j]) + float64(beta[j])
	}
	return y
}

// TestLayerNorm verifies a layer normalization and its gradients against float64 and
// central differences, its bits against one thread of the portable set, and add.
func TestLayerNorm(t *testing.T) {
	onEngines(t, func(t *testing.T, e *Engine) {
		for _, width := range []int{1, 3, 15, 16, 17, 31, 37, 64} {
			for _, rows := range []int{1, 5, 700} {
				normCase(t, e, rows, width)
			}
		}
	})
}

func normCase(t *testing.T, e *Engine, rows, width int) {
	what := fmt.Sprintf("rows=%d/width=%d", rows, width)
	x, dy := random(rows*width, 1), random(rows*width, 2)
	n := Norm{Gamma: random(width, 3), Beta: random(width, 4), Mean: make([]float32, rows), Inv: make([]float32, rows), Epsilon: 1e-3}
	y, dx, dGamma, dBeta := dirty(rows*width), dirty(rows*width), dirty(width), dirty(width)
	e.LayerNorm(y, x, n)
	e.LayerNormGrad(dx, dGamma, dBeta, dy, x, n, false, false)

	wantBeta, wantGamma := make([]float64, width), make([]float64, width)
	for i := range rows {
		row := make([]float64, width)
		for j := range row {
			row[j] = float64(x[i*width+j])
		}
		exact := exactNorm(row, n.Gamma, n.Beta, 1e-3)
		for j, want := range exact {
			if !(math.Abs(float64(y[i*width+j])-want) <= 4e-6*(1+math.Abs(want))) {
				t.Fatalf("%s: y[%d, %d] is %g, want %g", what, i, j, y[i*width+j], want)
			}
			d := float64(dy[i*width+j])
			wantBeta[j] += d
			if n.Gamma[j] != 0 {
				wantGamma[j] += d * (want - float64(n.Beta[j])) / float64(n.Gamma[j])
			}
		}
		if i%97 == 0 {
			wantSlope(t, what, dx[i*width:(i+1)*width], row, dy[i*width:(i+1)*width], n)
		}
	}
	for j := range width {
		if !(math.Abs(float64(dBeta[j])-wantBeta[j]) <= 1e-4) || n.Gamma[j] != 0 && !(math.Abs(float64(dGamma[j])-wantGamma[j]) <= 1e-3) {
			t.Fatalf("%s: gradients %d are %g and %g, want %g and %g", what, j, dGamma[j], dBeta[j], wantGamma[j], wantBeta[j])
		}
	}
	normTwin(t, e, what, n, x, dy, y, dx, dGamma, dBeta)
}

// wantSlope compares dx with central differences of Σ dy·y.
func wantSlope(t *testing.T, what string, dx []float32, x []float64, dy []float32, n Norm) {
	t.Helper()
	const h = 1e-4
	at := func(j int, d float64) (sum float64) {
		x[j] += d
		for k, v := range exactNorm(x, n.Gamma, n.Beta, 1e-3) {
			sum += v * float64(dy[k])
		}
		x[j] -= d
		return sum
	}
	for j, got := range dx {
		want := (at(j, h) - at(j, -h)) / (2 * h)
		if !(math.Abs(float64(got)-want) <= 1e-3*(1+math.Abs(want))) {
			t.Fatalf("%s: dx[%d] is %g, want %g", what, j, got, want)
		}
	}
}

// normTwin compares all results with those of another engine, without and with add.
func normTwin(t *testing.T, e *Engine, what string, n Norm, x, dy, y, dx, dGamma, dBeta []float32) {
	t.Helper()
	width, twin := len(dGamma), New(Portable, 1)
	other := dirty(len(x))
	twin.LayerNorm(other, x, n)
	wantSame(t, what+": y", y, other)
	sums := dirty(2 * width)
	twin.LayerNormGrad(other, sums[:width], sums[width:], dy, x, n, false, false)
	wantSame(t, what+": dx", dx, other)
	wantSame(t, what+": gamma", dGamma, sums[:width])
	wantSame(t, what+": beta", dBeta, sums[width:])

	first := random(len(x), 9)
	copy(other, first)
	clear(sums)
	for j := range sums {
		sums[j] = 1
	}
	e.LayerNormGrad(other, sums[:width], sums[width:], dy, x, n, true, true)
	for i := range dx {
		if !same(other[i], first[i]+dx[i]) {
			t.Fatalf("%s: dx[%d] added to %g is %g, want %g", what, i, first[i], other[i], first[i]+dx[i])
		}
	}
	for j := range width {
		if !same(sums[j], 1+dGamma[j]) || !same(sums[width+j], 1+dBeta[j]) {
			t.Fatalf("%s: gradients %d added to 1 are %g and %g", what, j, sums[j], sums[width+j])
		}
	}
	e.LayerNormGrad(nil, sums[:width], sums[width:], dy, x, n, false, false)
	wantSame(t, what+": gamma without dx", sums[:width], dGamma)
}

// BenchmarkLayerNorm measures the widths of preset cnn-small and of dense layers, and
// some widths that are not whole groups of lanes.
func BenchmarkLayerNorm(b *testing.B) {
	for _, c := range []struct{ rows, width int }{{64 * 28 * 28, 16}, {64 * 28 * 28, 24}, {64 * 28 * 28, 6}, {256, 100}, {256, 512}} {
		size := c.rows * c.width
		x, dy, dx, y, sums := random(size, 1), random(size, 2), make([]float32, size), make([]float32, size), make([]float32, 2*c.width)
		n := Norm{
			Gamma: random(c.width, 3), Beta: random(c.width, 4),
			Mean: make([]float32, c.rows), Inv: make([]float32, c.rows), Epsilon: 1e-3,
		}
		for _, s := range Sets() {
			e := New(s, 1)
			b.Run(fmt.Sprintf("rows=%d/width=%d/set=%v", c.rows, c.width, s), func(b *testing.B) {
				b.SetBytes(int64(4 * size))
				for b.Loop() {
					e.LayerNorm(y, x, n)
					e.LayerNormGrad(dx, sums[:c.width], sums[c.width:], dy, x, n, false, false)
				}
			})
		}
	}
}
