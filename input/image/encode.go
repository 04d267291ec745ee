package image

import (
	"fmt"
	"image"
	"image/png"
	"io"
)

// Encode writes a record of a shape as PNG. A Dataset of that shape reads the same
// record from it, to the bit. Values must be the levels 0 to 255 divided by 255; other
// values are an error.
func Encode(w io.Writer, record []float32, s Shape) error {
	if len(record) != s.Pixels() || s.Channels != 1 && s.Channels != 3 {
		panic("image: Encode: record and shape differ")
	}
	levels := make([]byte, len(record))
	for i, v := range record {
		level := v*255 + 0.5
		if !(level >= 0 && level < 256) || float32(byte(level))/255 != v {
			return fmt.Errorf("value %d is %v, want a multiple of 1/255 from 0 to 1", i, v)
		}
		levels[i] = byte(level)
	}
	bounds := image.Rect(0, 0, s.Width, s.Height)
	if s.Channels == 1 {
		return png.Encode(w, &image.Gray{Pix: levels, Stride: s.Width, Rect: bounds})
	}
	m := image.NewNRGBA(bounds)
	for i := 0; i < len(levels); i += 3 {
		copy(m.Pix[i/3*4:], levels[i:i+3])
		m.Pix[i/3*4+3] = 255
	}
	return png.Encode(w, m)
}
