package ring

import (
	"fmt"
	"slices"

	"ringtrain/ring/codec"
	"ringtrain/ring/internal/vec"
)

// A coding turns segments into payloads, or payloads into segments. Each goroutine has one,
// with scratch memory of its own. Without a codec, float32 values travel as they lie in memory.
type coding struct {
	codec    codec.Codec      // nil: none
	lossless codec.Compressor // nil: none
	received []byte           // a payload that was compressed
	encoded  []byte           // one that will be
}

// set prepares c for segments of up to n elements.
func (c *coding) set(cd codec.Codec, lossless codec.Compressor, n int) {
	if cd != nil && cd.ID() == 0 {
		cd = nil
	}
	c.codec, c.lossless = cd, lossless
	if lossless != nil {
		c.received = vec.Resize(c.received, c.encodedLen(n))
		c.encoded = vec.Resize(c.encoded, c.encodedLen(n))
	}
}

// direct reports whether payloads are the memory of the segments themselves.
func (c *coding) direct() bool { return c.codec == nil && c.lossless == nil }

func (c *coding) lossy() bool { return c.codec != nil && c.codec.Lossy() }

func (c *coding) encodedLen(n int) int {
	if c.codec == nil {
		return 4 * n
	}
	return c.codec.EncodedLen(n)
}

// room returns the memory that a payload of n elements needs while it is made.
func (c *coding) room(n int) int {
	if c.lossless == nil {
		return c.encodedLen(n)
	}
	return max(c.encodedLen(n), c.lossless.MaxLen(c.encodedLen(n)))
}

// plainID returns the codec byte of a frame that is not compressed.
func (c *coding) plainID() uint8 {
	if c.codec == nil {
		return 0
	}
	return c.codec.ID()
}

// packedID returns the codec byte of a compressed frame.
func (c *coding) packedID() uint8 { return c.plainID() | c.lossless.ID()<<4 }

// A payloadSource is the content of a payload: elements, their residual, and the tail.
type payloadSource struct {
	x        []float32
	residual []float32 // nil, or of x's length: error feedback
	keep     bool      // a lossy codec leaves in x what the payload decodes to
	tail     []byte
}

// encode makes the payload of l in dst, which has room for it, and returns the payload and its
// codec byte.
//
// With a residual e it encodes x + e. e becomes the error of the codec, and x the decoded
// values.
func (c *coding) encode(dst []byte, l payloadSource) ([]byte, uint8) {
	payload, into := vec.Bytes(l.x), c.before(dst)
	switch {
	case c.codec == nil:
	case c.lossy() && (l.keep || l.residual != nil):
		payload = c.codec.AppendKeep(into, l.x, l.residual)
	default:
		payload = c.codec.Append(into, l.x)
	}
	return c.pack(dst, payload, l.tail)
}

// addEncode adds a checked payload with codec byte id to l.x and encodes the sum, as decodeAdd
// and encode do.
func (c *coding) addEncode(dst, payload []byte, id uint8, l payloadSource) ([]byte, uint8, error) {
	if c.codec == nil {
		if err := c.decodeAdd(l.x, payload, id); err != nil {
			return nil, 0, err
		}
		next, id := c.encode(dst, l)
		return next, id, nil
	}
	plain, err := c.plainOf(payload, id, len(l.x))
	if err != nil {
		return nil, 0, corrupt(err)
	}
	sum, err := c.codec.AppendHop(c.before(dst), l.x, plain, l.residual, l.keep && c.lossy())
	if err != nil {
		return nil, 0, corrupt(err)
	}
	next, id := c.pack(dst, sum, l.tail)
	return next, id, nil
}

// before returns where the bytes of the codec go that become a payload in dst.
func (c *coding) before(dst []byte) []byte {
	if c.lossless == nil {
		return dst[:0]
	}
	return c.encoded[:0]
}

// pack compresses payload if that makes it shorter, and appends tail.
func (c *coding) pack(dst, payload, tail []byte) ([]byte, uint8) {
	id := c.plainID()
	if c.lossless != nil {
		if packed := c.lossless.Append(dst[:0], payload); len(packed) < len(payload) {
			payload, id = packed, c.packedID()
		} else {
			payload = append(dst[:0], payload...)
		}
	}
	return append(payload, tail...), id
}

// check returns an error unless a payload of n elements may have this codec byte and length.
// The length does not include the tail. A compressed payload is shorter than a plain one.
func (c *coding) check(id uint8, n, length int) error {
	want := c.encodedLen(n)
	switch {
	case length < 0:
		return fmt.Errorf("%w: payload is %d bytes shorter than its tail", ErrCorruptFrame, -length)
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

// decode replaces dst by a checked payload.
func (c *coding) decode(dst []float32, payload []byte, id uint8) error {
	if c.codec == nil {
		return corrupt(c.unpack(vec.Bytes(dst), payload, id))
	}
	plain, err := c.plainOf(payload, id, len(dst))
	if err == nil {
		err = c.codec.Decode(dst, plain)
	}
	return corrupt(err)
}

// decodeAdd adds a checked payload to dst.
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

// plainOf returns the payload of n elements before compression.
func (c *coding) plainOf(payload []byte, id uint8, n int) ([]byte, error) {
	if id == c.plainID() {
		return payload, nil
	}
	plain := c.received[:c.encodedLen(n)]
	return plain, c.unpack(plain, payload, id)
}

func (c *coding) unpack(dst, payload []byte, id uint8) error {
	if id == c.plainID() {
		copy(dst, payload)
		return nil
	}
	return c.lossless.Decode(dst, payload)
}

// corrupt makes the error of a decoder a corrupt frame.
func corrupt(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrCorruptFrame, err)
}

// A store keeps encoded segments between receipt and sending. It uses its slots in turn.
type store struct {
	slots []slot
	slab  []byte
}

// A slot holds one encoded segment.
type slot struct {
	room    []byte
	payload []byte // what is in it
	codec   uint8
}

// set prepares s for count segments of up to size bytes.
func (s *store) set(count, size int) {
	s.slab = vec.Resize(s.slab, count*size)
	s.slots = slices.Grow(s.slots[:0], count)[:count]
	for i := range s.slots {
		s.slots[i] = slot{room: s.slab[i*size : (i+1)*size : (i+1)*size]}
	}
}

func (s *store) len() int { return len(s.slots) }

// slot returns the slot of the i-th segment.
func (s *store) slot(i int) *slot { return &s.slots[i%len(s.slots)] }
