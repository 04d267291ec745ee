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

// Features are the inputs of a batch of examples: a dense matrix, bags of ids, or both.
// Dense.Cols and Bags.Fields are 0 where the batch has none.
type Features struct {
	Dense Matrix
	Bags  Bags
}

// Rows returns the number of examples.
func (f *Features) Rows() int {
	if f.Dense.Cols > 0 {
		return f.Dense.Rows
	}
	return f.Bags.Examples()
}
