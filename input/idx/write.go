package idx

import (
	"encoding/binary"
	"fmt"
	"math"

	"ringtrain/input"
)

// WriteImages writes consecutive images of the given shape from pixels. The file is gzip
// if its name ends in .gz, and appears complete or not at all. WriteImages panics if the
// length of pixels does not match the shape.
func WriteImages(name string, overwrite bool, pixels []byte, shape ...int) error {
	each := 1
	for _, d := range shape {
		each *= d
	}
	if each <= 0 || len(pixels)%each != 0 {
		panic("idx: pixels do not match the shape of an image")
	}
	return write(name, overwrite, pixels, append([]int{len(pixels) / each}, shape...))
}

// WriteLabels writes labels of one byte each, as WriteImages does.
func WriteLabels(name string, overwrite bool, labels []byte) error {
	return write(name, overwrite, labels, []int{len(labels)})
}

func write(name string, overwrite bool, payload []byte, dims []int) error {
	head := []byte{0, 0, byte(kindUint8), byte(len(dims))}
	for _, d := range dims {
		if d < 0 || d > math.MaxUint32 {
			panic("idx: size does not fit 32 bits")
		}
		head = binary.BigEndian.AppendUint32(head, uint32(d))
	}
	o, err := input.Create(name, overwrite)
	if err != nil {
		return fmt.Errorf("idx: %w", err)
	}
	defer o.Close()
	for _, part := range [][]byte{head, payload} {
		if _, err := o.Write(part); err != nil {
			return fmt.Errorf("idx: %w", err)
		}
	}
	return o.Commit()
}
