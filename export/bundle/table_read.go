package bundle

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/klauspost/compress/snappy"

	"ringtrain/input/maskedcrc"
)

// snappyRatio bounds the decompressed size of a Snappy block: the densest element makes
// 64 bytes of 3.
const snappyRatio = 22

var errNoTable = errors.New("not the index of a tensor bundle")

// eachEntry calls fn for every key of a table, in ascending order. An error names the
// byte of the block. The value is a view of the table.
func eachEntry(table []byte, fn func(key string, value []byte) error) error {
	n := len(table)
	if n < footerBytes || binary.LittleEndian.Uint64(table[n-8:]) != tableMagic {
		return errNoTable
	}
	footer := table[n-footerBytes : n-8]
	_, rest, err := parseHandle(footer) // the metaindex is empty
	if err != nil {
		return at(n-footerBytes, err)
	}
	index, _, err := parseHandle(rest)
	if err != nil {
		return at(n-footerBytes, err)
	}
	body := table[:n-footerBytes]
	indexBlock, err := readBlock(body, index)
	if err != nil {
		return err
	}
	end := uint64(0) // of the previous block: blocks must not overlap
	last, first := "", true
	return eachInBlock(indexBlock, int(index.offset), func(_ string, value []byte) error {
		h, _, err := parseHandle(value)
		if err != nil {
			return at(int(index.offset), err)
		}
		if h.offset < end {
			return at(int(index.offset), fmt.Errorf("the block at byte %d overlaps the one before", h.offset))
		}
		b, err := readBlock(body, h)
		if err != nil {
			return err
		}
		end = h.offset + h.size
		return eachInBlock(b, int(h.offset), func(key string, value []byte) error {
			if !first && key <= last {
				return at(int(h.offset), fmt.Errorf("key %q comes after %q", key, last))
			}
			last, first = key, false
			if err := fn(key, value); err != nil {
				return at(int(h.offset), err)
			}
			return nil
		})
	})
}

func at(offset int, err error) error { return fmt.Errorf("block at byte %d: %w", offset, err) }

// handle is the position of a block, without its trailer.
type handle struct{ offset, size uint64 }

func parseHandle(b []byte) (h handle, rest []byte, err error) {
	offset, n := binary.Uvarint(b)
	if n <= 0 {
		return h, nil, errors.New("a block handle is damaged")
	}
	size, m := binary.Uvarint(b[n:])
	if m <= 0 {
		return h, nil, errors.New("a block handle is damaged")
	}
	return handle{offset, size}, b[n+m:], nil
}

// readBlock verifies a block and returns its decompressed contents.
func readBlock(body []byte, h handle) ([]byte, error) {
	n := uint64(len(body))
	if h.offset > n || n-h.offset < trailerBytes || h.size > n-h.offset-trailerBytes {
		return nil, fmt.Errorf("block at byte %d of %d bytes: the table has only %d", h.offset, h.size, n)
	}
	b := body[h.offset : h.offset+h.size+trailerBytes]
	contents, stored := b[:h.size], binary.LittleEndian.Uint32(b[h.size+1:])
	if got := maskedcrc.Of(b[:h.size+1]); got != stored {
		return nil, at(int(h.offset), fmt.Errorf("crc32c is %#08x, want %#08x", maskedcrc.Unmask(got), maskedcrc.Unmask(stored)))
	}
	switch kind := b[h.size]; kind {
	case blockRaw:
		return contents, nil
	case blockSnappy:
		size, err := snappy.DecodedLen(contents)
		if err == nil && size > snappyRatio*len(contents) {
			err = fmt.Errorf("%d bytes cannot decompress to %d", len(contents), size)
		}
		if err == nil {
			contents, err = snappy.Decode(nil, contents)
		}
		if err != nil {
			return nil, at(int(h.offset), fmt.Errorf("snappy: %w", err))
		}
		return contents, nil
	default:
		return nil, at(int(h.offset), fmt.Errorf("compression %d is not supported", kind))
	}
}

// eachInBlock calls fn for every entry of the block at offset.
func eachInBlock(b []byte, offset int, fn func(key string, value []byte) error) error {
	if len(b) < 4 {
		return at(offset, errors.New("no room for the restarts"))
	}
	restarts := uint64(binary.LittleEndian.Uint32(b[len(b)-4:]))
	if 4*restarts > uint64(len(b)-4) {
		return at(offset, fmt.Errorf("%d restarts in %d bytes", restarts, len(b)))
	}
	entries := b[:uint64(len(b)-4)-4*restarts]
	var key []byte
	for len(entries) > 0 {
		shared, n1 := binary.Uvarint(entries)
		unshared, n2 := binary.Uvarint(entries[max(n1, 0):])
		valueLen, n3 := binary.Uvarint(entries[max(n1, 0)+max(n2, 0):])
		if n1 <= 0 || n2 <= 0 || n3 <= 0 {
			return at(offset, errors.New("an entry is damaged"))
		}
		entries = entries[n1+n2+n3:]
		left := uint64(len(entries))
		if shared > uint64(len(key)) || unshared > left || valueLen > left-unshared {
			return at(offset, errors.New("an entry is longer than its block"))
		}
		if shared+unshared > maxName {
			return at(offset, fmt.Errorf("a name has %d bytes, want at most %d", shared+unshared, maxName))
		}
		key = append(key[:shared], entries[:unshared]...)
		if err := fn(string(key), entries[unshared:unshared+valueLen]); err != nil {
			return err
		}
		entries = entries[unshared+valueLen:]
	}
	return nil
}
