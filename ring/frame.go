package ring

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"ringtrain/ring/token"
)

// ProtocolVersion is the version of the exchange and of the frame. Workers of different versions
// refuse each other (exit code 76).
const ProtocolVersion = token.Protocol

// FrameHeaderBytes is the length of a frame's header on the wire.
const FrameHeaderBytes = 36

// MaxPayloadBytes bounds a payload that a worker sends or accepts.
const MaxPayloadBytes = 16 << 20

// FrameKind is the kind of a frame.
type FrameKind uint8

// The kinds of frames.
const (
	KindData  FrameKind = 1 // a segment of a collective operation
	KindClose FrameKind = 3 // the sender ends the stream in good order; no payload
	KindAbort FrameKind = 4 // the sender ends because something has failed; see Abort
)

// Frame is one segment on the wire. PROTOCOL.md gives its bytes.
type Frame struct {
	Kind       FrameKind
	Stream     uint8
	Codec      uint8  // codec in the low four bits, compressor in the high four
	Generation uint32 // modulo 2³²
	Length     uint32 // of the operation, modulo 2³²; see PROTOCOL.md
	Op         uint64 // number of the operation in its generation, from 0; 40 bits
	Terms      uint32 // what the operation is, in 24 bits; see PROTOCOL.md
	Segment    uint32 // number of the frame in its operation, from 0
	Payload    []byte
}

// opBits is the number of bits for the number of the operation in a header. They suffice for a
// year with an operation every 30 µs. The other bits of the eight bytes hold the terms.
const opBits = 40

var (
	frameMagic = [4]byte{'R', 'T', 'F', ProtocolVersion}
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// sumAt is the offset of the CRC in a header: the last field.
const sumAt = FrameHeaderBytes - 4

// PutFrameHeader writes the header of f into dst, which has FrameHeaderBytes. With crc it includes
// the CRC-32C of the header and the payload, else 0.
func PutFrameHeader(dst []byte, f *Frame, crc bool) {
	le := binary.LittleEndian
	dst = dst[:FrameHeaderBytes]
	copy(dst, frameMagic[:])
	dst[4], dst[5], dst[6], dst[7] = byte(f.Kind), f.Stream, f.Codec, 0
	le.PutUint32(dst[8:], f.Generation)
	le.PutUint32(dst[12:], f.Length)
	le.PutUint64(dst[16:], f.Op&(1<<opBits-1)|uint64(f.Terms)<<opBits)
	le.PutUint32(dst[24:], f.Segment)
	le.PutUint32(dst[28:], uint32(len(f.Payload)))
	var sum uint32
	if crc {
		sum = crc32.Update(crc32.Checksum(dst[:sumAt], castagnoli), castagnoli, f.Payload)
	}
	le.PutUint32(dst[sumAt:], sum)
}

// FrameHeader is a header that was read.
type FrameHeader struct {
	Frame        // without payload
	PayloadBytes int
	crc          bool
	sum, want    uint32 // CRC of what was read so far, and that of the whole frame
}

// ParseFrameHeader reads a header of FrameHeaderBytes. With crc, Check must follow before the header
// is believed.
//
// A header of another protocol, or one that claims more than MaxPayloadBytes, is ErrCorruptFrame. With
// crc it is ErrChangedBytes: the neighbour has proved the protocol.
func ParseFrameHeader(src []byte, crc bool) (FrameHeader, error) {
	le := binary.LittleEndian
	h := FrameHeader{crc: crc}
	if len(src) != FrameHeaderBytes {
		return h, h.malformed("header of %d bytes, want %d", len(src), FrameHeaderBytes)
	}
	if [4]byte(src) != frameMagic {
		return h, h.malformed("begins with %x, want %x", src[:4], frameMagic)
	}
	h.Kind, h.Stream, h.Codec = FrameKind(src[4]), src[5], src[6]
	op := le.Uint64(src[16:])
	h.Generation, h.Length, h.Segment = le.Uint32(src[8:]), le.Uint32(src[12:]), le.Uint32(src[24:])
	h.Op, h.Terms = op&(1<<opBits-1), uint32(op>>opBits)
	if h.Kind != KindData && h.Kind != KindClose && h.Kind != KindAbort || src[7] != 0 {
		return h, h.malformed("kind is %d, want 1, 3 or 4, and byte 7 is %d, want 0", h.Kind, src[7])
	}
	n := le.Uint32(src[28:])
	if n > MaxPayloadBytes {
		return h, h.malformed("payload of %d bytes, want at most %d", n, MaxPayloadBytes)
	}
	h.PayloadBytes = int(n)
	if crc {
		h.sum, h.want = crc32.Checksum(src[:sumAt], castagnoli), le.Uint32(src[sumAt:])
	}
	return h, nil
}

// malformed returns the error of a header that no worker of this protocol sends.
func (h *FrameHeader) malformed(format string, args ...any) error {
	if h.crc {
		return fmt.Errorf("%w ("+format+")", append([]any{ErrChangedBytes}, args...)...)
	}
	return fmt.Errorf("%w: "+format, append([]any{ErrCorruptFrame}, args...)...)
}

// TooLong returns the error of Recv for a frame with a longer payload than there is room. It is
// an ErrCorruptFrame unless f belongs to another operation.
func TooLong(f Frame, bytes, room int) error {
	f.Payload = nil
	return &tooLong{f, bytes, room}
}

// tooLong is the error of a frame that was not read. Its header gives the reason.
type tooLong struct {
	frame       Frame
	bytes, room int
}

func (t *tooLong) Error() string {
	return fmt.Sprintf("%v: payload of %d bytes, want at most %d", ErrCorruptFrame, t.bytes, t.room)
}

func (t *tooLong) Unwrap() error { return ErrCorruptFrame }

// Add adds a part of the payload to the CRC that Check compares.
func (h *FrameHeader) Add(part []byte) { h.sum = crc32.Update(h.sum, castagnoli, part) }

// Check compares the CRC of the frame, if it has one. rest is the payload, or what Add has not taken
// of it. Another CRC is ErrChangedBytes.
func (h *FrameHeader) Check(rest []byte) error {
	if !h.crc {
		return nil
	}
	h.Add(rest)
	if h.sum != h.want {
		return fmt.Errorf("%w (crc32c is %#x, want %#x)", ErrChangedBytes, h.sum, h.want)
	}
	return nil
}
