package image

// Shape is the shape of a record.
type Shape struct{ Height, Width, Channels int }

// Pixels returns the number of values of a record.
func (s Shape) Pixels() int { return s.Height * s.Width * s.Channels }

// span is a part of a side: the pixels [from, from+count) of size pixels.
type span struct{ size, from, count int }

// fit returns the size to which an image of w × h pixels is resized, and the part of it
// that is kept.
func fit(w, h int, s Shape, resize int) (across, down span) {
	rw, rh := 0, 0
	switch {
	case resize > 0 && w <= h:
		rw, rh = resize, longer(h, w, resize)
	case resize > 0:
		rw, rh = longer(w, h, resize), resize
	case int64(s.Width)*int64(h) >= int64(s.Height)*int64(w): // the width limits
		rw, rh = s.Width, max(longer(h, w, s.Width), s.Height)
	default:
		rw, rh = max(longer(w, h, s.Height), s.Width), s.Height
	}
	return span{rw, (rw - s.Width) / 2, s.Width}, span{rh, (rh - s.Height) / 2, s.Height}
}

// longer returns the length of side after other, a number of pixels, was resized to to.
func longer(side, other, to int) int { return int(int64(side) * int64(to) / int64(other)) }
