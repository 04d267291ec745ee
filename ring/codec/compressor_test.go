package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// compressors returns a new compressor of each name.
func compressors() []Compressor {
	var all []Compressor
	for _, c := range lossless {
		all = append(all, c.new())
	}
	return all
}

func eachCompressor(t *testing.T, run func(t *testing.T, c Compressor)) {
	for _, c := range compressors() {
		t.Run("compressor="+c.String(), func(t *testing.T) { run(t, c) })
	}
}

// samples returns sparse gradients, a dense one, whose bytes hardly compress, and a run that
// compresses to almost nothing.
func samples() [][]byte {
	sparse := make([]float32, 100_000)
	copy(sparse[500:], gradient(300, 1))
	return [][]byte{
		nil, {1}, None.Append(nil, sparse), None.Append(nil, gradient(100_000, 2)),
		Int8.Append(nil, gradient(70_000, 3)), make([]byte, 3<<20),
	}
}

// TestCompressorRoundTrip verifies that a compressor returns the same bytes, keeps to MaxLen,
// and leaves the bytes before its output unchanged.
func TestCompressorRoundTrip(t *testing.T) {
	eachCompressor(t, func(t *testing.T, c Compressor) {
		for _, src := range samples() {
			out := c.Append([]byte("before"), src)
			if string(out[:6]) != "before" || len(out)-6 > c.MaxLen(len(src)) {
				t.Fatalf("%d bytes become %d after %q, want at most %d after before", len(src), len(out)-6, out[:6], c.MaxLen(len(src)))
			}
			got := bytes.Repeat([]byte{7}, len(src))
			if err := c.Decode(got, out[6:]); err != nil || !bytes.Equal(got, src) {
				t.Fatalf("%d bytes do not come back, error %v", len(src), err)
			}
		}
	})
}

// TestSparseShrinks verifies that each compressor compresses a gradient that is mostly
// zero.
func TestSparseShrinks(t *testing.T) {
	eachCompressor(t, func(t *testing.T, c Compressor) {
		src := samples()[2]
		if got := len(c.Append(nil, src)); got > len(src)/20 {
			t.Errorf("%d bytes become %d, want a twentieth", len(src), got)
		}
	})
}

// TestDecompressOtherLength verifies that a payload of another length than expected is
// refused, and that the length that a peer claims is not allocated.
func TestDecompressOtherLength(t *testing.T) {
	eachCompressor(t, func(t *testing.T, c Compressor) {
		bomb := c.Append(nil, make([]byte, 16<<20))
		dst := make([]byte, 1000)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := c.Decode(dst[:999], bomb)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.HasSuffix(err.Error(), "holds 16777216, want 999") {
			t.Errorf("error is %v, want one that names both lengths", err)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
			t.Errorf("refusing 16 MiB allocates %d bytes", grown)
		}
		if err := c.Decode(dst, c.Append(nil, make([]byte, 999))); err == nil {
			t.Error("999 bytes fill 1000")
		}
	})
}

// TestDecompressDamaged cuts a payload at each byte and flips each of its bits. It verifies
// that the decoder does not panic and does not write outside its destination.
func TestDecompressDamaged(t *testing.T) {
	eachCompressor(t, func(t *testing.T, c Compressor) {
		src := bytes.Repeat([]byte("gradient "), 40)
		whole := c.Append(nil, src)
		arena := bytes.Repeat([]byte{7}, len(src)+64)
		dst := arena[32 : 32+len(src)]
		for n := range whole {
			if err := c.Decode(dst, whole[:n]); err == nil {
				t.Errorf("%d of %d bytes are taken for the whole", n, len(whole))
			}
			for bit := range 8 {
				bad := bytes.Clone(whole)
				bad[n] ^= 1 << bit
				_ = c.Decode(dst, bad) // may be another valid payload
			}
		}
		for _, guard := range [][]byte{arena[:32], arena[32+len(src):]} {
			if !bytes.Equal(guard, bytes.Repeat([]byte{7}, 32)) {
				t.Fatal("a damaged payload is written outside the destination")
			}
		}
	})
}

// TestZstdWithoutLength verifies that a frame without its length is refused: the library
// would grow the output while it decodes.
func TestZstdWithoutLength(t *testing.T) {
	var stream bytes.Buffer
	w, err := zstd.NewWriter(&stream, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if _, err := w.Write(make([]byte, 64<<10)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	err = NewZstd().Decode(make([]byte, 256<<10), stream.Bytes())
	if err == nil || !strings.Contains(err.Error(), "does not say what it holds") {
		t.Errorf("error is %v", err)
	}
}

// TestZstdMaxMemory verifies that a frame that claims more bytes than any segment has is
// refused, even if the caller expects as many.
func TestZstdMaxMemory(t *testing.T) {
	const n = zstdMemory + 1
	// Magic; one segment, length of 4 bytes; length; last block, a run.
	payload := binary.LittleEndian.AppendUint32([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0}, n)
	payload = append(payload, 0x03, 0, 0x10, 7)
	err := NewZstd().Decode(make([]byte, n), payload)
	if !errors.Is(err, zstd.ErrDecoderSizeExceeded) && !errors.Is(err, zstd.ErrWindowSizeExceeded) {
		t.Errorf("error is %v, want that the size is exceeded", err)
	}
}

// TestCompressorConcurrency verifies that the sending and the receiving goroutine of a ring
// can share a compressor.
func TestCompressorConcurrency(t *testing.T) {
	eachCompressor(t, func(t *testing.T, c Compressor) {
		var wg sync.WaitGroup
		for seed := range uint64(4) {
			wg.Go(func() {
				src := None.Append(nil, gradient(5000, seed))
				for range 5 {
					dst := make([]byte, len(src))
					if err := c.Decode(dst, c.Append(nil, src)); err != nil || !bytes.Equal(dst, src) {
						t.Errorf("goroutine %d: bytes do not come back, error %v", seed, err)
					}
				}
			})
		}
		wg.Wait()
	})
}
