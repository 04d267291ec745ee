package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// hybrid reads whole numbers of some bits in runs, of one value or packed: levels, places in a dictionary, and booleans.
type hybrid struct {
	data  []byte
	width uint
	left  int   // of the run
	value int32 // of the run, unless it is packed
	pack  []byte
	bit   int // in pack
}

var errRuns = errors.New("its runs of numbers end early")

func newHybrid(data []byte, width uint) (hybrid, error) {
	if width > 32 {
		return hybrid{}, errors.New("its runs have numbers of more than 32 bits")
	}
	return hybrid{data: data, width: width}, nil
}

// begin begins the next run, if the one before has ended.
func (h *hybrid) begin() error {
	for h.left == 0 {
		head, n := binary.Uvarint(h.data)
		if n <= 0 {
			return errRuns
		}
		h.data = h.data[n:]
		count := head >> 1
		if count > 1<<40 {
			return errRuns
		}
		if head&1 == 0 {
			bytes := int(h.width+7) / 8
			if bytes > len(h.data) {
				return errRuns
			}
			var v [4]byte
			copy(v[:], h.data[:bytes])
			h.value, h.pack, h.data = int32(binary.LittleEndian.Uint32(v[:])), nil, h.data[bytes:]
			if uint64(uint32(h.value))>>h.width != 0 {
				return fmt.Errorf("its runs have the number %d, want at most %d bits", uint32(h.value), h.width)
			}
			h.left = int(count)
			continue
		}
		bytes := min(int(count)*int(h.width), len(h.data)) // the last run may be cut
		h.pack, h.bit, h.data = h.data[:bytes], 0, h.data[bytes:]
		h.left = int(count) * 8
		if h.width > 0 {
			h.left = min(h.left, 8*bytes/int(h.width))
		}
		if h.pack == nil {
			h.pack = []byte{}
		}
	}
	return nil
}

// same returns the value of the next numbers and how many have it, at most n, or 0 if the run is packed.
func (h *hybrid) same(n int) (value int32, count int, err error) {
	if err := h.begin(); err != nil || h.pack != nil {
		return 0, 0, err
	}
	n = min(n, h.left)
	h.left -= n
	return h.value, n, nil
}

// read fills dst.
func (h *hybrid) read(dst []int32) error {
	for len(dst) > 0 {
		value, n, err := h.same(len(dst))
		if err != nil {
			return err
		}
		if n == 0 {
			n = min(h.left, len(dst))
			unpack(dst[:n], h.pack, h.bit, h.width)
			h.bit += n * int(h.width)
			h.left -= n
		} else {
			for i := range dst[:n] {
				dst[i] = value
			}
		}
		dst = dst[n:]
	}
	return nil
}

// unpack reads numbers of some bits, at most 32, from a bit on. The lowest bits come first.
func unpack[T int32 | int64](dst []T, src []byte, bit int, width uint) {
	mask := uint64(1)<<width - 1
	i := 0
	for ; i < len(dst) && bit>>3+8 <= len(src); i++ {
		dst[i] = T(binary.LittleEndian.Uint64(src[bit>>3:]) >> (bit & 7) & mask)
		bit += int(width)
	}
	var end [16]byte
	for ; i < len(dst); i++ {
		copy(end[:], src[bit>>3:])
		dst[i] = T(binary.LittleEndian.Uint64(end[:]) >> (bit & 7) & mask)
		bit += int(width)
	}
}
