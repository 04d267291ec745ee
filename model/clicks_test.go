package model

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"ringtrain/model/graph"
	"ringtrain/model/kernel"
	"ringtrain/model/tensor"
)

// clicks has TensorFlow's results for a model of ids.
type clicks struct {
	Options struct {
		Kind                                       Kind
		Loss                                       Loss
		Pooling                                    graph.Pooling
		Activation                                 Activation
		IDs, Fields, Columns, Size, Classes, Cross int
		Hidden                                     []int
	}
	X, Y, Weights []float32
	Start         []int32
	IDs           []uint32
	Rate          float32
	Steps         int
	Scores        []float32
	Losses        []float64
	Variables     []struct {
		Name                   string
		Shape                  []int
		Value, Gradient, After []float32
	}
}

// TestClicks verifies scores, losses, gradients and three steps of gradient descent against
// TensorFlow, for every preset of ids, with one field and several, columns beside them, each
// pooling and each loss, in every kernel set of this machine.
func TestClicks(t *testing.T) {
	files, err := filepath.Glob("testdata/clicks/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		var c clicks
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &c); err != nil {
			t.Fatal(err)
		}
		for _, set := range kernel.Sets() {
			t.Run("model="+filepath.Base(file)+"/kernels="+set.String(), func(t *testing.T) { c.compare(t, set) })
		}
	}
}

// model returns the preset.
func (c *clicks) model(t *testing.T) *Model {
	t.Helper()
	o := c.Options
	in := Inputs{IDs: o.IDs, Fields: o.Fields}
	if o.Columns > 0 {
		in.Dense = graph.Shape{o.Columns}
	}
	g, err := Config{
		Kind: o.Kind, Classes: Count(o.Classes), Hidden: o.Hidden, Activation: o.Activation, Embedding: o.Size, Pooling: o.Pooling, Cross: o.Cross,
	}.GraphOf(in, LossConfig{Kind: o.Loss})
	if err != nil {
		t.Fatal(err)
	}
	return New(g)
}

// features returns the records.
func (c *clicks) features() *tensor.Features {
	x := &tensor.Features{}
	x.Bags.Reset(c.Options.Fields)
	for bag := range len(c.Start) - 1 {
		for p := c.Start[bag]; p < c.Start[bag+1]; p++ {
			x.Bags.Add(c.IDs[p], c.Weights[p])
		}
		x.Bags.End()
	}
	x.Bags.Index()
	if n := len(c.X); n > 0 {
		x.Dense = tensor.Matrix{Rows: len(c.Y), Cols: n / len(c.Y), Data: c.X}
	}
	return x
}

func (c *clicks) compare(t *testing.T, set kernel.Set) {
	m, x := c.model(t), c.features()
	m.Use(set, 1)
	vars := m.Variables()
	if len(vars) != len(c.Variables) {
		t.Fatalf("%d variables, TensorFlow has %d", len(vars), len(c.Variables))
	}
	for i, want := range c.Variables {
		v := vars[i]
		if v.Name != want.Name || v.Len() != len(want.Value) {
			t.Fatalf("variable %s of shape %v, want %s of %v", v.Name, v.Shape, want.Name, want.Shape)
		}
		v.Value = append([]float32(nil), want.Value...)
		placeGrad(v)
	}
	weight := make([]float32, len(c.Y))
	fill32(weight, 1/float32(len(c.Y)))
	for step := range c.Steps {
		m.Forward(x, c.Y)
		if step == 0 {
			close32(t, "scores", m.Scores().Data, c.Scores)
			for i, l := range m.Losses() {
				near(t, "loss", l, c.Losses[i], 1e-5)
			}
		}
		for _, v := range vars {
			clear(v.RowGrad)
		}
		m.Backward(weight, ignore)
		for i, want := range c.Variables {
			grad := wholeGrad(vars[i], &x.Bags)
			if step == 0 {
				close32(t, "gradient of "+want.Name, grad, want.Gradient)
			}
			for k, g := range grad {
				vars[i].Value[k] -= c.Rate * g
			}
		}
	}
	for i, want := range c.Variables {
		close32(t, want.Name+" after the steps", vars[i].Value, want.After)
	}
}

// wholeGrad returns the gradient of v, with zeros for unused rows.
func wholeGrad(v *Variable, b *tensor.Bags) []float32 {
	if !v.ByRows {
		return v.Grad
	}
	g := make([]float32, v.Len())
	for k, id := range b.IDs {
		copy(g[int(id)*v.RowLen():], v.RowGrad[k*v.RowStride:][:v.RowLen()])
	}
	return g
}
