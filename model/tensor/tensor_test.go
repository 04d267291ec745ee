package tensor

import "testing"

// TestResize verifies that Resize reuses memory, so that a step does not allocate.
func TestResize(t *testing.T) {
	var m Matrix
	m.Resize(3, 4)
	m.Row(2)[3] = 5
	if got := m.Data[11]; got != 5 {
		t.Errorf("element [2, 3] is %g, want 5", got)
	}
	first := &m.Data[0]
	m.Resize(2, 5)
	if len(m.Data) != 10 || len(m.Row(1)) != 5 || &m.Data[0] != first {
		t.Errorf("2×5 after 3×4: %d elements, rows of %d, same memory %v", len(m.Data), len(m.Row(1)), &m.Data[0] == first)
	}
	m.Resize(0, 5)
	if len(m.Data) != 0 {
		t.Errorf("0×5 has %d elements", len(m.Data))
	}
}

// TestFeatureRows verifies the number of examples of dense features, including none, and
// of bags without columns.
func TestFeatureRows(t *testing.T) {
	tests := []struct {
		name string
		f    Features
		want int
	}{
		{"dense", Features{Dense: Matrix{Rows: 3, Cols: 2}}, 3},
		{"no dense rows", Features{Dense: Matrix{Cols: 2}, Bags: Bags{Fields: 1, Start: []int32{0, 0}}}, 0},
		{"bags", Features{Bags: Bags{Fields: 1, Start: []int32{0, 0}}}, 1},
		{"two fields", Features{Bags: Bags{Fields: 2, Start: []int32{0, 0, 0}}}, 1},
		{"both", Features{Dense: Matrix{Rows: 1, Cols: 2}, Bags: Bags{Fields: 1, Start: []int32{0, 0}}}, 1},
		{"nothing", Features{}, 0},
	}
	for _, tt := range tests {
		t.Run("case="+tt.name, func(t *testing.T) {
			if got := tt.f.Rows(); got != tt.want {
				t.Errorf("%d rows, want %d", got, tt.want)
			}
		})
	}
}
