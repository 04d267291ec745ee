package image

import (
	"image"
	"image/color"
)

// chroma interpolates the chroma of a JPEG of half the width or height as libjpeg does (jdsample.c,
// "fancy upsampling"): with the weights 3 and 1 of the nearest pixel and the next one in each direction.
// Pixels of other ratios, and of one or two columns, are repeated.
//
// Levels are in 64ths, a quarter of the way from libjpeg's rounded level to the exact one. Go's
// inverse transform differs from libjpeg's by a level here and there. Where this moves a sum over
// the edge of a rounding, the result moves by less than a level.
type chroma struct {
	m            *image.YCbCr
	across, down int // 1: there is half the width, or height
	bias         [2]int32
	sums         []int32 // of a row of chroma, with the row beside it
}

func newChroma(m *image.YCbCr) *chroma {
	c := &chroma{m: m, bias: [2]int32{4, 8}}
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio422:
		c.across = 1
	case image.YCbCrSubsampleRatio420:
		c.across, c.down, c.bias = 1, 1, [2]int32{8, 7}
	case image.YCbCrSubsampleRatio440:
		c.down = 1
	}
	columns := (m.Rect.Dx() + c.across) >> c.across
	if c.across == 1 && columns <= 2 {
		c.across, c.down = 0, 0
	}
	c.sums = make([]int32, columns)
	return c
}

// row sets dst to row y of a plane.
func (c *chroma) row(dst []int32, plane []byte, y int) {
	if c.across+c.down == 0 {
		for x := range dst {
			dst[x] = 64 * int32(plane[c.m.COffset(x, y)])
		}
		return
	}
	last := (c.m.Rect.Dy()+c.down)>>c.down - 1
	near, far := plane[(y>>c.down)*c.m.CStride:], plane[beside(y, c.down, last)*c.m.CStride:]
	for x := range c.sums {
		c.sums[x] = 3*int32(near[x]) + int32(far[x])
	}
	last = len(c.sums) - 1
	for x := range dst {
		sum := 3*c.sums[x>>c.across] + c.sums[beside(x, c.across, last)]
		odd := x & 1
		if c.across == 0 {
			odd = y & 1
		}
		dst[x] = 48*((sum+c.bias[odd])>>4) + sum
	}
}

// beside returns the pixel of chroma next to that of pixel i of the image, of halves: before it for
// an even i, behind it for an odd one. Without halves it is that of i.
func beside(i, halves, last int) int {
	return min(max(i>>halves+halves*(2*(i&1)-1), 0), last)
}

// appendYCbCr appends the pixels of a JPEG.
func appendYCbCr(dst []byte, m *image.YCbCr) []byte {
	c, w := newChroma(m), m.Rect.Dx()
	blue, red := make([]int32, w), make([]int32, w)
	for y := range m.Rect.Dy() {
		c.row(blue, m.Cb, y)
		c.row(red, m.Cr, y)
		for x, luma := range m.Y[y*m.YStride:][:w] {
			var r, g, b byte
			if m.SubsampleRatio == image.YCbCrSubsampleRatio444 {
				r, g, b = color.YCbCrToRGB(luma, byte(blue[x]/64), byte(red[x]/64))
			} else {
				r, g, b = toRGB(int32(luma), blue[x]-64*128, red[x]-64*128)
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
