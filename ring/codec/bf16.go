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
var BF16 Codec = dense{bf16{}}

type bf16 struct{}

func (bf16) ID() uint8            { return 1 }
func (bf16) String() string       { return "bf16" }
func (bf16) Lossy() bool          { return true }
func (bf16) EncodedLen(n int) int { return 2 * n }

func (b bf16) check(n int, payload []byte) error { return checkLen(b, n, payload) }

func (bf16) put(payload []byte, lo int, src []float32) { vec.PutBF16(span(payload, 2, lo, src), src) }
func (bf16) get(dst []float32, payload []byte, lo int) { vec.GetBF16(dst, span(payload, 2, lo, dst)) }
func (bf16) add(dst []float32, payload []byte, lo int) { vec.AddBF16(dst, span(payload, 2, lo, dst)) }
