package vec

import (
	"bytes"
	"fmt"
	"math"
	"testing"
)

// TestF32 verifies the kernels against the portable loops, at every alignment of the
// bytes.
func TestF32(t *testing.T) {
	src := append(specials(), pattern(33, 3)...)
	for off := range 5 {
		b, want := make([]byte, 4*len(src)+off)[off:], make([]byte, 4*len(src))
		PutF32(b, src)
		putF32(want, src)
		if !bytes.Equal(b, want) {
			t.Fatalf("offset=%d: PutF32 gives %x, want %x", off, b, want)
		}
		got, ref := make([]float32, len(src)), make([]float32, len(src))
		GetF32(got, b)
		getF32(ref, b)
		sameBits(t, "GetF32 against its loop", got, ref)
		sameBits(t, "GetF32 of PutF32", got, src)
		got, ref = pattern(len(src), 4), pattern(len(src), 4)
		AddF32(got, b)
		addF32(ref, b)
		sameBits(t, fmt.Sprintf("AddF32 offset=%d", off), got, ref)
	}
}

// TestHalvesRoundToNearest verifies all values of both half formats: each decodes to the number
// that the format defines and encodes to itself. Between each value and the next, rounding
// changes at the middle, where the even value wins. Otherwise sums would be biased, or equal
// gradients would have different bits on different machines.
func TestHalvesRoundToNearest(t *testing.T) {
	tests := []struct {
		name     string
		to       func(float32) uint16
		from     func(uint16) float32
		mantissa int // bits
		bias     int
		inf, nan uint16
	}{
		{"bf16", toBF16, fromBF16, 7, 127, 0x7f80, 0x7fc0},
		{"fp16", toFP16, fromFP16, 10, 15, 0x7c00, 0x7e00},
	}
	for _, tt := range tests {
		t.Run("format="+tt.name, func(t *testing.T) {
			meaning := func(h uint16) float64 {
				m, e := int(h)&(1<<tt.mantissa-1), int(h)>>tt.mantissa
				if e == 0 {
					return math.Ldexp(float64(m), 1-tt.bias-tt.mantissa)
				}
				return math.Ldexp(float64(m+1<<tt.mantissa), e-tt.bias-tt.mantissa)
			}
			for h := uint16(0); h < tt.inf; h++ {
				v := meaning(h)
				if got := float64(tt.from(h)); got != v {
					t.Fatalf("%#04x decodes to %g, want %g", h, got, v)
				}
				even := h + h&1
				mid := float32((v + meaning(h+1)) / 2) // needs one bit more than the format has
				for _, c := range []struct {
					in   float32
					want uint16
				}{
					{float32(v), h}, {mid, even},
					{math.Float32frombits(math.Float32bits(mid) - 1), h},
					{math.Float32frombits(math.Float32bits(mid) + 1), h + 1},
				} {
					if got := tt.to(c.in); got != c.want {
						t.Fatalf("%g encodes to %#04x, want %#04x", c.in, got, c.want)
					}
					if got := tt.to(-c.in); got != c.want|0x8000 {
						t.Fatalf("%g encodes to %#04x, want %#04x", -c.in, got, c.want|0x8000)
					}
				}
			}
			inf := float32(math.Inf(1))
			if tt.to(inf) != tt.inf || tt.to(-inf) != tt.inf|0x8000 || tt.from(tt.inf) != inf || tt.from(tt.inf|0x8000) != -inf {
				t.Error("an infinity does not survive")
			}
			for _, u := range []uint32{0x7fc00000, 0xffc00000, 0x7f800001, 0xffffffff, 0x7fffffff} {
				if got := tt.to(math.Float32frombits(u)); got != tt.nan {
					t.Errorf("NaN %#08x encodes to %#04x, want %#04x: it would differ between machines", u, got, tt.nan)
				}
			}
			for h := tt.inf + 1; h < 0x8000; h++ {
				if v := tt.from(h); v == v {
					t.Errorf("%#04x decodes to %g, want NaN", h, v)
				}
			}
		})
	}
}

// TestHalfKernels verifies that a kernel over a slice equals the conversion of each element,
// and rounds product and sum separately.
func TestHalfKernels(t *testing.T) {
	src := append(specials(), pattern(40, 5)...)
	const up, down = 0x1p7, 0x1p-7
	half, scaled := make([]byte, 2*len(src)), make([]byte, 2*len(src))
	PutBF16(half, src)
	PutFP16(scaled, src, up)
	got, want, from := make([]float32, len(src)), make([]float32, len(src)), pattern(len(src), 6)

	for i, v := range src {
		want[i] = fromBF16(toBF16(v))
	}
	GetBF16(got, half)
	sameBits(t, "GetBF16", got, want)
	copy(got, from)
	AddBF16(got, half)
	Add(want, from)
	sameBits(t, "AddBF16", got, want)

	for i, v := range src {
		want[i] = fromFP16(toFP16(v*up)) * down
	}
	GetFP16(got, scaled, down)
	sameBits(t, "GetFP16", got, want)
	copy(got, from)
	AddFP16(got, scaled, down)
	Add(want, from)
	sameBits(t, "AddFP16", got, want)
}

// TestInt8 verifies the codes against math.RoundToEven at every quarter in the range, which
// includes all ties, and the sums against a separately rounded product. A fused product and sum
// on arm64 would give other bits than amd64.
func TestInt8(t *testing.T) {
	var src []float32
	for q := -127 * 4; q <= 127*4; q++ {
		src = append(src, float32(q)/4)
	}
	codes := make([]byte, len(src))
	PutInt8(codes, src, 1)
	for i, v := range src {
		if got, want := int8(codes[i]), int8(math.RoundToEven(float64(v))); got != want {
			t.Fatalf("%g encodes to %d, want %d", v, got, want)
		}
	}
	const scale = 0.1 // inexact, so that a fused sum would differ
	got, want := make([]float32, len(codes)), make([]float32, len(codes))
	for i, c := range codes {
		want[i] = float32(float64(int8(c)) * float64(float32(scale)))
	}
	GetInt8(got, codes, scale)
	sameBits(t, "GetInt8", got, want)
	copy(got, pattern(len(got), 7))
	AddInt8(got, codes, scale)
	Add(want, pattern(len(got), 7))
	sameBits(t, "AddInt8", got, want)
}

// TestKernelsAllocateNothing verifies that no kernel allocates.
func TestKernelsAllocateNothing(t *testing.T) {
	x, b := make([]float32, 300), make([]byte, 1200)
	allocs := testing.AllocsPerRun(10, func() {
		Add(x, x)
		Sum2(x, x, x)
		Subtract(x, x)
		AbsMax(x)
		Finite(x)
		PutF32(b, x)
		GetF32(x, b)
		AddF32(x, b)
		PutBF16(b[:600], x)
		GetBF16(x, b[:600])
		AddBF16(x, b[:600])
		PutFP16(b[:600], x, 1)
		GetFP16(x, b[:600], 1)
		AddFP16(x, b[:600], 1)
		PutInt8(b[:300], x, 1)
		GetInt8(x, b[:300], 1)
		AddInt8(x, b[:300], 1)
	})
	if allocs != 0 {
		t.Errorf("the kernels allocate %g times, want 0", allocs)
	}
}
