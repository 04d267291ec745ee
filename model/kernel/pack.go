package kernel

const line = 16 // elements of a cache line

// packB returns rows [l, l+depth) and columns [j0, j1) of b as strips. It packs them
// into the thread's scratch memory if that is faster:
//
//	tile 0               tile 1
//	┌─────────────────┐  ┌─────────────────┐
//	│ row l           │  │ row l           │   a row has the columns of one tile;
//	│ row l+1         │  │ row l+1         │   the sums omit columns beyond b
//	│ …               │  │ …               │
//	└─────────────────┘  └─────────────────┘
//
// packB uses a b with contiguous rows in place if it is as narrow as a tile, or if rows,
// the number of rows of a, is small.
func (m *matmul) packB(t *thread, rows, j0, j1, l, depth int) strip {
	cols := m.shape.cols
	if depth == 0 {
		return strip{}
	}
	if !m.packsB(rows) {
		return strip{data: m.b.data[l*m.b.row+j0:], row: m.b.row, tile: cols}
	}
	if m.b.col == 1 {
		m.packRows(t, j0, j1, l, depth)
	} else {
		m.packColumns(t, j0, j1, l, depth)
	}
	return strip{data: t.b, row: cols, tile: cols * depth}
}

// rowsAtOnce is the number of rows of b that are packed for all tiles of a strip before
// the next rows. Packing tile by tile would read one cache line of each row, a page
// apart.
const rowsAtOnce = 16

// packRows packs a strip of a b with contiguous rows.
func (m *matmul) packRows(t *thread, j0, j1, l, depth int) {
	cols := m.shape.cols
	for first := 0; first < depth; first += rowsAtOnce {
		rows := min(rowsAtOnce, depth-first)
		src := m.b.data[(l+first)*m.b.row:]
		for j := j0; j < j1; j += cols {
			dst := t.b[(j-j0)*depth+first*cols:]
			m.e.set.copyRows(dst, src[j:], rows, min(cols, j1-j), cols, m.b.row)
		}
	}
}

// packColumns packs a strip of a b with contiguous columns.
func (m *matmul) packColumns(t *thread, j0, j1, l, depth int) {
	cols := m.shape.cols
	for j := j0; j < j1; j += cols {
		m.e.set.transpose(t.b[(j-j0)*depth:], m.b.data[j*m.b.col+l:], depth, min(cols, j1-j), cols, m.b.col)
	}
}

// packsB reports whether packB packs a strip of b for the given number of rows of a.
func (m *matmul) packsB(rows int) bool {
	return m.b.col != 1 || m.n > m.shape.cols && rows > 2*m.shape.rows
}

// packsA reports whether packA packs a panel of a for the given number of columns of b.
func (m *matmul) packsA(cols int) bool { return cols > 2*m.shape.cols }

// packA returns rows [i0, i1) and columns [l, l+depth) of a. It copies them to the
// thread's scratch memory if cols, the number of columns of b, is large.
func (m *matmul) packA(t *thread, i0, i1, l, depth, cols int) operand {
	if depth == 0 {
		return operand{}
	}
	src := m.a.data[i0*m.a.row+l*m.a.col:]
	if !m.packsA(cols) {
		return operand{src, m.a.row, m.a.col}
	}
	if m.a.col == 1 {
		row := depth + line // rows at a power of two would map to few cache sets
		m.e.set.copyRows(t.a, src, i1-i0, depth, row, m.a.row)
		return operand{t.a, row, 1}
	}
	m.e.set.copyRows(t.a, src, depth, i1-i0, m.shape.beside(), m.a.col)
	return operand{t.a, 1, m.shape.beside()}
}

// beside returns the padded number of rows of a tile.
func (s shape) beside() int { return ceil(s.rows, 8) * 8 }

// copyRows copies rows of cols elements from src to dst. The strides are to in dst and
// from in src.
func copyRows(dst, src []float32, rows, cols, to, from int) {
	for i := range rows {
		copy(dst[i*to:i*to+cols], src[i*from:i*from+cols])
	}
}

// transpose writes element [j, l] of src to dst[l*to+j], for l in [0, rows) and j in [0,
// cols). The stride of src is from.
func transpose(dst, src []float32, rows, cols, to, from int) {
	for j := range cols {
		row := src[j*from : j*from+rows]
		for l, v := range row {
			dst[l*to+j] = v
		}
	}
}

// grow returns x, or a new slice, with at least n elements.
func grow(x []float32, n int) []float32 {
	if len(x) < n {
		return make([]float32, n)
	}
	return x
}
