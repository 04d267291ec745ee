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

// Format describes a codec's bytes.
type Format interface {
	// ID is the codec's number on the wire, below 16.
	ID() uint8

	// String is its name in options and tables.
	String() string

	// Lossy reports whether Decode may return other values than Append got.
	Lossy() bool

	// EncodedLen returns the exact number of bytes of n encoded elements.
	EncodedLen(n int) int
}

// Codec maps float32 values to bytes and back. Its methods may be called from several
// goroutines. They do not allocate if dst has room, and keep no reference to their arguments.
// A payload that no encoder writes is an error, and then all arguments are
// unchanged.
type Codec interface {
	Format

	// Append encodes src at the end of dst.
	Append(dst []byte, src []float32) []byte

	// AppendKeep encodes t = x + residual, or t = x if residual is nil, at the
	// end of dst. It sets x to the decoded bytes and residual to t - x. It panics
	// if the lengths differ.
	AppendKeep(dst []byte, x, residual []float32) []byte

	// AppendHop is DecodeAdd(x, payload) followed by AppendKeep(dst, x, residual).
	// Without residual and keep, it is DecodeAdd followed by Append(dst, x), and x
	// stays the sum. dst and payload must not share memory.
	AppendHop(dst []byte, x []float32, payload []byte, residual []float32, keep bool) ([]byte, error)

	// Decode replaces dst by the decoded payload, which must have
	// EncodedLen(len(dst)) bytes.
	Decode(dst []float32, payload []byte) error

	// DecodeAdd adds the decoded payload to dst: dst[i] += decoded[i], each sum
	// rounded once, without fused multiply-add.
	DecodeAdd(dst []float32, payload []byte) error
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
