package bundle

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"ringtrain/input/maskedcrc"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A string tensor is stored as
//
//	varint length of each element │ masked CRC of the lengths │ the bytes
//
// The CRC stored here and the CRC of the entry cover each length as four little-endian
// bytes (eight if the length does not fit), not as the stored varint.

// appendLengths appends the first two parts. It returns the unmasked CRC of the lengths,
// the first part of the entry's CRC.
func appendLengths(dst []byte, elements []string) ([]byte, uint32) {
	crc := uint32(0)
	for _, s := range elements {
		dst = binary.AppendUvarint(dst, uint64(len(s)))
		crc = lengthCRC(crc, uint64(len(s)))
	}
	stored := binary.LittleEndian.AppendUint32(nil, maskedcrc.Mask(crc))
	return append(dst, stored...), crc32.Update(crc, castagnoli, stored)
}

func lengthCRC(crc uint32, n uint64) uint32 {
	var b []byte
	if n > math.MaxUint32 {
		b = binary.LittleEndian.AppendUint64(b, n)
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return crc32.Update(crc, castagnoli, b)
}

// parseStrings reads n elements, which must use all of data. It returns the entry's CRC,
// unmasked.
func parseStrings(data []byte, n int64) (elements []string, crc uint32, err error) {
	if n > int64(len(data)) {
		return nil, 0, fmt.Errorf("%d bytes for %d strings", len(data), n)
	}
	lengths := make([]uint64, n)
	rest := data
	for i := range lengths {
		v, w := binary.Uvarint(rest)
		if w <= 0 {
			return nil, 0, fmt.Errorf("length of string %d is damaged", i)
		}
		lengths[i], rest = v, rest[w:]
		crc = lengthCRC(crc, v)
	}
	if len(rest) < 4 {
		return nil, 0, fmt.Errorf("the checksum of the lengths is missing")
	}
	if got, want := maskedcrc.Mask(crc), binary.LittleEndian.Uint32(rest); got != want {
		return nil, 0, fmt.Errorf("the lengths' crc32c is %#08x, want %#08x", maskedcrc.Unmask(got), maskedcrc.Unmask(want))
	}
	crc = crc32.Update(crc, castagnoli, rest[:4])
	rest = rest[4:]
	crc = crc32.Update(crc, castagnoli, rest)
	elements = make([]string, n)
	for i, length := range lengths {
		if length > uint64(len(rest)) {
			return nil, 0, fmt.Errorf("string %d has %d bytes, only %d are left", i, length, len(rest))
		}
		elements[i], rest = string(rest[:length]), rest[length:]
	}
	if len(rest) > 0 {
		return nil, 0, fmt.Errorf("%d bytes are left after the last string", len(rest))
	}
	return elements, crc, nil
}
