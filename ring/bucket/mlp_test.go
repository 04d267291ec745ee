package bucket

import (
	"context"
	"slices"
	"testing"

	network "ringtrain/model"
	"ringtrain/model/graph"
	"ringtrain/model/tensor"
	"ringtrain/ring"
)

// TestLayersLeaveInReverse runs backward of a network of three layers. It verifies that
// variables become ready and buckets are summed from the last layer to the first, and that the
// buckets of the last layers are summed before backward ends.
func TestLayersLeaveInReverse(t *testing.T) {
	const in, a, b, classes, rows = 30, 50, 40, 35, 4
	g, err := network.Config{Kind: "mlp", Hidden: []int{a, b}, Classes: network.Count(classes)}.GraphOf(network.Inputs{Dense: graph.Shape{in}}, network.LossConfig{})
	if err != nil {
		t.Fatal(err)
	}
	m := network.New(g)
	vars := m.Variables()
	var planned []Variable
	for _, v := range vars {
		v.Value = make([]float32, v.Len())
		planned = append(planned, Variable{Name: v.Name, Len: v.Len()})
	}
	summed := make(chan int, len(vars))
	r := mustReducer(t, scripted{2, func(_ context.Context, red ring.Reduction) error {
		summed <- len(red.Buf)
		return nil
	}}, planned, Config{BucketBytes: 4096})
	defer r.Close()
	for i, v := range vars {
		v.Grad = r.Grad(i)
	}
	x := tensor.Features{Dense: tensor.Matrix{Rows: rows, Cols: in, Data: make([]float32, rows*in)}}
	r.Begin(t.Context())
	m.Forward(&x, make([]float32, rows))
	var order, sizes []int
	m.Backward(make([]float32, rows), func(i int) {
		if i == 0 { // the first layer's kernel: backward has not ended
			sizes = append(sizes, <-summed, <-summed)
		}
		order = append(order, i)
		r.Ready(i)
	})
	if err := r.Wait(); err != nil {
		t.Fatal(err)
	}
	sizes = append(sizes, <-summed)
	if want := reverse(len(vars)); !slices.Equal(order, want) {
		t.Errorf("variables are ready in the order %v, want %v", order, want)
	}
	if want := []int{classes + b*classes, b + a*b, a + in*a}; !slices.Equal(sizes, want) {
		t.Errorf("buckets of %v are summed, want %v: last layer first", sizes, want)
	}
}
