package codec

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// zstdWindow bounds the distance of a match, and so the memory of the encoder. The decoder
// uses its destination.
const zstdWindow = 1 << 20

// zstdMemory bounds the length that a frame may claim. It is far above any segment.
const zstdMemory = 64 << 20

// NewZstd returns a compressor that writes Zstandard frames (RFC 8878) at the fastest level,
// without checksum; the frame of the ring has one.
//
// It owns one encoder and one decoder, each with a lock, so several goroutines may use it.
// There is nothing to close. Once warm, Append does not allocate if dst has room for MaxLen
// more bytes, and Decode does not allocate. The library keeps some tables in pools that the
// garbage collector may empty. Decode refuses more than 64 MiB.
func NewZstd() Compressor {
	e, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false),
		zstd.WithWindowSize(zstdWindow),
		zstd.WithSingleSegment(true), // the frame has its length
		zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic("codec: zstd refuses its encoder options")
	}
	d, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxMemory(zstdMemory),
		zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic("codec: zstd refuses its decoder options")
	}
	return &zstdFrame{e, d}
}

type zstdFrame struct {
	e *zstd.Encoder
	d *zstd.Decoder
}

func (*zstdFrame) ID() uint8          { return 2 }
func (*zstdFrame) String() string     { return "zstd" }
func (z *zstdFrame) MaxLen(n int) int { return z.e.MaxEncodedSize(n) }

func (z *zstdFrame) Append(dst, src []byte) []byte { return z.e.EncodeAll(src, dst) }

func (z *zstdFrame) Decode(dst, payload []byte) (err error) {
	defer recoverAs(z, &err)
	if err := z.checkHeader(payload, len(dst)); err != nil {
		return err
	}
	out, err := z.d.DecodeAll(payload, dst[:0:len(dst)]) // returns an error rather than grow
	if err != nil {
		return decodeError(z, payload, err)
	}
	if len(out) != len(dst) {
		return fmt.Errorf("compressor zstd: payload of %d bytes holds %d, want %d", len(payload), len(out), len(dst))
	}
	return nil
}

func decodeError(c Compressor, payload []byte, err error) error {
	return fmt.Errorf("compressor %v: payload of %d bytes: %w", c, len(payload), err)
}

// recoverAs turns a panic of the library's decoder into an error: its input comes from the
// network.
func recoverAs(c Compressor, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("compressor %v: decoder panicked: %v", c, p)
	}
}

// checkHeader returns an error unless the frame claims n bytes. The decoder so never grows its
// output for a frame without a length.
func (z *zstdFrame) checkHeader(payload []byte, n int) error {
	var h zstd.Header
	if err := h.Decode(payload); err != nil {
		return decodeError(z, payload, err)
	}
	if !h.HasFCS {
		return fmt.Errorf("compressor zstd: payload of %d bytes does not say what it holds, want %d", len(payload), n)
	}
	if h.FrameContentSize != uint64(n) {
		return fmt.Errorf("compressor zstd: payload of %d bytes holds %d, want %d", len(payload), h.FrameContentSize, n)
	}
	return nil
}
