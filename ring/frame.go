package ring

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// ProtocolVersion is the version of the handshake and of the frame. Workers of different
// versions refuse each other at the rendezvous (exit code 76).
const ProtocolVersion = 2

// FrameHeaderBytes is the length of a frame's header on the wire.
const FrameHeaderBytes = 40

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

const flagPayloadCRC = 1

// opBits is the number of bits for the number of the operation in a header. They suffice for a
// year with an operation every 30 µs. The other bits of the eight bytes hold the terms.
const opBits = 40

var (
	frameMagic = [4]byte{'R', 'T', 'F', ProtocolVersion}
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// PutFrameHeader writes the header of f into dst, which has FrameHeaderBytes. With payloadCRC
// the header includes the CRC-32C of the payload.
func PutFrameHeader(dst []byte, f *Frame, payloadCRC bool) {
	le := binary.LittleEndian
	dst = dst[:FrameHeaderBytes]
	copy(dst, frameMagic[:])
	dst[4], dst[5], dst[6], dst[7] = byte(f.Kind), f.Stream, f.Codec, 0
	le.PutUint32(dst[8:], f.Generation)
	le.PutUint32(dst[12:], f.Length)
	le.PutUint64(dst[16:], f.Op&(1<<opBits-1)|uint64(f.Terms)<<opBits)
	le.PutUint32(dst[24:], f.Segment)
	le.PutUint32(dst[28:], uint32(len(f.Payload)))
	le.PutUint32(dst[32:], 0)
	if payloadCRC {
		dst[7] = flagPayloadCRC
		le.PutUint32(dst[32:], crc32.Checksum(f.Payload, castagnoli))
	}
	le.PutUint32(dst[36:], crc32.Checksum(dst[:36], castagnoli))
}

// FrameHeader is a header that was read and has a valid CRC.
type FrameHeader struct {
	Frame        // without payload
	PayloadBytes int
	hasCRC       bool
	payloadCRC   uint32
}

// ParseFrameHeader reads a header of FrameHeaderBytes. A header with a wrong CRC is
// ErrDamagedFrame. One of another protocol, or one that claims more than MaxPayloadBytes, is
// ErrCorruptFrame.
func ParseFrameHeader(src []byte) (FrameHeader, error) {
	le := binary.LittleEndian
	var h FrameHeader
	if len(src) != FrameHeaderBytes {
		return h, fmt.Errorf("%w: header of %d bytes, want %d", ErrCorruptFrame, len(src), FrameHeaderBytes)
	}
	if got, want := crc32.Checksum(src[:36], castagnoli), le.Uint32(src[36:]); got != want {
		return h, fmt.Errorf("%w: header crc32c is %#x, want %#x", ErrDamagedFrame, got, want)
	}
	if [4]byte(src) != frameMagic {
		return h, fmt.Errorf("%w: begins with %x, want %x", ErrCorruptFrame, src[:4], frameMagic)
	}
	h.Kind, h.Stream, h.Codec = FrameKind(src[4]), src[5], src[6]
	op := le.Uint64(src[16:])
	h.Generation, h.Length, h.Segment = le.Uint32(src[8:]), le.Uint32(src[12:]), le.Uint32(src[24:])
	h.Op, h.Terms = op&(1<<opBits-1), uint32(op>>opBits)
	if h.Kind != KindData && h.Kind != KindClose && h.Kind != KindAbort || src[7]&^flagPayloadCRC != 0 {
		return h, fmt.Errorf("%w: kind is %d, flags are %#x, want kind 1, 3 or 4, flags 0 or 1", ErrCorruptFrame, h.Kind, src[7])
	}
	h.hasCRC, h.payloadCRC = src[7]&flagPayloadCRC != 0, le.Uint32(src[32:])
	if !h.hasCRC && h.payloadCRC != 0 {
		return h, fmt.Errorf("%w: payload crc32c is %#x, want 0 in a frame without", ErrCorruptFrame, h.payloadCRC)
	}
	n := le.Uint32(src[28:])
	if n > MaxPayloadBytes {
		return h, fmt.Errorf("%w: payload of %d bytes, want at most %d", ErrCorruptFrame, n, MaxPayloadBytes)
	}
	h.PayloadBytes = int(n)
	return h, nil
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

// Check compares payload with the CRC of the header, if there is one. Another CRC is
// ErrDamagedFrame.
func (h *FrameHeader) Check(payload []byte) error {
	if !h.hasCRC {
		return nil
	}
	if got := crc32.Checksum(payload, castagnoli); got != h.payloadCRC {
		return fmt.Errorf("%w: payload crc32c is %#x, want %#x", ErrDamagedFrame, got, h.payloadCRC)
	}
	return nil
}
