package input_test

import (
	"slices"
	"testing"

	"ringtrain/input"
)

// TestDenseRow verifies that rows of different lengths panic, and that a reset batch
// accepts another length.
func TestDenseRow(t *testing.T) {
	var b input.Batch
	for range 2 {
		copy(b.DenseRow(3), []float32{1, 2, 3})
	}
	for _, cols := range []int{2, 4} {
		func() {
			defer func() {
				if fault := recover(); fault != "input: dense rows of different lengths" || b.X.Dense.Rows != 2 || len(b.X.Dense.Data) != 6 {
					t.Errorf("a row of %d behind rows of 3: panic %v, %+v", cols, fault, b.X.Dense)
				}
			}()
			b.DenseRow(cols)
		}()
	}
	b.Reset()
	if got := len(b.DenseRow(2)); got != 2 || b.X.Dense.Rows != 1 || b.X.Dense.Cols != 2 {
		t.Errorf("after Reset: a row of %d, %+v", got, b.X.Dense)
	}
}

// TestAddKeys verifies that examples without a key have an empty one, and that Restore removes keys.
func TestAddKeys(t *testing.T) {
	var b input.Batch
	add := func(key string) {
		b.Y = append(b.Y, 1)
		if key != "" {
			b.AddKeys(1)[0] = key
		}
	}
	add("")
	add("a")
	before := b.Mark()
	add("bad")
	b.Restore(before)
	add("")
	add("b")
	if want := []string{"", "a", "", "b"}; !slices.Equal(b.Keys, want) {
		t.Errorf("keys %q, want %q", b.Keys, want)
	}
	b.Reset()
	if len(b.Keys) > 0 {
		t.Errorf("after Reset: keys %q", b.Keys)
	}
}
