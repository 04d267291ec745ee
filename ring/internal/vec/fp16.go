package vec

import (
	"encoding/binary"
	"math"
)

// PutFP16 writes src[i]·scale as IEEE 754 binary16, 2 bytes each. A product that rounds to 65520
// or more becomes an infinity. Any NaN becomes 0x7e00. The product is rounded to float32
// first, which changes nothing if scale is a power of two.
func PutFP16(b []byte, src []float32, scale float32) {
	mustFit(len(b), 2*len(src))
	n := bulk(len(src))
	if n > 0 {
		putFP16AVX2(&b[0], &src[0], n, scale)
	}
	putFP16(b[2*n:], src[n:], scale)
}

// GetFP16 reads the output of PutFP16, times scale.
func GetFP16(dst []float32, b []byte, scale float32) {
	mustFit(len(b), 2*len(dst))
	n := bulk(len(dst))
	if n > 0 {
		getFP16AVX2(&dst[0], &b[0], n, scale)
	}
	getFP16(dst[n:], b[2*n:], scale)
}

// AddFP16 adds the output of PutFP16, times scale. It rounds product and sum
// separately.
func AddFP16(dst []float32, b []byte, scale float32) {
	mustFit(len(b), 2*len(dst))
	n := bulk(len(dst))
	if n > 0 {
		addFP16AVX2(&dst[0], &b[0], n, scale)
	}
	addFP16(dst[n:], b[2*n:], scale)
}

func putFP16(b []byte, src []float32, scale float32) {
	for i, v := range src {
		binary.LittleEndian.PutUint16(b[2*i:], toFP16(float32(v*scale)))
	}
}

func getFP16(dst []float32, b []byte, scale float32) {
	for i := range dst {
		dst[i] = fromFP16(binary.LittleEndian.Uint16(b[2*i:])) * scale
	}
}

func addFP16(dst []float32, b []byte, scale float32) {
	for i := range dst {
		dst[i] += float32(fromFP16(binary.LittleEndian.Uint16(b[2*i:])) * scale)
	}
}

// toFP16 follows Marat Dukhan's library FP16 (MIT), in which float32 arithmetic does the
// rounding. It has few branches: in a gradient, zeros and other numbers alternate too irregularly
// for branch prediction.
func toFP16(v float32) uint16 {
	u := math.Float32bits(v)
	// A value that is too large for a binary16 becomes an infinity here.
	const up, down = 0x1p112, 0x1p-110
	f := float32(float32(math.Float32frombits(u&absMask)*up) * down)
	// The sum with 2^15 times the power of two in v, at least 2^-1, has its unit in
	// the last place where the binary16 of v, times 4, has it.
	const least = (127 - 14) << 23 // bits of 2^-14: below, a binary16 is subnormal
	f += math.Float32frombits(max(u&infinity, least) + 15<<23)
	if u&absMask > infinity {
		return 0x7e00
	}
	// The exponent of the sum is that of the binary16. The mantissa may carry into
	// it.
	r := math.Float32bits(f)
	return uint16(u>>16&0x8000 + r>>13&0x7c00 + r&0x0fff)
}

func fromFP16(h uint16) float32 {
	sign, u := uint32(h&0x8000)<<16, uint32(h&0x7fff)
	// Exponents are 112 too large, so that 31 becomes that of infinities and NaNs.
	f := math.Float32frombits(u<<13+224<<23) * 0x1p-112
	// A subnormal is an integer times 2^-24, the unit in the last place of 1/2.
	const half = 126 << 23
	if u < 1<<10 {
		f = math.Float32frombits(u|half) - 0.5
	}
	return math.Float32frombits(math.Float32bits(f) | sign)
}
