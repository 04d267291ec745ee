package bucket

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
)

// A lowRank sends a matrix of gradients as the product of two thin ones, which
// are summed over the ranks instead of it (PowerSGD: Vogels et al., "PowerSGD:
// practical low-rank gradient compression for distributed optimization", 2019).
// A step has two all-reduces, both linear, so that no rank decodes another's:
//
//	M ← G + E             G: this rank's gradient, E: what earlier steps lost
//	P ← M·Q               then all-reduce, then orthonormal columns
//	Q ← Mᵀ·P              E ← M - P·Qᵀ with this rank's Q, then all-reduce
//	G ← P·Qᵀ              the sum over the ranks, as far as rank r can tell it
//
// The errors of all ranks add up to what the sum lacks, so that nothing is lost
// for good. Q stays for the next step: the directions change slowly, and one
// round of the power method a step follows them. Both factors lie transposed, r
// rows of a column each, so that all products are dot products and sums of rows,
// in float32.
//
// Where a gradient has fewer than r directions, as one of few examples has, the
// columns left over would be rounding errors, and one that is zero would stay so
// for good: they count as zero in this step, and for the next one another
// direction is drawn. The paper leaves this open.
type lowRank struct {
	rows, cols, rank int
	p, q             []float32 // rank×rows and rank×cols; sums over the ranks between the calls
	lost             []float32 // E, rows×cols

	seed, stream uint64
	source       rand.PCG // of the directions; as far on all ranks
}

const (
	// leastNorm is that of a column that counts: a gradient that vanishes has none,
	// and must not become 0/0. Others add 1e-8 to each norm instead. Then columns
	// of small gradients are shorter than 1, those after them keep a part along
	// them, and that counts twice.
	leastNorm = 1e-30

	// leastShare of a column must be left when its parts along the columns before
	// it are taken away. What is less is mostly rounding.
	leastShare = 1e-4
)

// lowRankPays reports whether the two factors are less than half of the matrix.
func lowRankPays(rows, cols, rank int) bool {
	return rank > 0 && 2*rank*(rows+cols) < rows*cols
}

// reset returns l to the state before the first step. All ranks have the same seed; each matrix
// has a stream of its own.
func (l *lowRank) reset() {
	clear(l.lost)
	l.source.Seed(l.seed, l.stream)
	for k := range l.rank {
		l.draw(k)
	}
}

// draw sets column k of Q to a random direction.
func (l *lowRank) draw(k int) {
	normal := rand.New(&l.source)
	for i := k * l.cols; i < (k+1)*l.cols; i++ {
		l.q[i] = float32(normal.NormFloat64())
	}
}

// first computes this rank's P from the gradient g, of rows×cols, row by row. g becomes M.
func (l *lowRank) first(g []float32) {
	axpy(1, l.lost, g)
	for i := range l.rows {
		row := g[i*l.cols : (i+1)*l.cols]
		for k := range l.rank {
			l.p[k*l.rows+i] = blas32.Dot(vector(row), vector(l.q[k*l.cols:(k+1)*l.cols]))
		}
	}
}

// second computes this rank's Q from M and the sum of all ranks' P, and keeps the error.
func (l *lowRank) second(m []float32) {
	l.orthonormalize()
	clear(l.q)
	for i := range l.rows {
		row := m[i*l.cols : (i+1)*l.cols]
		for k := range l.rank {
			axpy(l.p[k*l.rows+i], row, l.q[k*l.cols:(k+1)*l.cols])
		}
	}
	copy(l.lost, m)
	l.addProduct(-1, l.lost)
}

// third replaces g by the product of the sum of all ranks' factors, and makes the Q of the next
// step. Only the directions of that Q count. Its columns are as large as the gradients, and the
// next P would be as large as their squares. So third scales the columns to about 1, by a power
// of two, which rounds nothing.
func (l *lowRank) third(g []float32) {
	clear(g)
	l.addProduct(1, g)
	for k := range l.rank {
		q := l.q[k*l.cols : (k+1)*l.cols]
		length := norm(q)
		if length < leastNorm {
			l.draw(k)
			continue
		}
		_, exponent := math.Frexp(length)
		scale(float32(math.Ldexp(1, -exponent)), q)
	}
}

// addProduct computes x += sign·P·Qᵀ.
func (l *lowRank) addProduct(sign float32, x []float32) {
	for i := range l.rows {
		row := x[i*l.cols : (i+1)*l.cols]
		for k := range l.rank {
			axpy(sign*l.p[k*l.rows+i], l.q[k*l.cols:(k+1)*l.cols], row)
		}
	}
}

// orthonormalize makes the columns of P orthonormal by the modified Gram–Schmidt process, and
// sets a column to zero if it has no direction of its own. All ranks have the same P here and
// get the same bits.
func (l *lowRank) orthonormalize() {
	for k := range l.rank {
		col := l.p[k*l.rows : (k+1)*l.rows]
		before := norm(col)
		for j := range k {
			other := l.p[j*l.rows : (j+1)*l.rows]
			axpy(-float32(inner(other, col)), other, col)
		}
		after := norm(col)
		if after < leastNorm || after < leastShare*before {
			clear(col)
			continue
		}
		scale(float32(1/after), col)
	}
}

func vector(x []float32) blas32.Vector { return blas32.Vector{N: len(x), Inc: 1, Data: x} }

func axpy(a float32, x, y []float32) { blas32.Axpy(a, vector(x), vector(y)) }

func scale(a float32, x []float32) { blas32.Scal(a, vector(x)) }

// inner and norm are summed in float64, one by one: the squares of large values
// may be beyond float32, and what is made of sums must have the same bits in
// every build.
func inner(x, y []float32) float64 {
	var s float64
	for i, v := range x {
		s += float64(v) * float64(y[i])
	}
	return s
}

func norm(x []float32) float64 { return math.Sqrt(inner(x, x)) }
