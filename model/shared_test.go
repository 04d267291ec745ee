package model

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"ringtrain/model/tensor"
)

// golden reads numbers of TensorFlow into v.
func golden(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "layers", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}

// place gives the variables of m memory and random values.
func place(m *Model, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 7))
	for _, v := range m.Variables() {
		v.Value, v.Grad = make([]float32, v.Len()), make([]float32, v.Len())
		fill(r, v.Value)
	}
}

func fill(r *rand.Rand, x []float32) {
	for i := range x {
		x[i] = float32(r.NormFloat64()) / 2
	}
}

// batch draws n examples and labels that fit c.
func batch(c Config, n int, seed uint64) (*tensor.Features, []float32) {
	r := rand.New(rand.NewPCG(seed, 11))
	x, y := &tensor.Features{}, make([]float32, n)
	if c.Kind == kindSparseLinear {
		x.Sparse.Reset()
		for range n {
			for range r.IntN(5) { // also none; ids may repeat
				x.Sparse.IDs = append(x.Sparse.IDs, r.Int64N(int64(c.Features)))
				x.Sparse.Values = append(x.Sparse.Values, float32(r.NormFloat64()))
			}
			x.Sparse.Start = append(x.Sparse.Start, len(x.Sparse.IDs))
		}
	} else {
		x.Dense.Resize(n, c.Features)
		fill(r, x.Dense.Data)
	}
	for i := range y {
		switch c.loss() {
		case Squared:
			y[i] = float32(r.NormFloat64())
		case Softmax:
			y[i] = float32(r.IntN(c.Classes))
		case Sigmoid:
			y[i] = float32(r.IntN(2))
		}
	}
	return x, y
}

// kinds has one model of each kind.
var kinds = []Config{
	{Kind: kindLinear, Features: 5},
	{Kind: kindSoftmax, Features: 5, Classes: 4},
	{Kind: kindMLP, Features: 5, Classes: 3, Hidden: []int{6, 4}},
	{Kind: kindSparseLinear, Features: 7},
}

func build(t testing.TB, c Config) *Model {
	t.Helper()
	m, err := New(c, c.loss())
	if err != nil {
		t.Fatal(err)
	}
	return m
}
