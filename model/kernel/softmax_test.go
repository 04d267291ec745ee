package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// exactSoftmax returns probabilities and loss of a row by the definition in float64.
func exactSoftmax(z []float32, class int, s float64) (p []float64, loss float64) {
	top, sum, rest := math.Inf(-1), 0.0, 0.0
	for _, v := range z {
		top = max(top, float64(v))
	}
	skipped := false
	for _, v := range z {
		e := math.Exp(float64(v) - top)
		p = append(p, e)
		sum += e
		if float64(v) == top && !skipped {
			skipped = true
		} else {
			rest += e
		}
	}
	k := float64(len(z))
	loss = math.Log1p(rest)
	for j, v := range z {
		target := s / k
		if j == class {
			target += 1 - s
		}
		loss += target * (top - float64(v))
		p[j] /= sum
	}
	return p, loss
}

// TestSoftmax verifies probabilities, losses and gradients within their bounds, for
// scores from equal ones to some beyond the range of exp, and that rows have the same
// bits in every set, alone and in a batch.
func TestSoftmax(t *testing.T) {
	onEngines(t, func(t *testing.T, e *Engine) {
		for _, k := range []int{1, 2, 3, 10, 16, 17, 100, 1000} {
			for _, smoothing := range []float32{0, 0.1} {
				for _, scale := range []float32{0, 0.01, 1, 8, 60} {
					softmaxCase(t, e, k, smoothing, scale)
				}
			}
		}
	})
}

func softmaxCase(t *testing.T, e *Engine, k int, smoothing, scale float32) {
	const rows = 40
	what := fmt.Sprintf("k=%d/smoothing=%g/scale=%g", k, smoothing, scale)
	z, y, weight := random(rows*k, 1), make([]float32, rows), random(rows, 3)
	for i := range z {
		z[i] *= scale
	}
	for i := range y {
		y[i] = float32(i * 7 % k)
		if i%2 == 0 { // the class has by far the largest score
			z[i*k+int(y[i])] += scale * 9
		}
	}
	p, dz, losses := dirty(rows*k), dirty(rows*k), make([]float64, rows)
	e.Softmax(p, losses, z, y, k, smoothing)
	e.SoftmaxGrad(dz, p, y, weight, k, smoothing)
	for i := range rows {
		row := z[i*k : (i+1)*k]
		exact, loss := exactSoftmax(row, int(y[i]), float64(smoothing))
		bound := (16 + float64(k)/16 + float64(slices.Max(row)) - float64(slices.Min(row))) * 0x1p-24
		if !(math.Abs(losses[i]-loss) <= bound*loss+1e-40) {
			t.Fatalf("%s: loss of row %d is %g, want %g", what, i, losses[i], loss)
		}
		for j, want := range exact {
			if !(math.Abs(float64(p[i*k+j])-want) <= bound*want+1e-40) {
				t.Fatalf("%s: p[%d, %d] is %g, want %g", what, i, j, p[i*k+j], want)
			}
			target := float64(smoothing) / float64(k)
			if j == int(y[i]) {
				target += 1 - float64(smoothing)
			}
			want = (want - target) * float64(weight[i])
			if !(math.Abs(float64(dz[i*k+j])-want) <= 1e-6*math.Abs(float64(weight[i]))) {
				t.Fatalf("%s: dz[%d, %d] is %g, want %g", what, i, j, dz[i*k+j], want)
			}
		}
		one, oneLoss, reference := dirty(k), make([]float64, 1), New(Portable, 1)
		reference.Softmax(one, oneLoss, z[i*k:(i+1)*k], y[i:i+1], k, smoothing)
		wantSame(t, what+", a row alone", p[i*k:(i+1)*k], one)
		if oneLoss[0] != losses[i] {
			t.Fatalf("%s: loss of row %d alone is %g, among others %g", what, i, oneLoss[0], losses[i])
		}
	}
	e.Softmax(z, nil, z, nil, k, 0) // in place, without losses
	wantSame(t, what+", in place", z, p)
}

// TestSoftmaxOfNothing verifies an empty batch.
func TestSoftmaxOfNothing(t *testing.T) {
	e := New(Portable, 1)
	e.Softmax(nil, []float64{}, nil, nil, 10, 0)
	e.SoftmaxGrad(nil, nil, nil, nil, 10, 0)
	e.Binary(nil, []float64{}, nil, nil, 0)
}

// TestSoftmaxNotFinite verifies that a NaN or an infinity reaches all scores of its row
// and the loss, and no other row.
func TestSoftmaxNotFinite(t *testing.T) {
	onEngines(t, func(t *testing.T, e *Engine) {
		for _, k := range []int{10, 64} {
			for _, bad := range []float64{math.NaN(), math.Inf(1)} {
				for at := range k {
					z := random(2*k, 1)
					z[at] = float32(bad)
					p, losses := make([]float32, 2*k), make([]float64, 2)
					e.Softmax(p, losses, z, []float32{1, 2}, k, 0)
					if losses[0] == losses[0] || losses[1] != losses[1] {
						t.Fatalf("losses are %g, want a NaN and a number", losses)
					}
					for j, v := range p {
						if (v != v) != (j < k) {
							t.Fatalf("p[%d] is %g with a %g at %d", j, v, bad, at)
						}
					}
				}
			}
		}
	})
}

// TestBinary verifies the cross-entropy of logits against float64.
func TestBinary(t *testing.T) {
	onEngines(t, func(t *testing.T, e *Engine) {
		for _, smoothing := range []float32{0, 0.2} {
			z := append(random(100, 1), 0, 5, -5, 20, -20, 80, -80, 100, -100, 500, -500)
			n := len(z)
			y, weight := make([]float32, n), random(n, 2)
			for i := range y {
				y[i] = float32(i % 2)
			}
			p, dz, losses := make([]float32, n), make([]float32, n), make([]float64, n)
			e.Binary(p, losses, z, y, smoothing)
			e.BinaryGrad(dz, p, y, weight, smoothing)
			for i, v := range z {
				x, s := float64(v), float64(smoothing)
				target := (1-s)*float64(y[i]) + s/2
				want := max(x, 0) - x*target + math.Log1p(math.Exp(-math.Abs(x)))
				if !(math.Abs(losses[i]-want) <= 1e-6*want+1e-40) {
					t.Errorf("loss of %g against %g is %g, want %g", x, target, losses[i], want)
				}
				want = (1/(1+math.Exp(-x)) - target) * float64(weight[i])
				if !(math.Abs(float64(dz[i])-want) <= 1e-6*math.Abs(float64(weight[i]))) {
					t.Errorf("gradient of %g is %g, want %g", x, dz[i], want)
				}
			}
		}
	})
}

// BenchmarkSoftmax measures job mnist's batch and one of a thousand classes.
func BenchmarkSoftmax(b *testing.B) {
	for _, c := range []struct{ rows, k int }{{100, 10}, {128, 1000}} {
		z, y, w := random(c.rows*c.k, 1), make([]float32, c.rows), random(c.rows, 2)
		p, losses := make([]float32, c.rows*c.k), make([]float64, c.rows)
		for _, s := range Sets() {
			b.Run(fmt.Sprintf("rows=%d/k=%d/set=%v", c.rows, c.k, s), func(b *testing.B) {
				e := New(s, 1)
				for b.Loop() {
					e.Softmax(p, losses, z, y, c.k, 0)
					e.SoftmaxGrad(p, p, y, w, c.k, 0)
				}
			})
		}
	}
}
