package interpreter

import (
	"math"
	"math/rand/v2"
	"testing"

	"ringtrain/export/tfpb"
)

// TestOpsOnOtherInputs verifies that each operation answers inputs of other shapes, types and values by
// an error or by tensors that have as many values as their shapes say. A shape without values may have
// dimensions that no loop can end.
func TestOpsOnOtherInputs(t *testing.T) {
	const seed = 1
	all, folder := readGoldens(t), t.TempDir()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		g := all[r.IntN(len(all))]
		g.In = append([]goldenTensor(nil), g.In...)
		if len(g.In) == 0 {
			continue
		}
		k := r.IntN(len(g.In))
		if r.IntN(2) == 0 {
			g.In[k].Tensor = made(r)
		} else if other := all[r.IntN(len(all))]; len(other.In) > 0 {
			g.In[k] = other.In[0]
		}
		m, err := g.open(folder)
		if err != nil {
			continue
		}
		p, err := m.Compile("case", nil)
		if err != nil {
			t.Fatal(err)
		}
		inputs := make([]*Tensor, len(g.In))
		for i, x := range g.In {
			inputs[i] = x.Tensor
		}
		answers, _ := p.Run(inputs)
		for _, a := range answers {
			if n, err := elements(a.lane().size(), a.Shape, maxBytes); err != nil || n != a.length() {
				t.Errorf("seed %d, %s: %d values of shape %v", seed, g.Case, a.length(), a.Shape)
			}
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// made returns a tensor of any type with a few values, or with none and large dimensions.
func made(r *rand.Rand) *Tensor {
	types := []tfpb.DataType{
		tfpb.DataType_DT_FLOAT, tfpb.DataType_DT_DOUBLE, tfpb.DataType_DT_INT32,
		tfpb.DataType_DT_INT64, tfpb.DataType_DT_BOOL, tfpb.DataType_DT_STRING,
	}
	sizes, values := []int{0, 1, 1, 2, 3, 4, 1 << 40, 1 << 62}, []int64{0, 1, -1, 2, 5, math.MinInt32, 1 << 40, math.MinInt64, math.MaxInt64}
	for {
		shape := make([]int, r.IntN(6))
		for i := range shape {
			shape[i] = sizes[r.IntN(len(sizes))]
		}
		n, err := elements(textValues.size(), shape, maxBytes)
		if err != nil || n > 1<<10 {
			continue
		}
		t := &Tensor{Type: types[r.IntN(len(types))], Shape: shape}
		t.lane().resize(t, n)
		for i := range t.Int32 {
			t.Int32[i] = int32(values[r.IntN(len(values))])
		}
		for i := range t.Int64 {
			t.Int64[i] = values[r.IntN(len(values))]
		}
		return t
	}
}
