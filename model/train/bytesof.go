package train

import "unsafe"

// bytesOf views values as their little-endian bytes. ring.New refuses to run
// on a big-endian machine.
func bytesOf(values []float32) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), 4*len(values))
}
