package codec

import "ringtrain/ring/internal/vec"

// tile is the number of elements that are worked on at a time. Those of x and
// of the residual take 16 KiB, their bytes 8 KiB at most in each direction: all
// of it stays in a first-level cache of 32 KiB. It is a multiple of every
// codec's block.
const tile = 2048

// terms are what is summed before it is encoded.
type terms struct {
	x        []float32
	residual []float32 // nil: none
	received []byte    // a payload that was checked; nil: none
}

// encode appends the encoded sum of t. With keep, t.x becomes what the bytes
// decode to, and t.residual what was lost; without, there must be no residual.
// It changes nothing else: with x as the only term and no keep, it only reads.
func (c dense) encode(dst []byte, t terms, keep bool) []byte {
	if t.residual != nil && len(t.residual) != len(t.x) {
		panic("codec: residual is not of x's length")
	}
	dst, payload := extend(dst, c.EncodedLen(len(t.x)))
	s, whole := c.layout.(scaler)
	if whole {
		s.scale(payload, c.largest(t))
	}
	for lo := 0; lo < len(t.x); lo += tile {
		if !whole {
			c.sum(t, lo)
		}
		x, residual := t.tile(lo)
		if residual == nil {
			c.put(payload, lo, x)
		} else {
			c.put(payload, lo, residual)
		}
		if keep {
			c.get(x, payload, lo)
		}
		if residual != nil {
			vec.Subtract(residual, x)
		}
	}
	return dst
}

// largest sums all of t and returns the largest magnitude.
func (c dense) largest(t terms) float32 {
	var m float32
	for lo := 0; lo < len(t.x); lo += tile {
		m = max(m, vec.AbsMax(c.sum(t, lo))) // a NaN stays
	}
	return m
}

// sum sums one tile of t, in x, or if there is a residual in that: x will be
// decoded over, and the sum is needed after that to tell what was lost.
func (c dense) sum(t terms, lo int) []float32 {
	x, residual := t.tile(lo)
	if t.received != nil {
		c.add(x, t.received, lo)
	}
	if residual == nil {
		return x
	}
	vec.Add(residual, x)
	return residual
}

// tile returns the elements from lo on, a tile of them at most.
func (t terms) tile(lo int) (x, residual []float32) {
	hi := min(lo+tile, len(t.x))
	if t.residual != nil {
		residual = t.residual[lo:hi]
	}
	return t.x[lo:hi], residual
}
