package codec

import "ringtrain/ring/internal/vec"

// BF16 keeps the upper half of each float32, rounded to nearest, ties to even:
// the full range, with 8 bits of precision (relative error at most 2⁻⁸).
//
//	0        2        4               2n
//	┌────────┬────────┬───┬──────────┐
//	│  x[0]  │  x[1]  │ … │  x[n-1]  │   bfloat16, little-endian
//	└────────┴────────┴───┴──────────┘
//
// Infinities stay, any NaN becomes 0x7fc0, and the last half unit below 2¹²⁸
// rounds to an infinity.
//
// The error is at most half a unit in the last place: 2⁻⁸ of the value.
var BF16 Codec = &Format{
	name: "bf16", id: 1, unit: 0x1p-8,
	size: func(n int) int { return 2 * n },
	put:  func(payload []byte, lo int, src []float32) { vec.PutBF16(span(payload, 2, lo, src), src) },
	get:  func(dst []float32, payload []byte, lo int) { vec.GetBF16(dst, span(payload, 2, lo, dst)) },
	add:  func(dst []float32, payload []byte, lo int) { vec.AddBF16(dst, span(payload, 2, lo, dst)) },
}
