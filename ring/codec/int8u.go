package codec

import (
	"fmt"

	"ringtrain/ring/internal/vec"
)

// Int8U writes 8-bit codes with one scale for all elements of a payload, which is a segment
// in the ring. The absolute error is at most max|x|/254 over the segment. It is coarse where
// magnitudes differ, but then most codes are near zero, which an entropy coder shortens. It is
// meant for slow wires, inside [NewHuff0]. It is experimental.
//
//	0          4          5                    4+n
//	┌──────────┬──────────┬───┬──────────────┐
//	│  scale   │ code[0]  │ … │  code[n-1]   │   float32, little-endian; then
//	└──────────┴──────────┴───┴──────────────┘   two's complement, -127 to 127
//
// With m = max|x|, in float32 arithmetic:
//
//	scale ← m/127
//	code  ← round(x · (1/scale)), ties to even
//	x     ← code · scale
//
// As with [Int8], m < 1e-30 gives the scale 0 and codes 0. An infinity or a NaN gives the scale
// NaN (0x7fc00000) and codes 0: all elements decode to NaN.
var Int8U Codec = dense{int8u{}}

type int8u struct{}

func (int8u) ID() uint8            { return 4 }
func (int8u) String() string       { return "int8u" }
func (int8u) Lossy() bool          { return true }
func (int8u) EncodedLen(n int) int { return 4 + n }

func (c int8u) check(n int, payload []byte) error {
	if err := checkLen(c, n, payload); err != nil {
		return err
	}
	if err := int8Check(payload); err != nil {
		return fmt.Errorf("codec int8u: scale is %w", err)
	}
	return nil
}

func (int8u) scale(payload []byte, m float32) { putFloat(payload, int8Scale(m)) }

func (int8u) put(payload []byte, lo int, src []float32) {
	s := getFloat(payload)
	int8Encode(span(payload[4:], 1, lo, src), src, s, 1/s)
}

func (int8u) get(dst []float32, payload []byte, lo int) {
	vec.GetInt8(dst, span(payload[4:], 1, lo, dst), getFloat(payload))
}

func (int8u) add(dst []float32, payload []byte, lo int) {
	vec.AddInt8(dst, span(payload[4:], 1, lo, dst), getFloat(payload))
}
