package codec

import (
	"encoding/binary"
	"fmt"
	"math"

	"ringtrain/ring/internal/vec"
)

// Int8 writes blocks of 256 elements (the last may be shorter), each as 8-bit
// codes with one scale: an absolute error of at most max|x|/254 in a block, at
// 3.94 times fewer bytes than float32.
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
// A block with m < 1e-30 becomes scale 0 and codes 0: residuals of weights that
// get no gradient shrink into subnormals, for which 127/m is infinite, and one
// 0·∞ would make the whole model NaN. A block with an infinity or a NaN becomes
// the scale NaN (0x7fc00000) and codes 0, so that all of it decodes to NaN, on
// every machine alike. Scales stand together, and codes too, since a lossless
// compressor finds more in bytes of one kind.
var Int8 Codec = int8Codec{}

const (
	int8Block    = 256
	int8Flush    = 1e-30          // below this largest magnitude a block is zero
	int8NaN      = 0x7fc00000     // bits of the scale of a block that is not finite
	int8MaxScale = 0x1.020406p121 // the largest float32 of which 127 times is finite
)

type int8Codec struct{}

func (int8Codec) ID() uint8            { return 3 }
func (int8Codec) String() string       { return "int8" }
func (int8Codec) Lossy() bool          { return true }
func (int8Codec) EncodedLen(n int) int { return 4*int8Blocks(n) + n }

func int8Blocks(n int) int { return (n + int8Block - 1) / int8Block }

func (c int8Codec) Append(dst []byte, src []float32) []byte {
	dst, payload := extend(dst, c.EncodedLen(len(src)))
	scales, codes := payload[:4*int8Blocks(len(src))], payload[4*int8Blocks(len(src)):]
	for len(src) > 0 {
		n := min(int8Block, len(src))
		scale := int8Encode(codes[:n], src[:n])
		binary.LittleEndian.PutUint32(scales, math.Float32bits(scale))
		scales, codes, src = scales[4:], codes[n:], src[n:]
	}
	return dst
}

// int8Encode writes the codes of one block and returns its scale.
func int8Encode(codes []byte, src []float32) float32 {
	m := vec.AbsMax(src)
	switch {
	case m < int8Flush:
		clear(codes)
		return 0
	case !(m <= math.MaxFloat32):
		clear(codes)
		return math.Float32frombits(int8NaN)
	}
	vec.PutInt8(codes, src, 127/m)
	return min(m/127, int8MaxScale)
}

func (c int8Codec) Decode(dst []float32, payload []byte) error {
	return c.each(dst, payload, vec.GetInt8)
}

func (c int8Codec) DecodeAdd(dst []float32, payload []byte) error {
	return c.each(dst, payload, vec.AddInt8)
}

// each calls kernel for every block of a payload, all of whose scales it has
// checked before.
func (c int8Codec) each(dst []float32, payload []byte, kernel func([]float32, []byte, float32)) error {
	if err := checkLen(c, len(dst), payload); err != nil {
		return err
	}
	scales, codes := payload[:4*int8Blocks(len(dst))], payload[4*int8Blocks(len(dst)):]
	for b := 0; 4*b < len(scales); b++ {
		u := binary.LittleEndian.Uint32(scales[4*b:])
		if s := math.Float32frombits(u); u != int8NaN && !(u>>31 == 0 && s <= int8MaxScale) {
			return fmt.Errorf("codec int8: scale of block %d is %g (%#08x), want 0 to %g or NaN %#08x", b, s, u, float32(int8MaxScale), int8NaN)
		}
	}
	for len(dst) > 0 {
		n := min(int8Block, len(dst))
		kernel(dst[:n], codes[:n], math.Float32frombits(binary.LittleEndian.Uint32(scales)))
		scales, codes, dst = scales[4:], codes[n:], dst[n:]
	}
	return nil
}
