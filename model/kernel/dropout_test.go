package kernel

import (
	"math"
	"testing"
)

// TestDropout verifies that the choice depends only on seed, step, example and unit,
// that kept units are scaled, and that backward drops the units of forward.
func TestDropout(t *testing.T) {
	onEngines(t, func(t *testing.T, e *Engine) {
		const rows, width = 37, 203
		x := random(rows*width, 1)
		for i := range x {
			x[i] += 3 // no zeros
		}
		d := Drop{Seed: 7, Step: 11, First: 1000, Rate: 0.4}
		y, alone := dirty(len(x)), dirty(width)
		e.Dropout(y, x, rows, d, false)
		for i := range rows {
			one := d
			one.First += uint64(i)
			New(Portable, 1).Dropout(alone, x[i*width:(i+1)*width], 1, one, false)
			wantSame(t, "a row alone", y[i*width:(i+1)*width], alone)
		}
		scale := 1 / (1 - d.Rate)
		for i, v := range y {
			if v != 0 && v != x[i]*scale {
				t.Fatalf("element %d is %g, want 0 or %g", i, v, x[i]*scale)
			}
		}
		sum := random(len(x), 2)
		e.Dropout(sum, x, rows, d, true)
		for i, first := range random(len(x), 2) {
			if !same(sum[i], first+y[i]) {
				t.Fatalf("element %d added to %g is %g, want %g", i, first, sum[i], first+y[i])
			}
		}
		e.Dropout(x, x, rows, d, false)
		wantSame(t, "in place", x, y)
	})
}

// TestDropoutIsRandom verifies the share of dropped units, and that the choices of
// neighbours (unit, example, step, seed) are independent: two choices at rate r both
// drop in r² of the cases, within six deviations.
func TestDropoutIsRandom(t *testing.T) {
	const rows, width = 400, 500
	ones := make([]float32, rows*width)
	for i := range ones {
		ones[i] = 1
	}
	e := New(Portable, 1)
	choose := func(d Drop) []float32 {
		y := make([]float32, len(ones))
		e.Dropout(y, ones, rows, d, false)
		return y
	}
	for _, rate := range []float32{0, 0.1, 0.5, 0.9} {
		d := Drop{Seed: 1, Step: 5, First: 300, Rate: rate}
		base := choose(d)
		step, seed, far := d, d, d
		step.Step++
		seed.Seed++
		far.First += 1 << 40
		wantShare(t, "dropped", base, base, float64(rate))
		both := float64(rate) * float64(rate)
		wantShare(t, "next unit", base[1:], base[:len(base)-1], both)
		wantShare(t, "next example", base[width:], base[:len(base)-width], both)
		wantShare(t, "next step", base, choose(step), both)
		wantShare(t, "next seed", base, choose(seed), both)
		wantShare(t, "example far away", base, choose(far), both)
	}
}

// wantShare verifies the share of positions at which both have a 0.
func wantShare(t *testing.T, what string, a, b []float32, want float64) {
	t.Helper()
	n := 0
	for i := range a {
		if a[i] == 0 && b[i] == 0 {
			n++
		}
	}
	total := float64(len(a))
	if got := float64(n) / total; math.Abs(got-want) > 6*math.Sqrt(want*(1-want)/total) {
		t.Errorf("%s: %g of the choices, want %g", what, got, want)
	}
}
