// Package pixel turns the bytes of images into numbers from 0 to 1.
package pixel

// Unit writes src[i]/255, rounded once, to dst[i]. dst has the length of src.
func Unit(dst []float32, src []byte) {
	if len(dst) != len(src) {
		panic("pixel: Unit: slices of different lengths")
	}
	n := assembly(dst, src)
	unit(dst[n:], src[n:])
}

// unit defines the result of Unit.
func unit(dst []float32, src []byte) {
	for i, v := range src {
		dst[i] = float32(v) / 255
	}
}
