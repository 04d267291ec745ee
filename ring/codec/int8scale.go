package codec

import (
	"encoding/binary"
	"fmt"
	"math"

	"ringtrain/ring/internal/vec"
)

// The rules for the scale of 8-bit codes, of a block and of a whole payload.
const (
	int8Flush    = 1e-30          // smaller largest magnitudes flush all elements to zero
	int8NaN      = 0x7fc00000     // bits of the scale of elements that are not all finite
	int8MaxScale = 0x1.020406p121 // the largest float32 that is finite after a multiplication by 127
)

// int8Scale returns the scale for elements of largest magnitude m.
func int8Scale(m float32) float32 {
	switch {
	case m < int8Flush:
		return 0
	case !(m <= math.MaxFloat32):
		return math.Float32frombits(int8NaN)
	}
	return min(m/127, int8MaxScale)
}

// int8Encode writes the codes of src·inv. For a scale of 0 or NaN it writes zeros and ignores
// inv.
func int8Encode(codes []byte, src []float32, scale, inv float32) {
	if !(scale > 0) {
		clear(codes)
		return
	}
	vec.PutInt8(codes, src, inv)
}

// int8Check returns an error if int8Scale never returns the float32 at b.
func int8Check(b []byte) error {
	u := binary.LittleEndian.Uint32(b)
	if s := math.Float32frombits(u); u != int8NaN && !(u>>31 == 0 && s <= int8MaxScale) {
		return fmt.Errorf("%g (%#08x), want 0 to %g or NaN %#08x", s, u, float32(int8MaxScale), int8NaN)
	}
	return nil
}

func putFloat(b []byte, v float32) { binary.LittleEndian.PutUint32(b, math.Float32bits(v)) }

func getFloat(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }
