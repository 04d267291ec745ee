package model

import (
	"fmt"
	"math"
	"testing"
)

const (
	// delta is the change of a value, a power of two so that the change is exact.
	delta = 0x1p-7

	// tolerance covers the third derivative at distance delta, and the float32 of the
	// layers: 2⁻²⁴ / delta is 8e-6 per unit of the objective.
	tolerance = 3e-4
)

// differences compares each gradient with the central difference of objective.
func differences(t *testing.T, name string, values, grads []float32, objective func() float64) {
	t.Helper()
	grads = append([]float32(nil), grads...) // objective may overwrite them
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

// TestModelGradients verifies Backward against the differences of the weighted loss for
// every kind of model.
func TestModelGradients(t *testing.T) {
	for _, c := range gradientExamples {
		t.Run("model="+c.name(), func(t *testing.T) {
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
				differences(t, v.Name, v.Value, wholeGrad(v, &x.Bags), objective)
			}
		})
	}
}

// TestEveryKind verifies that TestModelGradients has a layer of every kind.
func TestEveryKind(t *testing.T) {
	found := map[string]bool{}
	for _, c := range gradientExamples {
		for _, n := range build(t, c).Graph().Nodes {
			found[string(n.Op)] = true
		}
	}
	for _, kind := range LayerKinds() {
		if !found[kind] {
			t.Errorf("no model of gradientExamples has a layer of kind %s", kind)
		}
	}
}

// TestReadyOrder verifies that Backward reports each variable once, last one first, and
// does not change its gradient afterwards, when its bucket may be in use.
func TestReadyOrder(t *testing.T) {
	for _, c := range examples {
		t.Run("model="+c.name(), func(t *testing.T) {
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
				sent[i] = append([]float32(nil), gradOf(vars[i])...)
			})
			if next != 0 {
				t.Errorf("%d variables were never ready", next)
			}
			for i, v := range vars {
				if fmt.Sprint(gradOf(v)) != fmt.Sprint(sent[i]) {
					t.Errorf("%s changed after it was ready: %v, was %v", v.Name, gradOf(v), sent[i])
				}
			}
		})
	}
}
