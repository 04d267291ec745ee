//go:build !race

package codec

import "testing"

// TestCompressorsAllocateNothing verifies that a warm compressor does not allocate. It does
// not run under the race detector, which randomly empties the pools in which the library
// keeps tables.
func TestCompressorsAllocateNothing(t *testing.T) {
	eachCompressor(t, func(t *testing.T, c Compressor) {
		for _, src := range samples()[:5] { // the longest sample adds nothing
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
