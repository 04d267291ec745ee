package codec

import (
	"fmt"

	"ringtrain/ring/internal/vec"
)

// Int8 writes blocks of 256 elements (the last may be shorter), each as 8-bit codes with one
// scale. The absolute error in a block is at most max|x|/254. The payload has 3.94 times fewer
// bytes than float32.
//
//	0          4              4m         4m+1                4m+n
//	┌──────────┬───┬──────────┬──────────┬───┬──────────────┐
//	│ scale[0] │ … │scale[m-1]│ code[0]  │ … │  code[n-1]   │   m = ⌈n/256⌉
//	└──────────┴───┴──────────┴──────────┴───┴──────────────┘
//	 float32, little-endian    two's complement, -127 to 127
//
// For a block with m = max|x|, in float32 arithmetic:
//
//	code  ← round(x · (127/m)), ties to even
//	scale ← m/127
//	x     ← code · scale
//
// A block with m < 1e-30 becomes scale 0 and codes 0. Residuals of weights without gradient
// shrink into subnormals, for which 127/m is infinite, and one 0·∞ would make the whole model
// NaN. A block with an infinity or a NaN becomes the scale NaN (0x7fc00000) and codes 0. All of
// it decodes to NaN, on every machine alike. All scales come before all codes, since a
// lossless compressor compresses bytes of one kind better.
//
// Codes are multiples of m/127: half of that is m/254. The scale, its inverse, the product with
// that and the product with the scale are rounded to float32, each by 2⁻²⁴ of m at most: together
// 4 · 254 · 2⁻²⁴ < 2⁻¹³ of m/254.
var Int8 Codec = &Format{
	name: "int8", id: 3, unit: (1 + 0x1p-13) / 254,
	size: func(n int) int { return 4*((n+int8Block-1)/int8Block) + n },
	bad: func(payload []byte) error {
		scales, _ := int8Split(payload, 0)
		for b := 0; 4*b < len(scales); b++ {
			if err := int8Check(scales[4*b:]); err != nil {
				return fmt.Errorf("codec int8: scale of block %d is %w", b, err)
			}
		}
		return nil
	},
	put: int8Put, get: int8Get, add: int8Add,
}

const int8Block = 256

func int8Put(payload []byte, lo int, src []float32) {
	scales, codes := int8Split(payload, lo)
	// All maxima first: each block's codes would otherwise wait for its maximum.
	for b := 0; b*int8Block < len(src); b++ {
		block := src[b*int8Block : min((b+1)*int8Block, len(src))]
		putFloat(scales[4*b:], vec.AbsMax(block))
	}
	for len(src) > 0 {
		n := min(int8Block, len(src))
		m := getFloat(scales)
		s := int8Scale(m)
		putFloat(scales, s)
		int8Encode(codes[:n], src[:n], s, 127/m)
		scales, codes, src = scales[4:], codes[n:], src[n:]
	}
}

func int8Get(dst []float32, payload []byte, lo int) {
	scales, codes := int8Split(payload, lo)
	for len(dst) > 0 {
		n := min(int8Block, len(dst))
		vec.GetInt8(dst[:n], codes[:n], getFloat(scales))
		scales, codes, dst = scales[4:], codes[n:], dst[n:]
	}
}

func int8Add(dst []float32, payload []byte, lo int) {
	scales, codes := int8Split(payload, lo)
	for len(dst) > 0 {
		n := min(int8Block, len(dst))
		vec.AddInt8(dst[:n], codes[:n], getFloat(scales))
		scales, codes, dst = scales[4:], codes[n:], dst[n:]
	}
}

// int8Split returns the scales and the codes from element lo on, the first of a block. Each block
// has a scale and 256 codes; only the last may have fewer codes.
func int8Split(payload []byte, lo int) (scales, codes []byte) {
	blocks := (len(payload) + 4 + int8Block - 1) / (4 + int8Block)
	return payload[4*(lo/int8Block) : 4*blocks], payload[4*blocks+lo:]
}
