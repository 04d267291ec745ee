package codec

import "ringtrain/ring/internal/vec"

// tile is the number of elements that are processed at a time. A tile of x and of the
// residual takes 16 KiB, and its bytes at most 8 KiB in each direction. All of it stays in a
// first-level cache of 32 KiB. tile is a multiple of every codec's block.
const tile = 2048

// terms are the values that are summed before they are encoded.
type terms struct {
	x        []float32
	residual []float32 // nil: none
	received []byte    // a checked payload; nil: none
}

// encode appends the encoded sum of t. With keep it sets t.x to the decoded bytes and
// t.residual to the loss; without keep, t.residual must be nil. It changes nothing else: with
// x as the only term and without keep, it only reads.
func (f *Format) encode(dst []byte, t terms, keep bool) []byte {
	if t.residual != nil && len(t.residual) != len(t.x) {
		panic("codec: residual is not of x's length")
	}
	dst, payload := extend(dst, f.EncodedLen(len(t.x)))
	if f.scale != nil {
		f.scale(payload, f.largest(t))
	}
	for lo := 0; lo < len(t.x); lo += tile {
		if f.scale == nil {
			f.sum(t, lo)
		}
		x, residual := t.tile(lo)
		if residual == nil {
			f.put(payload, lo, x)
		} else {
			f.put(payload, lo, residual)
		}
		if keep {
			f.get(x, payload, lo)
		}
		if residual != nil {
			vec.Subtract(residual, x)
		}
	}
	return dst
}

// largest sums all terms of t and returns the largest magnitude.
func (f *Format) largest(t terms) float32 {
	var m float32
	for lo := 0; lo < len(t.x); lo += tile {
		m = max(m, vec.AbsMax(f.sum(t, lo))) // max returns NaN if one is NaN
	}
	return m
}

// sum sums one tile of t. It writes the sum to the residual if there is one, else to x. The
// decoded values replace x, and the loss is computed from the sum after that.
func (f *Format) sum(t terms, lo int) []float32 {
	x, residual := t.tile(lo)
	if t.received != nil {
		f.add(x, t.received, lo)
	}
	if residual == nil {
		return x
	}
	vec.Add(residual, x)
	return residual
}

// tile returns the elements from lo on, at most a tile.
func (t terms) tile(lo int) (x, residual []float32) {
	hi := min(lo+tile, len(t.x))
	if t.residual != nil {
		residual = t.residual[lo:hi]
	}
	return t.x[lo:hi], residual
}
