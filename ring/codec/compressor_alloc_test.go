//go:build !race

package codec

import "testing"

// TestCompressorsAllocateNothing fails if a warm compressor costs the garbage
// collector something in every step. The library keeps tables in pools, from
// which the race detector takes at random.
func TestCompressorsAllocateNothing(t *testing.T) {
	eachCompressor(t, func(t *testing.T, c Compressor) {
		for _, src := range samples()[:5] { // without the longest, which says no more
			buf, dst := make([]byte, 0, c.MaxLen(len(src))), make([]byte, len(src))
			allocs := testing.AllocsPerRun(50, func() {
				if c.Decode(dst, c.Append(buf, src)) != nil {
					t.Error("cannot decode its own output")
				}
			})
			if allocs != 0 {
				t.Errorf("%d bytes: a step allocates %g times, want 0", len(src), allocs)
			}
		}
	})
}
