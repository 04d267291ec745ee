package kernel

// canvas is an image with a border of zeros. The image begins at row top and column
// left; parts beyond height and width are cut off.
type canvas struct {
	h, w, c       int // size of the image
	top, left     int
	height, width int
}

// inPlace reports whether the image itself can serve as the canvas.
func (c *canvas) inPlace() bool {
	return c.top == 0 && c.left == 0 && c.height <= c.h && c.width <= c.w
}

// reserve returns buf, or a new slice, large enough for the canvas.
func (c *canvas) reserve(buf []float32) []float32 {
	if c.inPlace() {
		return buf
	}
	return grow(buf, c.height*c.width*c.c)
}

// clear writes the zeros of the canvas to buf. They remain valid for all images.
func (c *canvas) clear(buf []float32) {
	if !c.inPlace() {
		clear(buf[:c.height*c.width*c.c])
	}
}

// paint returns the canvas of an image, in buf or in place, and its row length in
// elements.
func (c *canvas) paint(buf, image []float32) (data []float32, wide int) {
	if c.inPlace() {
		return image, c.w * c.c
	}
	wide = c.width * c.c
	for i := range min(c.h, c.height-c.top) {
		row := (c.top + i) * wide
		copy(buf[row+c.left*c.c:row+wide], image[i*c.w*c.c:(i+1)*c.w*c.c])
	}
	return buf, wide
}
