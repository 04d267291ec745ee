package vec

import (
	"encoding/binary"
	"math"
)

// PutFP16 writes src[i]·scale as IEEE 754 binary16, 2 bytes each. What rounds
// to 65520 or more becomes an infinity, any NaN becomes 0x7e00. The product is
// rounded to float32 first, which changes nothing if scale is a power of two.
func PutFP16(b []byte, src []float32, scale float32) {
	mustFit(len(b), 2*len(src))
	for i, v := range src {
		binary.LittleEndian.PutUint16(b[2*i:], toFP16(float32(v*scale)))
	}
}

// GetFP16 reads what PutFP16 wrote, times scale.
func GetFP16(dst []float32, b []byte, scale float32) {
	mustFit(len(b), 2*len(dst))
	for i := range dst {
		dst[i] = fromFP16(binary.LittleEndian.Uint16(b[2*i:])) * scale
	}
}

// AddFP16 adds what PutFP16 wrote, times scale; product and sum are rounded
// one after the other.
func AddFP16(dst []float32, b []byte, scale float32) {
	mustFit(len(b), 2*len(dst))
	for i := range dst {
		dst[i] += float32(fromFP16(binary.LittleEndian.Uint16(b[2*i:])) * scale)
	}
}

const (
	halfOverflow = (127 + 16) << 23 // bits of 2^16: from here on an infinity
	halfNormal   = (127 - 14) << 23 // bits of 2^-14: below, a binary16 is subnormal
	halfRebias   = (127 - 15) << 23 // from one bias of the exponent to the other
)

// toFP16 is after Fabian Giesen, "Float→half variants" (public domain): the
// float32 adder rounds what becomes subnormal, an integer addition the rest. It
// computes all cases and picks one, for in a gradient zeros and numbers take
// turns too wildly for a branch to be guessed.
func toFP16(v float32) uint16 {
	u := math.Float32bits(v)
	sign := uint16(u >> 16 & 0x8000)
	u &= absMask
	h := (u - halfRebias + 0xfff + u>>13&1) >> 13
	// In 1/2 + |v| the unit in the last place is 2^-24, as in a subnormal.
	const half = 0.5
	if sub := math.Float32bits(math.Float32frombits(u)+half) - math.Float32bits(half); u < halfNormal {
		h = sub
	}
	if u >= halfOverflow {
		h = 0x7c00
	}
	if u > infinity {
		return 0x7e00
	}
	return sign | uint16(h)
}

func fromFP16(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	u := uint32(h&0x7fff) << 13
	f := u + halfRebias
	// Give a subnormal a leading one and take that away again.
	if sub := math.Float32bits(math.Float32frombits(u+halfNormal) - math.Float32frombits(halfNormal)); u < oneExp {
		f = sub
	}
	if u >= 31<<23 { // infinity or NaN
		f = u | infinity
	}
	return math.Float32frombits(sign | f)
}
