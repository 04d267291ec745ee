// Package codec turns gradients into bytes for the wire and back.
//
// A [Codec] maps float32 values to bytes and may lose precision. It has no
// state: what it loses (the residual) is the caller's to keep and to add to the
// next call, which is called error feedback. A [Compressor] maps bytes to bytes
// without loss and goes around a codec's output.
//
// What a ring does with a partial sum is one call of [Codec].AppendHop, and with
// a chunk of its own one of AppendKeep. They go through the elements block by
// block, so that all that is done to a block is done while it lies in the
// first-level cache:
//
//	received ──► + x ──► + residual ──► encode ──► dst
//	                                      │
//	                x ◄──── decode ◄──────┤
//	         residual ◄──── what is lost ─┘
//
// Results are defined by the portable code of this package and of
// ring/internal/vec, bit for bit.
package codec

// Format tells what a codec's bytes are.
type Format interface {
	// ID is the codec's number on the wire, below 16.
	ID() uint8

	// String is its name in options and tables.
	String() string

	// Lossy tells whether Decode may return other values than Append got.
	Lossy() bool

	// EncodedLen is the number of bytes of n encoded elements, exactly.
	EncodedLen(n int) int
}

// Codec is float32 ↔ bytes. Its methods may be called from several goroutines,
// allocate nothing where dst has room, and keep no reference to their
// arguments. A payload that cannot be right is an error, and then nothing has
// been changed.
type Codec interface {
	Format

	// Append encodes src at the end of dst.
	Append(dst []byte, src []float32) []byte

	// AppendKeep encodes t = x + residual, or t = x if residual is nil, at the
	// end of dst. x becomes what those bytes decode to, and residual t - x.
	// Lengths that differ are the caller's bug and panic.
	AppendKeep(dst []byte, x, residual []float32) []byte

	// AppendHop is DecodeAdd(x, payload) and then AppendKeep(dst, x, residual);
	// without residual and keep it is Append(dst, x), and x stays the sum. dst
	// and payload are different memory.
	AppendHop(dst []byte, x []float32, payload []byte, residual []float32, keep bool) ([]byte, error)

	// Decode replaces dst by the decoded payload, which must be of
	// EncodedLen(len(dst)) bytes.
	Decode(dst []float32, payload []byte) error

	// DecodeAdd adds the decoded payload to dst: dst[i] += decoded[i], rounded
	// once each, without fused multiply-add.
	DecodeAdd(dst []float32, payload []byte) error
}

// Compressor is bytes ↔ bytes, exact.
type Compressor interface {
	// ID is the compressor's number on the wire, from 1, below 16.
	ID() uint8

	// String is its name in options and tables.
	String() string

	// MaxLen bounds the compressed length of n bytes.
	MaxLen(n int) int

	// Append compresses src at the end of dst.
	Append(dst, src []byte) []byte

	// Decode fills dst from payload, which must decompress to len(dst) bytes
	// exactly; it never writes or allocates beyond that.
	Decode(dst, payload []byte) error
}
