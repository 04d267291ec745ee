package vw

import (
	"encoding/binary"
	"math/bits"

	"ringtrain/input/text"
)

// hashString returns vw's default hash of a name: a number is itself. all is the name with
// text.Pad bytes behind it.
func hashString(all []byte, seed uint64) uint64 {
	n := len(all) - text.Pad
	if value, digits := text.Uint(all); digits == n && n <= 19 {
		return value + seed
	}
	return hashSlow(all[:n], seed)
}

// hashSlow is hashString of any name. As vw it passes over blanks around the name, and lets
// numbers of more than 64 bits wrap.
func hashSlow(name []byte, seed uint64) uint64 {
	for len(name) > 0 && name[0] <= ' ' {
		name = name[1:]
	}
	for len(name) > 0 && name[len(name)-1] <= ' ' {
		name = name[:len(name)-1]
	}
	value := uint64(0)
	for _, c := range name {
		if c < '0' || c > '9' {
			return uint64(murmur(name, uint32(seed)))
		}
		value = 10*value + uint64(c-'0')
	}
	return value + seed
}

// murmur returns MurmurHash3_x86_32 of data.
func murmur(data []byte, seed uint32) uint32 {
	const c1, c2 = 0xcc9e2d51, 0x1b873593
	h, n := seed, len(data)
	for ; len(data) >= 4; data = data[4:] {
		k := binary.LittleEndian.Uint32(data) * c1
		h ^= bits.RotateLeft32(k, 15) * c2
		h = bits.RotateLeft32(h, 13)*5 + 0xe6546b64
	}
	k := uint32(0)
	for i := len(data) - 1; i >= 0; i-- {
		k = k<<8 | uint32(data[i])
	}
	h ^= bits.RotateLeft32(k*c1, 15) * c2
	h ^= uint32(n)
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}
