package input

import "slices"

// DenseRow adds a dense row to b.X and returns it for the caller to fill; what
// it holds before that is unspecified. It panics if b has rows of another
// length.
func (b *Batch) DenseRow(cols int) []float32 {
	m := &b.X.Dense
	if m.Rows > 0 && m.Cols != cols {
		panic("input: dense rows of different lengths")
	}
	at := len(m.Data)
	m.Data = slices.Grow(m.Data, cols)[:at+cols]
	m.Rows, m.Cols = m.Rows+1, cols
	return m.Data[at:]
}

// SparseRow ends a sparse row of b.X: it holds the pairs that were appended to
// b.X.Sparse.IDs and Values since the row before.
func (b *Batch) SparseRow() {
	s := &b.X.Sparse
	if len(s.Start) == 0 {
		s.Start = append(s.Start, 0)
	}
	s.Start = append(s.Start, len(s.IDs))
}
