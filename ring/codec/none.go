package codec

import "ringtrain/ring/internal/vec"

// None is the exact codec: each element is its 4 bytes.
//
//	0        4        8               4n
//	┌────────┬────────┬───┬──────────┐
//	│  x[0]  │  x[1]  │ … │  x[n-1]  │   float32, little-endian
//	└────────┴────────┴───┴──────────┘
//
// All bits are kept, also those of NaNs.
var None Codec = &Format{
	name: "none",
	size: func(n int) int { return 4 * n },
	put:  func(payload []byte, lo int, src []float32) { vec.PutF32(span(payload, 4, lo, src), src) },
	get:  func(dst []float32, payload []byte, lo int) { vec.GetF32(dst, span(payload, 4, lo, dst)) },
	add:  func(dst []float32, payload []byte, lo int) { vec.AddF32(dst, span(payload, 4, lo, dst)) },
}
