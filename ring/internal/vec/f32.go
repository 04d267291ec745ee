package vec

import (
	"encoding/binary"
	"math"
	"slices"
	"unsafe"
)

// PutF32 writes src as 4 bytes each. It keeps all bits, also those of NaNs.
func PutF32(b []byte, src []float32) {
	mustFit(len(b), 4*len(src))
	if !littleEndian() {
		putF32(b, src)
		return
	}
	copy(b, Bytes(src))
}

// GetF32 reads the output of PutF32.
func GetF32(dst []float32, b []byte) {
	mustFit(len(b), 4*len(dst))
	if !littleEndian() {
		getF32(dst, b)
		return
	}
	copy(Bytes(dst), b)
}

// AddF32 adds the output of PutF32.
func AddF32(dst []float32, b []byte) {
	mustFit(len(b), 4*len(dst))
	n := bulk(len(dst))
	if n > 0 {
		// The assembly accepts floats at any address, such as the bytes of a frame.
		sumAVX2(&dst[0], &dst[0], (*float32)(unsafe.Pointer(&b[0])), n)
	}
	dst, b = dst[n:], b[4*n:]
	if src, ok := floatsOf(b); ok && littleEndian() {
		sum(dst, dst, src)
		return
	}
	addF32(dst, b)
}

func putF32(b []byte, src []float32) {
	for i, v := range src {
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(v))
	}
}

func getF32(dst []float32, b []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
}

func addF32(dst []float32, b []byte) {
	for i := range dst {
		dst[i] += math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
}

// littleEndian reports whether float32 values in memory have the byte order of the wire. The
// compiler computes it.
func littleEndian() bool {
	x := uint16(1)
	return *(*byte)(unsafe.Pointer(&x)) == 1
}

// Bytes returns the memory of x as bytes, in the byte order of the machine. That is the order of
// the wire: ring.New refuses big-endian machines.
func Bytes(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}

// Resize returns a slice of n elements with unspecified contents. It uses the memory of x if
// that has room.
func Resize[E any](x []E, n int) []E { return slices.Grow(x[:0], n)[:n] }

// floatsOf returns b as float32 values. It returns false if b is not aligned for
// float32.
func floatsOf(b []byte) ([]float32, bool) {
	p := unsafe.Pointer(unsafe.SliceData(b))
	if uintptr(p)%unsafe.Alignof(float32(0)) != 0 {
		return nil, false
	}
	return unsafe.Slice((*float32)(p), len(b)/4), true
}
