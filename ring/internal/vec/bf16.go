package vec

import (
	"encoding/binary"
	"math"
)

// PutBF16 writes src as bfloat16, the upper half of a float32, 2 bytes each. A value above the
// largest bfloat16 (3.3895e38) by more than half a unit in the last place becomes an infinity.
// Any NaN becomes 0x7fc0.
func PutBF16(b []byte, src []float32) {
	mustFit(len(b), 2*len(src))
	n := bulk(len(src))
	if n > 0 {
		putBF16AVX2(&b[0], &src[0], n)
	}
	putBF16(b[2*n:], src[n:])
}

// GetBF16 reads the output of PutBF16. It is exact.
func GetBF16(dst []float32, b []byte) {
	mustFit(len(b), 2*len(dst))
	n := bulk(len(dst))
	if n > 0 {
		getBF16AVX2(&dst[0], &b[0], n)
	}
	getBF16(dst[n:], b[2*n:])
}

// AddBF16 adds the output of PutBF16.
func AddBF16(dst []float32, b []byte) {
	mustFit(len(b), 2*len(dst))
	n := bulk(len(dst))
	if n > 0 {
		addBF16AVX2(&dst[0], &b[0], n)
	}
	addBF16(dst[n:], b[2*n:])
}

func putBF16(b []byte, src []float32) {
	for i, v := range src {
		binary.LittleEndian.PutUint16(b[2*i:], toBF16(v))
	}
}

func getBF16(dst []float32, b []byte) {
	for i := range dst {
		dst[i] = fromBF16(binary.LittleEndian.Uint16(b[2*i:]))
	}
}

func addBF16(dst []float32, b []byte) {
	for i := range dst {
		dst[i] += fromBF16(binary.LittleEndian.Uint16(b[2*i:]))
	}
}

func toBF16(v float32) uint16 {
	u := math.Float32bits(v)
	if u&absMask > infinity {
		return 0x7fc0 // rounding could carry a NaN into an infinity or a zero
	}
	return uint16((u + 0x7fff + u>>16&1) >> 16)
}

func fromBF16(h uint16) float32 {
	return math.Float32frombits(uint32(h) << 16)
}
