// Package farmhash hashes texts as TensorFlow's StringToHashBucketFast does: FarmHash's
// Fingerprint64 (Pike and Alakuijala, "FarmHash", 2014, variant na). The fingerprint is for ever
// the same on every machine, so that models may depend on it. It does not resist an attacker.
//
// A text of up to 16, 32 or 64 bytes is hashed at once, from words at both its ends. A longer
// one is hashed in blocks of 64 bytes; the last block is the last 64 bytes and may overlap the
// one before.
package farmhash

import (
	"encoding/binary"
	"math/bits"
)

// The multipliers of the definition: odd, with about as many ones as zeros.
const (
	k0 uint64 = 0xc3a5c85c97cb3127
	k1 uint64 = 0xb492b66fbe98f273
	k2 uint64 = 0x9ae16a3b2f90404f
)

// block is the number of bytes that a long text is hashed by.
const block = 64

// Fingerprint64 returns the fingerprint of text. It allocates nothing.
func Fingerprint64(text []byte) uint64 {
	switch n := len(text); {
	case n > 64:
		return long(text)
	case n > 32:
		return upTo64(text)
	case n > 16:
		return upTo32(text)
	case n >= 8:
		return upTo16(text)
	case n >= 4:
		first, last := uint64(word32(text)), uint64(word32(text[n-4:]))
		return mix(uint64(n)+first<<3, last, factor(n))
	case n > 0:
		low := uint64(text[0]) + uint64(text[n/2])<<8
		high := uint64(n) + uint64(text[n-1])<<2
		return fold(low*k2^high*k0) * k2
	}
	return k2
}

// upTo16 hashes 8 to 16 bytes.
func upTo16(text []byte) uint64 {
	n := len(text)
	mul := factor(n)
	first, last := word(text)+k2, word(text[n-8:])
	return mix(right(last, 37)*mul+first, (right(first, 25)+last)*mul, mul)
}

// upTo32 hashes 17 to 32 bytes.
func upTo32(text []byte) uint64 {
	sum, rest, mul := ends(text, k1)
	return mix(sum, rest, mul)
}

// ends combines the first 16 bytes of a text with the last 16.
func ends(text []byte, k uint64) (sum, rest, mul uint64) {
	n := len(text)
	mul = factor(n)
	a, b := word(text)*k, word(text[8:])
	c, d := word(text[n-8:])*mul, word(text[n-16:])*k2
	return right(a+b, 43) + right(c, 30) + d, a + right(b+k2, 18) + c, mul
}

// upTo64 hashes 33 to 64 bytes.
func upTo64(text []byte) uint64 {
	n := len(text)
	y, rest, mul := ends(text, k2)
	z := mix(y, rest, mul)
	e, f := word(text[16:])*mul, word(text[24:])
	g, h := (y+word(text[n-32:]))*mul, (z+word(text[n-24:]))*mul
	return mix(right(e+f, 43)+right(g, 30)+h, e+right(f+word(text)*k2, 18)+g, mul)
}

// long hashes more than 64 bytes. Its state is seven words: x, y, z, and two for each half of a
// block. They are variables of one function, so that they stay in registers.
func long(text []byte) uint64 {
	seed := uint64(81)
	x, y := seed*k2+word(text), seed*k1+113
	z := fold(y*k2+113) * k2
	var v0, v1, w0, w1 uint64
	last := text[len(text)-block:]
	left := uint64(len(text)-1) % block // one less than the bytes behind the last whole block
	mul, scale := k1, uint64(1)
	for {
		p := (*[block]byte)(text)
		x = right(x+y+v0+word(p[8:]), 37) * mul
		y = right(y+v1+word(p[48:]), 42) * mul
		x ^= w1 * scale
		y += v0*scale + word(p[40:])
		z = right(z+w0, 33) * mul
		v0, v1 = half((*[block / 2]byte)(p[:32]), v1*mul, x+w0)
		w0, w1 = half((*[block / 2]byte)(p[32:]), z+w1, y+word(p[16:]))
		x, z = z, x
		if scale != 1 {
			return mix(mix(v0, w0, mul)+fold(y)*k0+z, mix(v1, w1, mul)+x, mul)
		}
		if text = text[block:]; len(text) <= block { // the last block has other multipliers
			text, mul, scale = last, k1+z&0xff<<1, 9
			w0 += left
			v0 += w0
			w0 += v0
		}
	}
}

// half hashes half a block.
func half(p *[block / 2]byte, a, b uint64) (uint64, uint64) {
	last := word(p[24:])
	a += word(p[:])
	b = right(b+a+last, 21)
	sum := a + word(p[8:]) + word(p[16:])
	return sum + last, b + right(sum, 44) + a
}

// mix makes one word of two.
func mix(a, b, mul uint64) uint64 {
	a = fold((a ^ b) * mul)
	return fold((b^a)*mul) * mul
}

// factor is the multiplier of a text of n bytes, up to 64.
func factor(n int) uint64 { return k2 + 2*uint64(n) }

// fold lets the highest bits reach the lowest.
func fold(x uint64) uint64 { return x ^ x>>47 }

// right rotates x by n bits to the right.
func right(x uint64, n int) uint64 { return bits.RotateLeft64(x, -n) }

func word(p []byte) uint64   { return binary.LittleEndian.Uint64(p) }
func word32(p []byte) uint32 { return binary.LittleEndian.Uint32(p) }
