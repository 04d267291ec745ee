package vec

import (
	"bytes"
	"fmt"
	"math"
	"testing"
)

// kernelPair is a kernel and the portable body that defines it. A kernel reads and writes x, or b
// with width bytes an element, or both.
type kernelPair struct {
	name            string
	width           int
	kernel, defined func(x []float32, b []byte, y []float32)
}

func kernelPairs() []kernelPair {
	// Scales that are not powers of two reveal a product that is not rounded before
	// the sum. One scale makes infinities and subnormals.
	const inexact, tiny, huge = 0.1, 0x1p-100, 0x1p100
	all := []kernelPair{
		{"Sum2", 0, func(x []float32, _ []byte, y []float32) { Sum2(x, x, y) }, func(x []float32, _ []byte, y []float32) { sum(x, x, y) }},
		{"Sum2 reversed", 0, func(x []float32, _ []byte, y []float32) { Sum2(x, y, x) }, func(x []float32, _ []byte, y []float32) { sum(x, y, x) }},
		{"Subtract", 0, func(x []float32, _ []byte, y []float32) { Subtract(x, y) }, func(x []float32, _ []byte, y []float32) { subtract(x, y) }},
		{"PutF32", 4, func(x []float32, b []byte, _ []float32) { PutF32(b, x) }, func(x []float32, b []byte, _ []float32) { putF32(b, x) }},
		{"GetF32", 4, func(x []float32, b []byte, _ []float32) { GetF32(x, b) }, func(x []float32, b []byte, _ []float32) { getF32(x, b) }},
		{"AddF32", 4, func(x []float32, b []byte, _ []float32) { AddF32(x, b) }, func(x []float32, b []byte, _ []float32) { addF32(x, b) }},
		{"PutBF16", 2, func(x []float32, b []byte, _ []float32) { PutBF16(b, x) }, func(x []float32, b []byte, _ []float32) { putBF16(b, x) }},
		{"GetBF16", 2, func(x []float32, b []byte, _ []float32) { GetBF16(x, b) }, func(x []float32, b []byte, _ []float32) { getBF16(x, b) }},
		{"AddBF16", 2, func(x []float32, b []byte, _ []float32) { AddBF16(x, b) }, func(x []float32, b []byte, _ []float32) { addBF16(x, b) }},
	}
	for _, s := range []float32{1, inexact, tiny, huge} {
		all = append(all,
			kernelPair{fmt.Sprintf("PutFP16 scale=%g", s), 2, func(x []float32, b []byte, _ []float32) { PutFP16(b, x, s) }, func(x []float32, b []byte, _ []float32) { putFP16(b, x, s) }},
			kernelPair{fmt.Sprintf("GetFP16 scale=%g", s), 2, func(x []float32, b []byte, _ []float32) { GetFP16(x, b, s) }, func(x []float32, b []byte, _ []float32) { getFP16(x, b, s) }},
			kernelPair{fmt.Sprintf("AddFP16 scale=%g", s), 2, func(x []float32, b []byte, _ []float32) { AddFP16(x, b, s) }, func(x []float32, b []byte, _ []float32) { addFP16(x, b, s) }},
		)
	}
	for _, s := range []float32{0, 1, inexact, tiny, huge, float32(math.NaN())} {
		all = append(all,
			kernelPair{fmt.Sprintf("GetInt8 scale=%g", s), 1, func(x []float32, b []byte, _ []float32) { GetInt8(x, b, s) }, func(x []float32, b []byte, _ []float32) { getInt8(x, b, s) }},
			kernelPair{fmt.Sprintf("AddInt8 scale=%g", s), 1, func(x []float32, b []byte, _ []float32) { AddInt8(x, b, s) }, func(x []float32, b []byte, _ []float32) { addInt8(x, b, s) }},
		)
	}
	return all
}

// TestKernelsMatch verifies each kernel against its portable body, at every length up to four strides
// and at changing alignments, on values of all kinds. Sums must not depend on the machine, and
// memory beside a vector must not change.
func TestKernelsMatch(t *testing.T) {
	needAssembly(t)
	const longest, guard = 4*stride + 2, 8
	from, other := everything(longest+2*guard, 1), everything(longest+2*guard, 2)
	raw := make([]byte, 4*(longest+2*guard))
	putF32(raw, everything(longest+2*guard, 3))
	for _, k := range kernelPairs() {
		t.Run("kernel="+k.name, func(t *testing.T) {
			x, wantX := make([]float32, len(from)), make([]float32, len(from))
			b, wantB := make([]byte, len(raw)), make([]byte, len(raw))
			for n := range longest + 1 {
				off := n % guard // changes with each length; of floats and of bytes
				run := func(kernel func([]float32, []byte, []float32), x []float32, b []byte) {
					copy(x, from)
					copy(b, raw)
					kernel(x[off:off+n], b[off:off+k.width*n], other[guard-off:guard-off+n])
				}
				run(k.kernel, x, b)
				run(k.defined, wantX, wantB)
				sameBits(t, fmt.Sprintf("n=%d offset=%d", n, off), x, wantX)
				if !bytes.Equal(b, wantB) {
					t.Fatalf("n=%d offset=%d: bytes are %x, want %x", n, off, b, wantB)
				}
			}
		})
	}
}

// TestPutInt8Match verifies the same of PutInt8, whose codes are defined within its range
// only.
func TestPutInt8Match(t *testing.T) {
	needAssembly(t)
	var src []float32
	for q := -127 * 8; q <= 127*8; q++ { // all ties
		src = append(src, float32(q)/8, math.Float32frombits(math.Float32bits(float32(q)/8)+1))
	}
	for _, inv := range []float32{1, 0.1, 0x1p-100, 0} {
		for n := range 4*stride + 3 {
			for at := n; at+n < len(src); at += 4 * stride {
				got, want := make([]byte, n+1), make([]byte, n+1)
				PutInt8(got[1:], src[at:at+n], inv)
				putInt8(want[1:], src[at:at+n], inv)
				if !bytes.Equal(got, want) {
					t.Fatalf("inv=%g n=%d: codes are %x, want %x", inv, n, got, want)
				}
			}
		}
	}
}

// TestScansMatch verifies the same of the scans, with each special value at each position. A NaN
// is found with its payload.
func TestScansMatch(t *testing.T) {
	needAssembly(t)
	for n := range 4*stride + 3 {
		x := pattern(n+8, uint64(n))[n%8:][:n]
		for pos, v := range x {
			for _, x[pos] = range specials() {
				if got, want := math.Float32bits(AbsMax(x)), absMax(x); got != want {
					t.Fatalf("n=%d, with %g at %d: AbsMax is %#08x, want %#08x", n, x[pos], pos, got, want)
				}
				if got, want := Finite(x), finite(x); got != want {
					t.Fatalf("n=%d, with %g at %d: Finite is %v, want %v", n, x[pos], pos, got, want)
				}
			}
			x[pos] = v
		}
	}
}

// TestHalvesMatch verifies the assembly for every value of both half formats, every tie between
// two values and the floats beside the tie.
func TestHalvesMatch(t *testing.T) {
	needAssembly(t)
	codes := make([]byte, 2<<16)
	for h := range 1 << 16 {
		codes[2*h], codes[2*h+1] = byte(h), byte(h>>8)
	}
	x, want := make([]float32, 1<<16), make([]float32, 1<<16)
	GetBF16(x, codes)
	getBF16(want, codes)
	sameBits(t, "GetBF16", x, want)
	for i := range x {
		if math.Float32bits(x[i]) != uint32(i)<<16 {
			t.Fatalf("%#04x decodes to %#08x: not even a NaN may change", i, math.Float32bits(x[i]))
		}
	}
	ties := make([]float32, 0, 3<<16)
	for i := range x {
		u := uint32(i)<<16 | 1<<15
		ties = append(ties, math.Float32frombits(u-1), math.Float32frombits(u), math.Float32frombits(u+1))
	}
	sameCodes(t, "PutBF16", ties, PutBF16, putBF16)

	GetFP16(x, codes, 1)
	getFP16(want, codes, 1)
	sameBits(t, "GetFP16", x, want)
	ties = ties[:0]
	for i := range x {
		if i&0x7fff >= 0x7c00 {
			ties = append(ties, x[i])
			continue
		}
		next := fromFP16(uint16(i + 1))
		if i&0x7fff == 0x7bff {
			next = float32(math.Copysign(65536, float64(x[i])))
		}
		mid := (x[i] + next) / 2
		u := math.Float32bits(mid)
		ties = append(ties, math.Float32frombits(u-1), mid, math.Float32frombits(u+1))
	}
	sameCodes(t, "PutFP16", ties,
		func(b []byte, src []float32) { PutFP16(b, src, 1) },
		func(b []byte, src []float32) { putFP16(b, src, 1) })
}

// sameCodes fails the test unless put writes the output of the portable body.
func sameCodes(t *testing.T, what string, src []float32, put, defined func([]byte, []float32)) {
	t.Helper()
	got, want := make([]byte, 2*len(src)), make([]byte, 2*len(src))
	put(got, src)
	defined(want, src)
	for i := range src {
		if !bytes.Equal(got[2*i:2*i+2], want[2*i:2*i+2]) {
			t.Fatalf("%s: %g (%#08x) encodes to %x, want %x", what, src[i], math.Float32bits(src[i]), got[2*i:2*i+2], want[2*i:2*i+2])
		}
	}
}

func needAssembly(t *testing.T) {
	t.Helper()
	if !assembly {
		t.Skip("there is no assembly in this build, or not for this processor")
	}
}
