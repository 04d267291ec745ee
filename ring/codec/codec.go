// Package codec turns gradients into bytes for the wire and back.
//
// A [Codec] maps float32 values to bytes and may lose precision. It has no
// state: what it loses (the residual) is the caller's to keep and to add to the
// next call, which is called error feedback. A [Compressor] maps bytes to bytes
// without loss and goes around a codec's output.
//
// Results are defined by the portable code of this package, bit for bit.
package codec

// Codec is float32 ↔ bytes. Its methods may be called from several goroutines.
type Codec interface {
	// ID is the codec's number on the wire, below 16.
	ID() uint8

	// String is its name in options and tables.
	String() string

	// Lossy tells whether Decode may return other values than Append got.
	Lossy() bool

	// EncodedLen is the number of bytes of n encoded elements, exactly.
	EncodedLen(n int) int

	// Append encodes src at the end of dst.
	Append(dst []byte, src []float32) []byte

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
