package synth

import "math"

// point is a position in a glyph, x to the right and y down, both in [0, 1], or in an
// image in pixels.
type point struct{ x, y float64 }

// glyph returns the corners of the stroke of a digit.
func glyph(digit int) []point {
	return [...][]point{
		{{.5, 0}, {.85, .2}, {.85, .8}, {.5, 1}, {.15, .8}, {.15, .2}, {.5, 0}},
		{{.3, .25}, {.55, 0}, {.55, 1}},
		{{.15, .25}, {.35, 0}, {.7, 0}, {.85, .25}, {.15, 1}, {.9, 1}},
		{{.15, .1}, {.5, 0}, {.85, .2}, {.45, .48}, {.85, .75}, {.5, 1}, {.12, .88}},
		{{.65, 1}, {.65, 0}, {.1, .65}, {.9, .65}},
		{{.85, 0}, {.2, 0}, {.18, .45}, {.6, .4}, {.88, .7}, {.55, 1}, {.12, .9}},
		{{.75, .02}, {.3, .3}, {.15, .7}, {.4, 1}, {.8, .85}, {.8, .6}, {.45, .5}, {.17, .7}},
		{{.1, 0}, {.9, 0}, {.4, 1}},
		{{.5, .47}, {.2, .25}, {.5, 0}, {.8, .25}, {.5, .47}, {.85, .75}, {.5, 1}, {.15, .75}, {.5, .47}},
		{{.83, .35}, {.55, .5}, {.2, .35}, {.25, .1}, {.6, 0}, {.85, .2}, {.7, .7}, {.5, 1}},
	}[digit]
}

// drawDigit draws one image on pixels, which are zero.
func drawDigit(pixels []byte, r source, digit int) {
	const middle = (DigitsSide - 1) / 2.0
	width, height := 12+r.around(2.5), 18+r.around(2.5)
	x0, y0 := middle+r.around(2.5), middle+r.around(2)
	slant, radius, ink := r.around(0.35), 1.2+r.around(0.5), 210+r.around(45)
	var last point
	for i, p := range glyph(digit) {
		up := p.y - 0.5 + r.around(0.05)
		side := p.x - 0.5 + r.around(0.05)
		q := point{y: y0 + float64(height*up)}
		q.x = x0 + float64(width*side) - float64(float64(slant*height)*up)
		if i > 0 {
			drawLine(pixels, last, q, radius, ink)
		}
		last = q
	}
	for i, p := range pixels {
		if noise := r.unit(); noise < 0.1 { // specks of any grey
			pixels[i] = max(p, byte(noise*1200))
		}
	}
}

// drawLine darkens the pixels within radius of the line from a to b, with a soft edge of
// one pixel.
func drawLine(pixels []byte, a, b point, radius, ink float64) {
	reach := radius + 1
	left, right := span(a.x, b.x, reach)
	top, bottom := span(a.y, b.y, reach)
	for y := top; y <= bottom; y++ {
		for x := left; x <= right; x++ {
			edge := radius + 0.5 - distance(point{float64(x), float64(y)}, a, b)
			v := byte(ink * min(max(edge, 0), 1))
			at := y*DigitsSide + x
			pixels[at] = max(pixels[at], v)
		}
	}
}

// span returns the pixels between u and v or within reach of them.
func span(u, v, reach float64) (first, last int) {
	first = int(math.Ceil(min(u, v) - reach))
	last = int(math.Floor(max(u, v) + reach))
	return max(first, 0), min(last, DigitsSide-1)
}

// distance returns the distance of p from the line from a to b.
func distance(p, a, b point) float64 {
	dx, dy, px, py := b.x-a.x, b.y-a.y, p.x-a.x, p.y-a.y
	along := 0.0
	if length := float64(dx*dx) + float64(dy*dy); length > 0 {
		along = min(max((float64(px*dx)+float64(py*dy))/length, 0), 1)
	}
	ex, ey := px-float64(along*dx), py-float64(along*dy)
	return math.Sqrt(float64(ex*ex) + float64(ey*ey))
}
