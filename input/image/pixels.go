package image

import (
	"image"
	"image/color"
	"slices"
)

// appendPixels appends the pixels of m, row by row, of 1 or 3 channels.
func appendPixels(dst []byte, m image.Image, channels int) []byte {
	b := m.Bounds()
	dst = slices.Grow(dst, b.Dx()*b.Dy()*channels)
	switch m := m.(type) {
	case *image.Gray:
		for y := b.Min.Y; y < b.Max.Y; y++ {
			row := m.Pix[m.PixOffset(b.Min.X, y):][:b.Dx()]
			for _, v := range row {
				dst = appendGray(dst, v, channels)
			}
		}
	case *image.YCbCr:
		if channels == 3 {
			return appendYCbCr(dst, m)
		}
		for y := range b.Dy() {
			dst = append(dst, m.Y[y*m.YStride:][:b.Dx()]...)
		}
	case *image.RGBA: // PNG's, opaque
		dst = appendBytes(dst, m.Pix, m.Stride, b, channels)
	case *image.NRGBA:
		dst = appendBytes(dst, m.Pix, m.Stride, b, channels)
	default:
		for y := b.Min.Y; y < b.Max.Y; y++ {
			for x := b.Min.X; x < b.Max.X; x++ {
				c := straight(m.At(x, y))
				dst = appendRGB(dst, c.R, c.G, c.B, channels)
			}
		}
	}
	return dst
}

// straight returns a colour without its transparency.
func straight(c color.Color) color.NRGBA {
	switch c := c.(type) {
	case color.NRGBA:
		return c
	case color.NRGBA64:
		return color.NRGBA{R: uint8(c.R >> 8), G: uint8(c.G >> 8), B: uint8(c.B >> 8)}
	}
	return color.NRGBAModel.Convert(c).(color.NRGBA)
}

// appendBytes appends pixels of four bytes; the last byte is the transparency.
func appendBytes(dst, pix []byte, stride int, b image.Rectangle, channels int) []byte {
	for y := range b.Dy() {
		row := pix[y*stride:][:4*b.Dx()]
		for ; len(row) > 0; row = row[4:] {
			dst = appendRGB(dst, row[0], row[1], row[2], channels)
		}
	}
	return dst
}

func appendGray(dst []byte, v byte, channels int) []byte {
	if channels == 1 {
		return append(dst, v)
	}
	return append(dst, v, v, v)
}

// appendRGB appends a colour or its luma, with weights in units of 2⁻¹⁶, rounded to
// nearest.
func appendRGB(dst []byte, r, g, b byte, channels int) []byte {
	if channels == 3 {
		return append(dst, r, g, b)
	}
	return append(dst, byte((uint32(r)*19595+uint32(g)*38470+uint32(b)*7471+1<<15)>>16))
}
