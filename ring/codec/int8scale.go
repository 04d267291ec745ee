package codec

import (
	"encoding/binary"
	"fmt"
	"math"

	"ringtrain/ring/internal/vec"
)

// The rules of scales of 8-bit codes, which hold for a block and for a whole
// payload alike.
const (
	int8Flush    = 1e-30          // below this largest magnitude all is zero
	int8NaN      = 0x7fc00000     // bits of the scale of what is not finite
	int8MaxScale = 0x1.020406p121 // the largest float32 of which 127 times is finite
)

// int8Scale returns the scale for elements of which the largest is m.
func int8Scale(m float32) float32 {
	switch {
	case m < int8Flush:
		return 0
	case !(m <= math.MaxFloat32):
		return math.Float32frombits(int8NaN)
	}
	return min(m/127, int8MaxScale)
}

// int8Encode writes src·inv, or zeros for a scale of 0 or NaN, for which inv
// means nothing.
func int8Encode(codes []byte, src []float32, scale, inv float32) {
	if !(scale > 0) {
		clear(codes)
		return
	}
	vec.PutInt8(codes, src, inv)
}

// int8Check fails unless the float32 at b is a scale that int8Scale returns.
func int8Check(b []byte) error {
	u := binary.LittleEndian.Uint32(b)
	if s := math.Float32frombits(u); u != int8NaN && !(u>>31 == 0 && s <= int8MaxScale) {
		return fmt.Errorf("%g (%#08x), want 0 to %g or NaN %#08x", s, u, float32(int8MaxScale), int8NaN)
	}
	return nil
}

func putFloat(b []byte, v float32) { binary.LittleEndian.PutUint32(b, math.Float32bits(v)) }

func getFloat(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }
