package kernel

// canvas is an image with a border of zeros. The image begins at row top and column
// left; parts beyond height and width are cut off.
type canvas struct {
	h, w, c       int // size of the image
	top, left     int
	height, width int
}

// inPlace reports whether the image itself can serve as the canvas.
func (v *canvas) inPlace() bool {
	return v.top == 0 && v.left == 0 && v.height <= v.h && v.width <= v.w
}

// reserve returns buf, or a new slice, large enough for the canvas.
func (v *canvas) reserve(buf []float32) []float32 {
	if v.inPlace() {
		return buf
	}
	return grow(buf, v.height*v.width*v.c)
}

// clear writes the zeros of the canvas to buf. They remain valid for all images.
func (v *canvas) clear(buf []float32) {
	if !v.inPlace() {
		clear(buf[:v.height*v.width*v.c])
	}
}

// paint returns the canvas of an image, in buf or in place, and its row length in
// elements.
func (v *canvas) paint(buf, image []float32) (data []float32, wide int) {
	if v.inPlace() {
		return image, v.w * v.c
	}
	wide = v.width * v.c
	for i := range min(v.h, v.height-v.top) {
		row := (v.top + i) * wide
		copy(buf[row+v.left*v.c:row+wide], image[i*v.w*v.c:(i+1)*v.w*v.c])
	}
	return buf, wide
}
