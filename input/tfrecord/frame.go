package tfrecord

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"ringtrain/input"
	"ringtrain/input/maskedcrc"
	"ringtrain/ring/exitcode"
)

const (
	headBytes = 12 // length and its crc
	tailBytes = 4  // crc of the data

	// maxRecord is the maximum length of a record: Example is a protocol buffer, which
	// is below 2 GiB.
	maxRecord = 1<<31 - 1
)

// lengthOf returns the length of the data after head, the first headBytes of a record,
// and the masked crc of the length: computed and stored.
func lengthOf(head []byte) (length uint64, have, want uint32) {
	return binary.LittleEndian.Uint64(head), maskedcrc.Of(head[:8]), binary.LittleEndian.Uint32(head[8:])
}

// crcError says that part of a record has another crc than the stored one. have and want are
// masked.
func crcError(part string, have, want uint32) error {
	return fmt.Errorf("%s crc32c is 0x%08x, want 0x%08x", part, maskedcrc.Unmask(have), maskedcrc.Unmask(want))
}

// flaw is an error in a record of a file.
type flaw struct {
	file   string
	record int
	offset int64 // of the record, in the decompressed file
	err    error
}

func (f *flaw) Error() string {
	return fmt.Sprintf("tfrecord: %s: record %d at byte %d: %v", f.file, f.record, f.offset, f.err)
}

func (f *flaw) Unwrap() error { return f.err }

// index returns the offsets of the records in a file of size bytes, and the file's end
// as the last one. It reads the heads of all records and checks their crc. It skips the
// data of long records. When ctx ends, index returns the cause.
func index(ctx context.Context, name string, r io.ReaderAt, size int64) ([]int64, error) {
	var starts []int64
	window, from := make([]byte, 0, 256<<10), int64(0)
	off := int64(0)
	bad := func(format string, args ...any) error {
		return exitcode.With(exitcode.BadData, &flaw{name, len(starts), off, fmt.Errorf(format, args...)})
	}
	for off < size {
		if size-off < headBytes {
			return nil, bad("file ends after %d bytes, want a head of %d", size-off, headBytes)
		}
		if off+headBytes > from+int64(len(window)) {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			window, from = window[:min(int64(cap(window)), size-off)], off
			if _, err := r.ReadAt(window, off); err != nil && err != io.EOF {
				return nil, exitcode.With(exitcode.IO, &flaw{name, len(starts), off, err})
			}
		}
		length, have, want := lengthOf(window[off-from:])
		if have != want {
			return nil, bad("%w; no record behind it can be found", crcError("length", have, want))
		}
		if left := size - off - headBytes - tailBytes; length > maxRecord || int64(length) > left {
			return nil, bad("length is %d, want at most %d: the file has %d bytes", length, min(max(left, 0), maxRecord), size)
		}
		starts = append(starts, off)
		off += headBytes + int64(length) + tailBytes
	}
	return append(starts, off), nil
}

// dataOf returns the data of the record in frame after it has checked both crc.
func dataOf(frame []byte) ([]byte, error) {
	length, have, want := lengthOf(frame)
	if have != want {
		return nil, input.WholeFile(crcError("length", have, want))
	}
	if length != uint64(len(frame)-headBytes-tailBytes) {
		return nil, input.WholeFile(fmt.Errorf("length is %d, want %d: the file has changed since it was opened", length, len(frame)-headBytes-tailBytes))
	}
	data, tail := frame[headBytes:len(frame)-tailBytes], frame[len(frame)-tailBytes:]
	if have, want := maskedcrc.Of(data), binary.LittleEndian.Uint32(tail); have != want {
		return nil, crcError("data", have, want)
	}
	return data, nil
}
