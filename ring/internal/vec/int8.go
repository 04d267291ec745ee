package vec

import "math"

// PutInt8 writes src[i]·inv, rounded to the nearest integer, ties to even, as one byte each in
// two's complement. |src[i]·inv| must be below 127.5; otherwise the code is
// undefined.
func PutInt8(b []byte, src []float32, inv float32) {
	mustFit(len(b), len(src))
	n := bulk(len(src))
	if n > 0 {
		putInt8AVX2(&b[0], &src[0], n, inv)
	}
	putInt8(b[n:], src[n:], inv)
}

// GetInt8 computes dst[i] = b[i]·scale.
func GetInt8(dst []float32, b []byte, scale float32) {
	mustFit(len(b), len(dst))
	n := bulk(len(dst))
	if n > 0 {
		getInt8AVX2(&dst[0], &b[0], n, scale)
	}
	getInt8(dst[n:], b[n:], scale)
}

// AddInt8 computes dst[i] += b[i]·scale. It rounds product and sum
// separately.
func AddInt8(dst []float32, b []byte, scale float32) {
	mustFit(len(b), len(dst))
	n := bulk(len(dst))
	if n > 0 {
		addInt8AVX2(&dst[0], &b[0], n, scale)
	}
	addInt8(dst[n:], b[n:], scale)
}

func putInt8(b []byte, src []float32, inv float32) {
	// In 1.5·2^23 + v the unit in the last place is 1: the addition rounds, and the
	// low byte is the code.
	const round = 3 << 22
	for i, v := range src {
		b[i] = byte(math.Float32bits(float32(v*inv) + round))
	}
}

func getInt8(dst []float32, b []byte, scale float32) {
	for i, q := range b {
		dst[i] = float32(int8(q)) * scale
	}
}

func addInt8(dst []float32, b []byte, scale float32) {
	for i, q := range b {
		dst[i] += float32(float32(int8(q)) * scale)
	}
}
