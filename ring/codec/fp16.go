package codec

import (
	"encoding/binary"
	"fmt"
	"math"

	"ringtrain/ring/internal/vec"
)

// FP16 writes x·2ᵏ as IEEE 754 binary16, rounded to nearest, ties to even. It has 11 bits of
// precision (relative error at most 2⁻¹¹) for the elements within 2²⁸ of the largest, and an
// absolute error below that.
//
//	0        2        4        6               2+2n
//	┌────────┬────────┬────────┬───┬──────────┐
//	│   k    │  x[0]  │  x[1]  │ … │  x[n-1]  │   int16, then binary16; little-endian
//	└────────┴────────┴────────┴───┴──────────┘
//
// Each payload has its own scale
//
//	k = 14 - ⌈log₂ max|x|⌉, clamped to [-100, 100]
//
// so that the largest element is in (2¹³, 2¹⁴]; k is 100 if all elements are zero. The clamp
// keeps 2ᵏ and 2⁻ᵏ normal numbers: decoding is exact, and only encoding rounds. It also makes
// elements from 2¹¹⁶ on infinities. An infinity or a NaN among the elements gives k = -100,
// which flushes ordinary elements to zero but keeps the infinity and the NaN (as 0x7e00).
//
// The error is at most half a unit in the last place, 2⁻¹¹ of the value; elements that become
// subnormal are off by less, against the largest.
var FP16 Codec = &Format{
	name: "fp16", id: 2, unit: 0x1p-11,
	size: func(n int) int { return 2 + 2*n },
	bad: func(payload []byte) error {
		if k := fp16K(payload); k < -fp16MaxScale || k > fp16MaxScale {
			return fmt.Errorf("codec fp16: k is %d, want -%d to %d", k, fp16MaxScale, fp16MaxScale)
		}
		return nil
	},
	scale: func(payload []byte, m float32) { binary.LittleEndian.PutUint16(payload, uint16(fp16Scale(m))) },
	put: func(payload []byte, lo int, src []float32) {
		vec.PutFP16(span(payload[2:], 2, lo, src), src, pow2(fp16K(payload)))
	},
	get: func(dst []float32, payload []byte, lo int) {
		vec.GetFP16(dst, span(payload[2:], 2, lo, dst), pow2(-fp16K(payload)))
	},
	add: func(dst []float32, payload []byte, lo int) {
		vec.AddFP16(dst, span(payload[2:], 2, lo, dst), pow2(-fp16K(payload)))
	},
}

const fp16MaxScale = 100 // bound of |k|

// fp16K returns the k of a payload.
func fp16K(payload []byte) int { return int(int16(binary.LittleEndian.Uint16(payload))) }

// fp16Scale returns k for a largest magnitude of m.
func fp16Scale(m float32) int {
	u := math.Float32bits(m)
	ceil := int(u>>23) - 127 // of zero and subnormals: low enough for the clamp
	if u<<9 != 0 {
		ceil++
	}
	return min(max(14-ceil, -fp16MaxScale), fp16MaxScale)
}

// pow2 returns 2ᵏ for the k of normal numbers.
func pow2(k int) float32 { return math.Float32frombits(uint32(127+k) << 23) }
