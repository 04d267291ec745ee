package vec

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// PutF32 writes src as 4 bytes each. All bits are kept, those of NaNs too.
func PutF32(b []byte, src []float32) {
	mustFit(len(b), 4*len(src))
	if !littleEndian() {
		putF32(b, src)
		return
	}
	copy(b, Bytes(src))
}

// GetF32 reads what PutF32 wrote.
func GetF32(dst []float32, b []byte) {
	mustFit(len(b), 4*len(dst))
	if !littleEndian() {
		getF32(dst, b)
		return
	}
	copy(Bytes(dst), b)
}

// AddF32 adds what PutF32 wrote.
func AddF32(dst []float32, b []byte) {
	mustFit(len(b), 4*len(dst))
	n := bulk(len(dst))
	if n > 0 {
		// The assembly takes floats at any address, as the bytes of the wire lie.
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

// littleEndian tells whether this machine's float32 lie in memory as they go
// over the wire. The compiler knows the answer.
func littleEndian() bool {
	x := uint16(1)
	return *(*byte)(unsafe.Pointer(&x)) == 1
}

// Bytes views x as the bytes that it consists of.
func Bytes(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}

// floatsOf views b as the float32 that it consists of, unless b begins where
// no float32 may.
func floatsOf(b []byte) ([]float32, bool) {
	p := unsafe.Pointer(unsafe.SliceData(b))
	if uintptr(p)%unsafe.Alignof(float32(0)) != 0 {
		return nil, false
	}
	return unsafe.Slice((*float32)(p), len(b)/4), true
}
