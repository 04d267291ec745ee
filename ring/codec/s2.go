package codec

import (
	"fmt"

	"github.com/klauspost/compress/s2"
)

// S2 is the block format of klauspost/compress/s2, a faster and denser Snappy:
// the decompressed length as a varint, then literals and copies. It has no
// checksum; the frame has one.
//
// S2 has no state. Append does not allocate if dst has room for MaxLen more bytes. The library
// keeps tables of up to 128 KiB, one for each goroutine that compresses at the same time, in a
// pool that the garbage collector may empty. Decode does not allocate.
var S2 Compressor = s2Block{}

type s2Block struct{}

func (s2Block) ID() uint8        { return 1 }
func (s2Block) String() string   { return "s2" }
func (s2Block) MaxLen(n int) int { return s2.MaxEncodedLen(n) }

func (c s2Block) Append(dst, src []byte) []byte {
	whole, room := extend(dst, c.MaxLen(len(src)))
	return whole[:len(dst)+len(s2.Encode(room, src))]
}

func (c s2Block) Decode(dst, payload []byte) (err error) {
	defer recoverAs(c, &err)
	n, err := s2.DecodedLen(payload)
	if err != nil {
		return decodeError(c, payload, err)
	}
	if n != len(dst) { // before the library allocates n bytes
		return wrongLen(c, payload, n, len(dst))
	}
	if _, err := s2.Decode(dst[:n:n], payload); err != nil {
		return decodeError(c, payload, err)
	}
	return nil
}

func decodeError(c Compressor, payload []byte, err error) error {
	return fmt.Errorf("compressor %v: payload of %d bytes: %w", c, len(payload), err)
}

func wrongLen(c Compressor, payload []byte, got, want int) error {
	return fmt.Errorf("compressor %v: payload of %d bytes holds %d, want %d", c, len(payload), got, want)
}

// recoverAs turns a panic of the library's decoder into an error: its input comes from the
// network.
func recoverAs(c Compressor, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("compressor %v: decoder panicked: %v", c, p)
	}
}
