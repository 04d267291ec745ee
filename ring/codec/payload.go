package codec

import (
	"fmt"
	"slices"
)

// extend returns dst with n more bytes, and those bytes. It allocates only if
// dst has no room.
func extend(dst []byte, n int) (whole, added []byte) {
	whole = slices.Grow(dst, n)[:len(dst)+n]
	return whole, whole[len(dst):]
}

// checkLen fails unless payload has the length of n encoded elements.
func checkLen(c Codec, n int, payload []byte) error {
	if want := c.EncodedLen(n); len(payload) != want {
		return fmt.Errorf("codec %v: %d bytes for %d elements, want %d", c, len(payload), n, want)
	}
	return nil
}
