// Package tensor has the plain containers that data, models and exports exchange.
package tensor

// Matrix is a dense row-major matrix of float32: element [i, j] is
// Data[i*Cols+j].
type Matrix struct {
	Rows, Cols int
	Data       []float32
}

// Row returns row i, a view of Cols elements.
func (m Matrix) Row(i int) []float32 { return m.Data[i*m.Cols : (i+1)*m.Cols] }

// Finite reports whether no value is a NaN or an infinity.
func Finite(x []float32) bool {
	for _, v := range x {
		if v-v != 0 { // v-v is NaN for NaN and for an infinity
			return false
		}
	}
	return true
}

// Resize sets the shape of m to [rows, cols] and reuses its memory if possible. The
// content is then unspecified.
func (m *Matrix) Resize(rows, cols int) {
	m.Rows, m.Cols = rows, cols
	if n := rows * cols; cap(m.Data) < n {
		m.Data = make([]float32, n)
	} else {
		m.Data = m.Data[:n]
	}
}

// Features are the inputs of a batch of examples: a dense matrix, bags of ids, or both.
// Dense.Cols and Bags.Fields are 0 if the batch has none.
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
