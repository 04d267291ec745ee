// Package codec encodes gradients for the wire and decodes them.
//
// A [Codec] maps float32 values to bytes and may lose precision. It has no state. The caller
// keeps the loss (the residual) and adds it to the next call, which is called error feedback.
// A [Compressor] maps bytes to bytes without loss and is applied to a codec's output.
//
// A ring processes a received partial sum with one call of [Codec].AppendHop, and a chunk of
// its own with one call of AppendKeep. Both work block by block, so that all operations on a
// block run while it is in the first-level cache:
//
//	received ──► + x ──► + residual ──► encode ──► dst
//	                                      │
//	                x ◄──── decode ◄──────┤
//	         residual ◄──── the loss ─────┘
//
// The portable code of this package and of ring/internal/vec defines all results, bit for
// bit.
package codec

import (
	"fmt"
	"slices"
)

// Codec maps float32 values to bytes and back. Its methods may be called from several
// goroutines. They do not allocate if dst has room, and keep no reference to their arguments.
// A payload that no encoder writes is an error, and then all arguments are
// unchanged.
type Codec = *Format

// A Format is a codec: all that distinguishes it from the others. The argument lo is the index of
// the first element, a multiple of tile.
type Format struct {
	name string
	id   uint8                // below 16
	unit float64              // see Unit
	size func(n int) int      // bytes of n encoded elements
	bad  func(p []byte) error // an error if no encoder writes p, which has the right length; nil: each is one

	// scale writes the scale for elements of largest magnitude m, as vec.AbsMax returns it, before
	// put; nil if all elements of a payload have no common scale.
	scale func(payload []byte, m float32)

	put func(payload []byte, lo int, src []float32) // encodes src as the elements from lo on
	get func(dst []float32, payload []byte, lo int) // decodes the elements from lo on
	add func(dst []float32, payload []byte, lo int) // adds the elements from lo on
}

// ID is the codec's number on the wire, below 16.
func (f *Format) ID() uint8 { return f.id }

// String is its name in options and tables.
func (f *Format) String() string { return f.name }

// Unit is the largest error of an element, relative to the largest magnitude that is encoded together;
// 0 if the codec is exact.
func (f *Format) Unit() float64 { return f.unit }

// Lossy reports whether Decode may return other values than Append got.
func (f *Format) Lossy() bool { return f.unit > 0 }

// EncodedLen returns the exact number of bytes of n encoded elements.
func (f *Format) EncodedLen(n int) int { return f.size(n) }

// Append encodes src at the end of dst.
func (f *Format) Append(dst []byte, src []float32) []byte {
	return f.encode(dst, terms{x: src}, false)
}

// AppendKeep encodes t = x + residual, or t = x if residual is nil, at the end of dst. It sets x to
// the decoded bytes and residual to t - x. It panics if the lengths differ.
func (f *Format) AppendKeep(dst []byte, x, residual []float32) []byte {
	return f.encode(dst, terms{x: x, residual: residual}, true)
}

// AppendHop is DecodeAdd(x, payload) followed by AppendKeep(dst, x, residual). Without residual and
// keep, it is DecodeAdd followed by Append(dst, x), and x stays the sum. dst and payload must not
// share memory.
func (f *Format) AppendHop(dst []byte, x []float32, payload []byte, residual []float32, keep bool) ([]byte, error) {
	if err := f.check(len(x), payload); err != nil {
		return dst, err
	}
	return f.encode(dst, terms{x, residual, payload}, keep || residual != nil), nil
}

// Decode replaces dst by the decoded payload, which must have EncodedLen(len(dst)) bytes.
func (f *Format) Decode(dst []float32, payload []byte) error {
	if err := f.check(len(dst), payload); err != nil {
		return err
	}
	f.get(dst, payload, 0)
	return nil
}

// DecodeAdd adds the decoded payload to dst: dst[i] += decoded[i], each sum rounded once, without
// fused multiply-add.
func (f *Format) DecodeAdd(dst []float32, payload []byte) error {
	if err := f.check(len(dst), payload); err != nil {
		return err
	}
	f.add(dst, payload, 0)
	return nil
}

// check returns an error if no encoder writes payload for n elements.
func (f *Format) check(n int, payload []byte) error {
	if want := f.size(n); len(payload) != want {
		return fmt.Errorf("codec %v: %d bytes for %d elements, want %d", f, len(payload), n, want)
	}
	if f.bad == nil {
		return nil
	}
	return f.bad(payload)
}

// extend returns dst with n more bytes, and those bytes. It allocates only if dst has no
// room.
func extend(dst []byte, n int) (whole, added []byte) {
	whole = slices.Grow(dst, n)[:len(dst)+n]
	return whole, whole[len(dst):]
}

// span returns the codes of x, the elements from lo on. Each code has width bytes.
func span(codes []byte, width, lo int, x []float32) []byte {
	return codes[width*lo : width*(lo+len(x))]
}

// Compressor maps bytes to bytes and back without loss.
type Compressor interface {
	// ID is the compressor's number on the wire, 1 to 15.
	ID() uint8

	// String is its name in options and tables.
	String() string

	// MaxLen bounds the compressed length of n bytes.
	MaxLen(n int) int

	// Append compresses src at the end of dst.
	Append(dst, src []byte) []byte

	// Decode fills dst from payload, which must decompress to exactly len(dst)
	// bytes. It never writes or allocates beyond that.
	Decode(dst, payload []byte) error
}
