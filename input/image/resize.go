package image

import (
	"math"
	"slices"
)

// weightBits is the number of fractional bits of a weight: sums of 255 times weights
// with sum 1 fit an int32.
const weightBits = 22

// taps has, for each output pixel of a side, its source pixels and their weights.
type taps struct {
	first   []int32 // pixel of the first weight
	ends    []int32 // end of the weights in weights
	weights []int32
}

// set computes the taps that resize a side of size pixels to the span.
//
// The centre of output pixel i is (i + ½)·size/out. Source pixel x has the weight max(0,
// 1 − |x + ½ − centre|/r), r = max(1, size/out), divided by the sum of the weights.
func (t *taps) set(size int, out span) {
	t.first, t.ends, t.weights = t.first[:0], t.ends[:0], t.weights[:0]
	scale := float64(size) / float64(out.size)
	reach := max(scale, 1)
	for i := range out.count {
		centre := float64((float64(out.from+i) + 0.5) * scale)
		from := max(int(centre-reach+0.5), 0)
		to := min(int(centre+reach+0.5), size)
		sum := 0.0
		for x := from; x < to; x++ {
			sum += weight(x, centre, reach)
		}
		inverse := 1 / sum
		t.first = append(t.first, int32(from))
		for x := from; x < to; x++ {
			w := float64(weight(x, centre, reach) * inverse)
			t.weights = append(t.weights, int32(math.Floor(float64(w*(1<<weightBits))+0.5)))
		}
		t.ends = append(t.ends, int32(len(t.weights)))
	}
}

func weight(x int, centre, reach float64) float64 {
	return max(0, 1-math.Abs((float64(x)-centre+0.5)*(1/reach)))
}

// of returns the first source pixel and the weights of output pixel i.
func (t *taps) of(i int) (first int, weights []int32) {
	begin := int32(0)
	if i > 0 {
		begin = t.ends[i-1]
	}
	return int(t.first[i]), t.weights[begin:t.ends[i]]
}

// resizer resizes images to a shape. It reuses its memory.
type resizer struct {
	across, down taps
	middle       []byte // result of the first pass
}

// resize resizes pix, of w × h pixels, to dst, horizontally and then vertically. dst has
// the size of the shape.
func (r *resizer) resize(dst, pix []byte, w, h int, s Shape, resize int) {
	across, down := fit(w, h, s, resize)
	r.across.set(w, across)
	r.down.set(h, down)
	top, _ := r.down.of(0)
	last, weights := r.down.of(s.Height - 1)
	rows, row := last+len(weights)-top, s.Width*s.Channels
	r.middle = slices.Grow(r.middle[:0], rows*row)[:rows*row]
	for y := range rows {
		r.spread(r.middle[y*row:(y+1)*row], pix[(top+y)*w*s.Channels:], s)
	}
	for y := range s.Height {
		first, weights := r.down.of(y)
		from := (first - top) * row
		for i := range row {
			sum := int32(1 << (weightBits - 1))
			for k, v := range weights {
				sum += int32(r.middle[from+k*row+i]) * v
			}
			dst[y*row+i] = level(sum)
		}
	}
}

// spread resizes one row.
func (r *resizer) spread(dst, pix []byte, s Shape) {
	for x := range s.Width {
		first, weights := r.across.of(x)
		for c := range s.Channels {
			sum := int32(1 << (weightBits - 1))
			for k, v := range weights {
				sum += int32(pix[(first+k)*s.Channels+c]) * v
			}
			dst[x*s.Channels+c] = level(sum)
		}
	}
}

// level rounds a sum to a byte.
func level(sum int32) byte { return clamp(sum >> weightBits) }
