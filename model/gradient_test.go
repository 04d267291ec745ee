package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"ringtrain/model/tensor"
)

const (
	// delta is how far a value is moved, a power of two: the move is exact.
	delta = 0x1p-7

	// tolerance covers the third derivative at that distance, and the float32
	// of the layers: 2⁻²⁴ / delta is 8e-6 for each unit of the objective.
	tolerance = 3e-4
)

// differences compares each gradient with the central difference of objective
// as the value beside it moves.
func differences(t *testing.T, name string, values, grads []float32, objective func() float64) {
	t.Helper()
	grads = append([]float32(nil), grads...) // objective may write them
	for i, at := range values {
		values[i] = at + delta
		up := objective()
		values[i] = at - delta
		down := objective()
		values[i] = at
		want := (up - down) / (2 * delta)
		if got := float64(grads[i]); !(math.Abs(got-want) <= tolerance*(1+math.Abs(want))) {
			t.Errorf("%s[%d]: gradient is %g, central difference %g", name, i, got, want)
		}
	}
}

func ignore(int) {}

// weighted returns Σ w·y, whose gradient with respect to y is w.
func weighted(y, w []float32) float64 {
	var sum float64
	for i, v := range y {
		sum += float64(v) * float64(w[i])
	}
	return sum
}

// TestLayerGradients: a layer whose backward is not the derivative of its
// forward trains to something else, often almost as well.
func TestLayerGradients(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	newMatrix := func(rows, cols int) tensor.Matrix {
		var m tensor.Matrix
		m.Resize(rows, cols)
		fill(r, m.Data)
		return m
	}
	clone := func(m tensor.Matrix) tensor.Matrix {
		m.Data = append([]float32(nil), m.Data...)
		return m
	}
	t.Run("layer=dense", func(t *testing.T) {
		d := newDense("d", 3, 5)
		for _, v := range []*Variable{d.kernel, d.bias} {
			v.Value, v.Grad = make([]float32, v.Len()), make([]float32, v.Len())
			fill(r, v.Value)
			fill(r, v.Grad) // backward must overwrite it
		}
		x, w := newMatrix(4, 3), newMatrix(4, 5)
		objective := func() float64 { return weighted(d.forward(x).Data, w.Data) }
		objective()
		dx := d.backward(clone(w), true, ignore)
		differences(t, "x", x.Data, dx.Data, objective)
		differences(t, "kernel", d.kernel.Value, d.kernel.Grad, objective)
		differences(t, "bias", d.bias.Value, d.bias.Grad, objective)
	})
	t.Run("layer=relu", func(t *testing.T) {
		l, x, w := &relu{}, newMatrix(4, 3), newMatrix(4, 3)
		for i, v := range x.Data {
			x.Data[i] = v + float32(math.Copysign(2*delta, float64(v))) // away from the kink
		}
		objective := func() float64 { return weighted(l.forward(clone(x)).Data, w.Data) }
		objective()
		dx := l.backward(clone(w), true, ignore)
		differences(t, "x", x.Data, dx.Data, objective)
	})
	t.Run("layer=sparse", func(t *testing.T) {
		s := newSparse("s", 7)
		for _, v := range []*Variable{s.weights, s.bias} {
			v.Value, v.Grad = make([]float32, v.Len()), make([]float32, v.Len())
			fill(r, v.Value)
		}
		x, _ := batch(Config{Kind: kindSparseLinear, Features: 7}, 6, 1)
		w := newMatrix(6, 1)
		objective := func() float64 { return weighted(s.forward(&x.Sparse).Data, w.Data) }
		objective()
		s.backward(w, ignore)
		differences(t, "weights", s.weights.Value, s.weights.Grad, objective)
		differences(t, "bias", s.bias.Value, s.bias.Grad, objective)
	})
}

// TestModelGradients compares Backward with the differences of the whole
// weighted loss, for every kind of model: a wrong factor in a loss, a weight
// left out or two layers joined wrongly would show.
func TestModelGradients(t *testing.T) {
	for _, c := range kinds {
		t.Run("kind="+c.Kind, func(t *testing.T) {
			m := build(t, c)
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
			m.Backward(weight, ignore)
			for _, v := range m.Variables() {
				differences(t, v.Name, v.Value, v.Grad, objective)
			}
		})
	}
}

// TestReadyOrder: each variable is reported once, last one first, and its
// gradient does not change afterwards; the bucket is on its way by then.
func TestReadyOrder(t *testing.T) {
	for _, c := range kinds {
		t.Run("kind="+c.Kind, func(t *testing.T) {
			m := build(t, c)
			place(m, 5)
			vars := m.Variables()
			next := len(vars)
			sent := make([][]float32, next)
			x, y := batch(c, 3, 2)
			m.Forward(x, y)
			m.Backward([]float32{1, 1, 1}, func(i int) {
				if next--; i != next {
					t.Errorf("variable %d is ready, want %d", i, next)
				}
				sent[i] = append([]float32(nil), vars[i].Grad...)
			})
			if next != 0 {
				t.Errorf("%d variables were never ready", next)
			}
			for i, v := range vars {
				if fmt.Sprint(v.Grad) != fmt.Sprint(sent[i]) {
					t.Errorf("%s changed after it was ready: %v, was %v", v.Name, v.Grad, sent[i])
				}
			}
		})
	}
}
