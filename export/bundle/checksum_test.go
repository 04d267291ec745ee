package bundle

import (
	"hash/crc32"
	"testing"
)

// TestChecksumOfPieces verifies that the checksum by pieces is that of the whole, for lengths around
// those of pieces.
func TestChecksumOfPieces(t *testing.T) {
	data := make([]byte, 200_000)
	for i := range data {
		data[i] = byte(i * i >> 3)
	}
	for _, n := range []int{0, 1, 64<<10 - 1, 64 << 10, 64<<10 + 1, len(data)} {
		if got, want := checksum(data[:n]), crc32.Checksum(data[:n], castagnoli); got != want {
			t.Errorf("checksum of %d bytes is %#08x, want %#08x", n, got, want)
		}
	}
}
