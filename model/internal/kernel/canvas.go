package kernel

// canvas is an image with zeros around it and, where steps are above 1, between its
// cells. Cell [i, j] of the image stands at row top+i·stepH and column
// left+j·stepW; cells beyond height and width are left out.
type canvas struct {
	h, w, c       int // of the image
	top, left     int
	stepH, stepW  int
	height, width int
}

// inPlace reports whether the image itself can serve as canvas.
func (v *canvas) inPlace() bool {
	return v.top == 0 && v.left == 0 && v.stepH == 1 && v.stepW == 1 && v.height <= v.h && v.width <= v.w
}

// reserve returns buf, or a new slice, large enough for the canvas.
func (v *canvas) reserve(buf []float32) []float32 {
	if v.inPlace() {
		return buf
	}
	return grow(buf, v.height*v.width*v.c)
}

// clear writes the zeros of the canvas to buf. They stay for all images.
func (v *canvas) clear(buf []float32) {
	if !v.inPlace() {
		clear(buf[:v.height*v.width*v.c])
	}
}

// paint returns the canvas of an image, in buf or in place, and the length of its
// rows in elements.
func (v *canvas) paint(buf, image []float32) (data []float32, wide int) {
	if v.inPlace() {
		return image, v.w * v.c
	}
	wide = v.width * v.c
	for i := range v.h {
		row := v.top + i*v.stepH
		if row >= v.height {
			break
		}
		v.paintRow(buf[row*wide+v.left*v.c:(row+1)*wide], image[i*v.w*v.c:(i+1)*v.w*v.c])
	}
	return buf, wide
}

// paintRow writes a row of the image to dst, which begins at column left and ends
// with the row of the canvas.
func (v *canvas) paintRow(dst, row []float32) {
	if v.stepW == 1 {
		copy(dst, row)
		return
	}
	for j := range v.w {
		if at := j * v.stepW * v.c; at < len(dst) {
			copy(dst[at:], row[j*v.c:(j+1)*v.c])
		}
	}
}
