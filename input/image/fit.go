package image

// Shape is that of a record.
type Shape struct{ Height, Width, Channels int }

// Pixels is the number of values of a record.
func (s Shape) Pixels() int { return s.Height * s.Width * s.Channels }

// span is a part of a side: the pixels [from, from+count) of a side of size pixels.
type span struct{ size, from, count int }

// fit returns what is made of an image of w × h pixels: the size that it is brought to,
// and the part of it that is kept.
func fit(w, h int, s Shape, resize int) (across, down span) {
	rw, rh := 0, 0
	switch {
	case resize > 0 && w <= h:
		rw, rh = resize, longer(h, w, resize)
	case resize > 0:
		rw, rh = longer(w, h, resize), resize
	case int64(s.Width)*int64(h) >= int64(s.Height)*int64(w): // the width decides
		rw, rh = s.Width, max(longer(h, w, s.Width), s.Height)
	default:
		rw, rh = max(longer(w, h, s.Height), s.Width), s.Height
	}
	return span{rw, (rw - s.Width) / 2, s.Width}, span{rh, (rh - s.Height) / 2, s.Height}
}

// longer is the length of a side where another one, of so many pixels, becomes to.
func longer(side, other, to int) int { return int(int64(side) * int64(to) / int64(other)) }
