package codec

import (
	"fmt"
	"slices"
)

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

// checkLen returns an error unless payload has the length of n encoded elements.
func checkLen(c Format, n int, payload []byte) error {
	if want := c.EncodedLen(n); len(payload) != want {
		return fmt.Errorf("codec %v: %d bytes for %d elements, want %d", c, len(payload), n, want)
	}
	return nil
}
