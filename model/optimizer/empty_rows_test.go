package optimizer

import (
	"slices"
	"testing"

	"ringtrain/model"
)

// TestEmptyRows verifies that a batch without ids changes no row, neither values
// nor slots, without a piece and with empty ones, whatever Grad holds. An optimizer
// that moves all rows does so by its rule, also without a piece.
func TestEmptyRows(t *testing.T) {
	for _, c := range every {
		t.Run(label(c), func(t *testing.T) {
			byNil, byEmpty := tableWithGradients(), tableWithGradients()
			before := slices.Clone(byNil.Value)
			a, err := New(c, []*model.Variable{byNil}, nil)
			if err != nil {
				t.Fatal(err)
			}
			b, err := New(c, []*model.Variable{byEmpty}, nil)
			if err != nil {
				t.Fatal(err)
			}
			first := slotValues(b)
			a.Apply(0.1, new(RowGrad))
			b.Apply(0.1, touched(nil, byEmpty))
			if !slices.Equal(byNil.Value, byEmpty.Value) || !slices.Equal(slotValues(a), slotValues(b)) {
				t.Errorf("no piece leads to %v, slots %v; empty ones to %v, slots %v",
					byNil.Value, slotValues(a), byEmpty.Value, slotValues(b))
			}
			if !c.MovesAllRows() && (!slices.Equal(byNil.Value, before) || !slices.Equal(slotValues(a), first)) {
				t.Errorf("no row is listed, and values are %v, want %v; slots %v, want %v", byNil.Value, before, slotValues(a), first)
			}
		})
	}
}

// tableWithGradients returns a table with gradients in all rows, as a lossy codec may leave.
func tableWithGradients() *model.Variable {
	return &model.Variable{
		Name: "t", Shape: []int{3, 1}, ByRows: true, Value: []float32{1, 2, 3}, Grad: []float32{4, 5, 6},
	}
}

// slotValues returns the values of all slots but scalars in one list.
func slotValues(o *Optimizer) []float32 {
	var all []float32
	for _, s := range o.Slots() {
		if len(s.Shape) > 0 {
			all = append(all, s.Value...)
		}
	}
	return all
}
