package parquet

import (
	"encoding/binary"
	"errors"
	"math"

	"ringtrain/input"
)

var errDelta = errors.New("its differences are not coded as DELTA_BINARY_PACKED says")

// differences reads at most most whole numbers that are coded by their differences, and returns what follows.
func differences(dst []int64, src []byte, most int) (values []int64, rest []byte, err error) {
	c := &compact{data: src}
	block, minis, total, value := c.uvarint(), c.uvarint(), c.uvarint(), c.int()
	if c.err != nil || block == 0 || block > 1<<16 || minis == 0 || minis > block || block%(8*minis) != 0 || total > uint64(most) {
		return nil, nil, errDelta
	}
	if total > 0 {
		dst = append(dst, value)
	}
	packed := make([]int64, block/minis)
	for left := int(total) - 1; left > 0; {
		least, widths := c.int(), c.bytes(minis)
		for _, width := range widths {
			if left <= 0 {
				break
			}
			n := min(len(packed), left)
			if width > 64 || !unpackLong(packed[:n], c.upTo(len(packed)*int(width)/8), uint(width)) {
				return nil, nil, errDelta
			}
			for _, d := range packed[:n] {
				value += least + d
				dst = append(dst, value)
			}
			left -= n
		}
		if c.err != nil {
			return nil, nil, errDelta
		}
	}
	return dst, src[c.at:], nil
}

// upTo returns the next n bytes, or those that are left.
func (c *compact) upTo(n int) []byte { return c.bytes(uint64(min(n, len(c.data)-c.at))) }

// unpackLong is unpack of numbers of up to 64 bits. It returns false if src is too short.
func unpackLong(dst []int64, src []byte, width uint) bool {
	if len(dst)*int(width) > 8*len(src) {
		return false
	}
	if width <= 56 {
		unpack(dst, src, 0, width)
		return true
	}
	for i := range dst {
		bit := i * int(width)
		var word [16]byte
		copy(word[:], src[bit>>3:])
		low, high := binary.LittleEndian.Uint64(word[:]), binary.LittleEndian.Uint64(word[8:])
		dst[i] = int64((low>>(bit&7) | high<<(64-bit&7)) & (uint64(1)<<width - 1))
	}
	return true
}

// numbersPlain makes plain numbers of some bytes of those that DELTA_BINARY_PACKED codes.
func numbersPlain(src []byte, width, most int) ([]byte, error) {
	numbers, _, err := differences(nil, src, most)
	dst := make([]byte, 0, len(numbers)*width+pad)
	for _, v := range numbers {
		if width == 4 {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(v))
		} else {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(v))
		}
	}
	return dst, err
}

// lengthsPlain makes plain texts of those that DELTA_LENGTH_BYTE_ARRAY codes: all lengths, then all bytes.
func lengthsPlain(src []byte, most int) ([]byte, error) {
	lengths, rest, err := differences(nil, src, most)
	if err != nil {
		return nil, err
	}
	dst := make([]byte, 0, 4*len(lengths)+len(rest)+pad)
	for _, n := range lengths {
		if n < 0 || n > int64(len(rest)) {
			return nil, errDelta
		}
		dst = binary.LittleEndian.AppendUint32(dst, uint32(n))
		dst, rest = append(dst, rest[:n]...), rest[n:]
	}
	return dst, nil
}

// prefixesPlain makes plain texts of those that DELTA_BYTE_ARRAY codes: how much each has in common with the one before,
// and the rest. Texts of one length have no length before them.
func prefixesPlain(src []byte, most int, lengths bool, limits input.Limits) ([]byte, error) {
	prefixes, rest, err := differences(nil, src, most)
	if err != nil {
		return nil, err
	}
	suffixes, rest, err := differences(nil, rest, most)
	if err != nil || len(prefixes) != len(suffixes) {
		return nil, errDelta
	}
	total, before := int64(0), int64(0)
	for i, n := range suffixes {
		prefix, left := prefixes[i], int64(len(rest))
		if n < 0 || n > left || prefix < 0 || prefix > before {
			return nil, errDelta
		}
		before = prefix + n
		if total += before + 4; total > math.MaxInt32 {
			break
		}
	}
	if err := limits.Decoded(total, int64(len(src))); err != nil {
		return nil, err
	}
	var last []byte
	dst := make([]byte, 0, total+pad)
	for i, n := range suffixes {
		if n > int64(len(rest)) {
			return nil, errDelta
		}
		if lengths {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(prefixes[i]+n))
		}
		from := len(dst)
		dst = append(append(dst, last[:prefixes[i]]...), rest[:n]...)
		last, rest = dst[from:], rest[n:]
	}
	return dst, nil
}
