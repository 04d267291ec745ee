package ring

import (
	"fmt"
	"slices"
	"unsafe"

	"ringtrain/ring/codec"
	"ringtrain/ring/internal/vec"
)

// A coding turns segments into payloads, or payloads into segments; each
// direction has one, with scratch of its own. Without a codec the floats travel
// as they lie in memory.
type coding struct {
	codec    codec.Codec      // nil: none
	lossless codec.Compressor // nil: none
	plain    []byte           // encoded and not compressed
	packed   []byte           // compressed
}

// set prepares c for segments of up to n elements.
func (c *coding) set(cd codec.Codec, lossless codec.Compressor, n int) {
	if cd != nil && cd.ID() == 0 {
		cd = nil
	}
	c.codec, c.lossless = cd, lossless
	plain := c.encodedLen(n)
	packed := plain
	if lossless != nil {
		packed = max(packed, lossless.MaxLen(plain))
	}
	c.plain = slices.Grow(c.plain[:0], plain+TailBytes)
	c.packed = slices.Grow(c.packed[:0], packed+TailBytes)
}

// direct tells whether payloads are the segments' own memory.
func (c *coding) direct() bool { return c.codec == nil && c.lossless == nil }

func (c *coding) lossy() bool { return c.codec != nil && c.codec.Lossy() }

func (c *coding) encodedLen(n int) int {
	if c.codec == nil {
		return 4 * n
	}
	return c.codec.EncodedLen(n)
}

// plainID and packedID are the codec byte of frames that are not compressed,
// and of those that are.
func (c *coding) plainID() uint8 {
	if c.codec == nil {
		return 0
	}
	return c.codec.ID()
}

func (c *coding) packedID() uint8 { return c.plainID() | c.lossless.ID()<<4 }

// encode returns the payload of x and its codec byte, with tail at the end. The
// payload is valid until the next call, and as long as x is.
//
// With a lossy codec and keep, x becomes what the payload decodes to. With
// residual e, of x's length, error feedback: x + e is encoded, and e becomes
// what the codec lost; x then decodes too.
func (c *coding) encode(x, residual []float32, keep bool, tail []byte) ([]byte, uint8, error) {
	if residual != nil {
		vec.Add(x, residual)
		copy(residual, x)
	}
	payload := bytesOf(x)
	if c.codec != nil {
		payload = c.codec.Append(c.plain[:0], x)
	}
	if c.lossy() && (keep || residual != nil) {
		if err := c.codec.Decode(x, payload); err != nil {
			return nil, 0, fmt.Errorf("codec %v does not decode what it encoded: %w", c.codec, err)
		}
		subtract(residual, x)
	}
	id := c.plainID()
	if c.lossless != nil && len(payload) > 0 {
		if packed := c.lossless.Append(c.packed[:0], payload); len(packed) < len(payload) {
			payload, id = packed, c.packedID()
		}
	}
	if len(tail) > 0 {
		if c.codec == nil && id == 0 {
			payload = append(c.packed[:0], payload...) // behind x lie other elements
		}
		payload = append(payload, tail...)
	}
	return payload, id, nil
}

// check tells whether a payload of n elements may have this codec byte and
// length. What is compressed is shorter than what is not.
func (c *coding) check(id uint8, n, length int) error {
	want := c.encodedLen(n)
	switch {
	case id == c.plainID():
		if length != want {
			return fmt.Errorf("%w: payload of %d bytes, want %d for %d elements", ErrCorruptFrame, length, want, n)
		}
	case c.lossless != nil && id == c.packedID():
		if length >= want {
			return fmt.Errorf("%w: compressed payload of %d bytes, want less than %d", ErrCorruptFrame, length, want)
		}
	default:
		return fmt.Errorf("%w: codec byte is %#02x, want %#02x", ErrCorruptFrame, id, c.plainID())
	}
	return nil
}

// decode replaces dst by a payload that was checked.
func (c *coding) decode(dst []float32, payload []byte, id uint8) error {
	if c.codec == nil {
		return corrupt(c.unpack(bytesOf(dst), payload, id))
	}
	plain, err := c.plainOf(payload, id, len(dst))
	if err == nil {
		err = c.codec.Decode(dst, plain)
	}
	return corrupt(err)
}

// decodeAdd adds a payload that was checked to dst.
func (c *coding) decodeAdd(dst []float32, payload []byte, id uint8) error {
	plain, err := c.plainOf(payload, id, len(dst))
	switch {
	case err != nil:
	case c.codec == nil:
		vec.AddF32(dst, plain)
	default:
		err = c.codec.DecodeAdd(dst, plain)
	}
	return corrupt(err)
}

// plainOf returns the payload of n elements as it was before compression.
func (c *coding) plainOf(payload []byte, id uint8, n int) ([]byte, error) {
	if id == c.plainID() {
		return payload, nil
	}
	plain := c.plain[:c.encodedLen(n)]
	return plain, c.unpack(plain, payload, id)
}

func (c *coding) unpack(dst, payload []byte, id uint8) error {
	if id == c.plainID() {
		copy(dst, payload)
		return nil
	}
	return c.lossless.Decode(dst, payload)
}

// corrupt makes what a decoder finds wrong a corrupt frame.
func corrupt(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrCorruptFrame, err)
}

// subtract computes dst[i] -= src[i], if there is a dst.
func subtract(dst, src []float32) {
	for i := range dst {
		dst[i] -= src[i]
	}
}

// bytesOf views x as the bytes it consists of. The order of bytes is the
// wire's: New refuses machines where it is not.
func bytesOf(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}
