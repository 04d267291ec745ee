// Package tensor holds the plain containers that data, models and exports hand
// to each other.
package tensor

// Matrix is a dense row-major matrix of float32: element [i, j] is
// Data[i*Cols+j].
type Matrix struct {
	Rows, Cols int
	Data       []float32
}

// Row returns row i, a view of Cols elements.
func (m Matrix) Row(i int) []float32 { return m.Data[i*m.Cols : (i+1)*m.Cols] }

// Resize gives m the shape [rows, cols], reusing its memory where it suffices.
// The contents are then unspecified.
func (m *Matrix) Resize(rows, cols int) {
	m.Rows, m.Cols = rows, cols
	if n := rows * cols; cap(m.Data) < n {
		m.Data = make([]float32, n)
	} else {
		m.Data = m.Data[:n]
	}
}

// Sparse is a list of rows, each a list of (id, value) pairs: row i holds the
// pairs Start[i] to Start[i+1]. An empty Sparse has Start = [0].
type Sparse struct {
	Start  []int
	IDs    []int64
	Values []float32
}

// Rows returns the number of rows.
func (s *Sparse) Rows() int { return max(len(s.Start)-1, 0) }

// Row returns the ids and values of row i, as views.
func (s *Sparse) Row(i int) ([]int64, []float32) {
	a, b := s.Start[i], s.Start[i+1]
	return s.IDs[a:b], s.Values[a:b]
}

// Reset empties s and keeps its memory.
func (s *Sparse) Reset() {
	s.Start = append(s.Start[:0], 0)
	s.IDs, s.Values = s.IDs[:0], s.Values[:0]
}

// Features are the inputs of a batch of examples: dense, or sparse where
// Dense.Cols is 0.
type Features struct {
	Dense  Matrix
	Sparse Sparse
}

// Rows returns the number of examples.
func (f *Features) Rows() int {
	if f.Dense.Cols > 0 {
		return f.Dense.Rows
	}
	return f.Sparse.Rows()
}
