package image

import (
	"image"
	"image/color"
)

// chroma interpolates the chroma of a JPEG of half the width or height as libjpeg does: with
// the weights 3 and 1 of the nearest pixel and the next one of each direction.
//
// Levels are in 64ths, a quarter of the way from libjpeg's rounded level to the exact one. Go's
// inverse transform differs from libjpeg's by a level here and there. Where this moves a sum over
// the edge of a rounding, the result moves by less than a level.
type chroma struct {
	across, down bool
	columns      int // of a plane of chroma
	rows         int
	sums         []uint16 // of a row: of both rows that count, if down
}

// newChroma returns the chroma of m. ok is false if libjpeg repeats its pixels: it has no
// filter for quarters, and none for one or two columns.
func newChroma(m *image.YCbCr) (c chroma, ok bool) {
	c = chroma{columns: m.Rect.Dx(), rows: m.Rect.Dy()}
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio422:
		c.across = true
	case image.YCbCrSubsampleRatio420:
		c.across, c.down = true, true
	case image.YCbCrSubsampleRatio440:
		c.down = true
	}
	if c.across {
		c.columns = (c.columns + 1) / 2
	}
	if c.down {
		c.rows = (c.rows + 1) / 2
	}
	if c.across && c.columns <= 2 {
		return c, false
	}
	c.sums = make([]uint16, c.columns)
	return c, c.across || c.down
}

// row sets dst to row y of the image, in 64ths. dst has room for an even number of pixels.
//
// The filter is of libjpeg's jdsample.c: h2v1_fancy_upsample, h2v2_fancy_upsample and
// h1v2_fancy_upsample, whose sums are rounded up and down in turn.
func (c *chroma) row(dst []int32, plane []byte, stride, y int) {
	sums := c.sums
	if !c.down {
		for x, v := range plane[y*stride:][:c.columns] {
			sums[x] = uint16(v)
		}
		c.spread(dst, 1, 2, 2)
		return
	}
	beside := min(max(y/2+y%2*2-1, 0), c.rows-1)
	near, far := plane[y/2*stride:][:c.columns], plane[beside*stride:][:c.columns]
	for x, v := range near {
		sums[x] = 3*uint16(v) + uint16(far[x])
	}
	if c.across {
		c.spread(dst, 8, 7, 4)
		return
	}
	for x, v := range sums {
		dst[x] = soften(v, 1+uint16(y%2), 2)
	}
}

// spread makes two pixels of each sum, each with a rounding of its own.
func (c *chroma) spread(dst []int32, left, right uint16, shift int) {
	sums := c.sums
	last := len(sums) - 1
	before := sums[0]
	for x, v := range sums {
		next := sums[min(x+1, last)]
		dst[2*x] = soften(3*v+before, left, shift)
		dst[2*x+1] = soften(3*v+next, right, shift)
		before = v
	}
}

// soften returns a sum of 2^shift parts of a level in 64ths. libjpeg adds bias and cuts the parts off.
func soften(sum, bias uint16, shift int) int32 {
	return 48*int32((sum+bias)>>shift) + int32(sum)<<(4-shift)
}

// appendYCbCr appends the pixels of a JPEG.
func appendYCbCr(dst []byte, m *image.YCbCr) []byte {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	full := m.SubsampleRatio == image.YCbCrSubsampleRatio444
	smooth, ok := newChroma(m)
	row := make([]int32, 2*(w+1))
	blue, red := row[:w+1], row[w+1:]
	for y := range h {
		luma := m.Y[y*m.YStride:][:w]
		if ok {
			smooth.row(blue, m.Cb, m.CStride, y)
			smooth.row(red, m.Cr, m.CStride, y)
		} else {
			for x := range w {
				at := m.COffset(m.Rect.Min.X+x, m.Rect.Min.Y+y)
				blue[x], red[x] = 64*int32(m.Cb[at]), 64*int32(m.Cr[at])
			}
		}
		for x, v := range luma {
			var r, g, b byte
			if full {
				r, g, b = color.YCbCrToRGB(v, byte(blue[x]/64), byte(red[x]/64))
			} else {
				r, g, b = toRGB(int32(v), blue[x]-64*128, red[x]-64*128)
			}
			dst = append(dst, r, g, b)
		}
	}
	return dst
}

// toRGB is the conversion of libjpeg's jdcolor.c, of chroma in 64ths, rounded to nearest.
func toRGB(luma, blue, red int32) (r, g, b byte) {
	const half = 1 << 21
	r = clamp(luma + (91881*red+half)>>22)
	g = clamp(luma + (-22554*blue-46802*red+half)>>22)
	b = clamp(luma + (116130*blue+half)>>22)
	return r, g, b
}

func clamp(v int32) byte { return byte(min(max(v, 0), 255)) }
