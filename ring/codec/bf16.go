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
var BF16 Codec = bf16{}

type bf16 struct{}

func (bf16) ID() uint8            { return 1 }
func (bf16) String() string       { return "bf16" }
func (bf16) Lossy() bool          { return true }
func (bf16) EncodedLen(n int) int { return 2 * n }

func (c bf16) Append(dst []byte, src []float32) []byte {
	dst, payload := extend(dst, c.EncodedLen(len(src)))
	vec.PutBF16(payload, src)
	return dst
}

func (c bf16) Decode(dst []float32, payload []byte) error {
	if err := checkLen(c, len(dst), payload); err != nil {
		return err
	}
	vec.GetBF16(dst, payload)
	return nil
}

func (c bf16) DecodeAdd(dst []float32, payload []byte) error {
	if err := checkLen(c, len(dst), payload); err != nil {
		return err
	}
	vec.AddBF16(dst, payload)
	return nil
}
