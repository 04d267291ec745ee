package codec

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

var (
	inf = float32(math.Inf(1))
	nan = float32(math.NaN())
)

// gradient returns n elements like those of a gradient: of all magnitudes below one, a third
// of them zero.
func gradient(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float32, n)
	for i := range x {
		if r.IntN(3) > 0 {
			x[i] = float32(r.NormFloat64() * math.Pow(10, -4*r.Float64()))
		}
	}
	return x
}

// lengths returns lengths around those of blocks.
func lengths() []int { return []int{0, 1, 2, 255, 256, 257, 512, 1000} }

func eachCodec(t *testing.T, run func(t *testing.T, c Codec)) {
	for _, c := range All() {
		t.Run("codec="+c.String(), func(t *testing.T) { run(t, c) })
	}
}

// through returns x after its way over the wire.
func through(t *testing.T, c Codec, x []float32) []float32 {
	t.Helper()
	got := make([]float32, len(x))
	if err := c.Decode(got, c.Append(nil, x)); err != nil {
		t.Fatal(err)
	}
	return got
}

func maxAbs(x []float32) float64 {
	var m float64
	for _, v := range x {
		m = max(m, math.Abs(float64(v)))
	}
	return m
}

// TestGolden verifies the bytes of each codec, so that workers of different builds understand
// each other.
func TestGolden(t *testing.T) {
	src := []float32{1, -0.5, 0, 3.1415927, -1e-3}
	for _, tt := range []struct {
		c       Codec
		id      uint8
		payload string
	}{
		{None, 0, "0000803f 000000bf 00000000 db0f4940 6f1283ba"},
		{BF16, 1, "803f 00bf 0000 4940 83ba"},
		{FP16, 2, "0c00 006c 00e8 0000 4872 19c4"},
		{Int8, 3, "25a5ca3c 28 ec 00 7f 00"},
	} {
		t.Run("codec="+tt.c.String(), func(t *testing.T) {
			got := hex.EncodeToString(tt.c.Append(nil, src))
			if want := strings.ReplaceAll(tt.payload, " ", ""); got != want {
				t.Errorf("payload is %s, want %s", got, want)
			}
			if tt.c.ID() != tt.id {
				t.Errorf("ID is %d, want %d", tt.c.ID(), tt.id)
			}
		})
	}
}

// TestRoundTrip verifies that a codec loses no more than it promises, writes EncodedLen
// bytes, and leaves the bytes before its payload unchanged.
func TestRoundTrip(t *testing.T) {
	// Bounds of the error of element x in a payload or block whose largest magnitude is m.
	bound := map[Codec]func(x, m float64) float64{
		BF16: func(x, m float64) float64 { return math.Abs(x) * 0x1p-8 },
		FP16: func(x, m float64) float64 { return max(math.Abs(x)*0x1p-11, m*0x1p-38) },
	}
	eachCodec(t, func(t *testing.T, c Codec) {
		within := bound[c]
		if within == nil {
			within = func(_, m float64) float64 { return m * c.Unit() }
		}
		for _, n := range lengths() {
			for _, scale := range []float32{1, 1e-25, 1e25} {
				src := gradient(n, 1)
				for i := range src {
					src[i] *= scale
				}
				encoded := c.Append([]byte("before"), src)
				if string(encoded[:6]) != "before" || len(encoded) != 6+c.EncodedLen(n) {
					t.Fatalf("n=%d: Append makes %d bytes after %q, want %d after before", n, len(encoded)-6, encoded[:6], c.EncodedLen(n))
				}
				got := make([]float32, n)
				if err := c.Decode(got, encoded[6:]); err != nil {
					t.Fatal(err)
				}
				for i := range src {
					x, m := float64(src[i]), maxAbs(src)
					if diff := math.Abs(float64(got[i]) - x); !(diff <= within(x, m)) {
						t.Fatalf("n=%d scale=%g: element %d is %g, want %g ± %g", n, scale, i, got[i], x, within(x, m))
					}
				}
			}
		}
	})
}

// TestDecodeIsStable verifies that encoding decoded values again changes nothing. An owner
// keeps its decoded values and sends them once more; else it would drift from the
// others.
func TestDecodeIsStable(t *testing.T) {
	eachCodec(t, func(t *testing.T, c Codec) {
		once := through(t, c, gradient(1000, 2))
		twice := through(t, c, once)
		for i := range once {
			if diff := math.Abs(float64(once[i] - twice[i])); !(diff <= 1e-6*maxAbs(once)) {
				t.Fatalf("element %d is %g, then %g", i, once[i], twice[i])
			}
		}
	})
}

// TestDecodeAdd verifies that DecodeAdd equals Decode and a separately rounded sum. A
// platform that fuses product and sum would give other bits.
func TestDecodeAdd(t *testing.T) {
	eachCodec(t, func(t *testing.T, c Codec) {
		for _, n := range lengths() {
			payload := c.Append(nil, gradient(n, 3))
			got, decoded := gradient(n, 4), make([]float32, n)
			if err := c.Decode(decoded, payload); err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				decoded[i] = v + decoded[i]
			}
			if err := c.DecodeAdd(got, payload); err != nil {
				t.Fatal(err)
			}
			for i := range got {
				if math.Float32bits(got[i]) != math.Float32bits(decoded[i]) {
					t.Fatalf("n=%d: element %d is %g, want %g", n, i, got[i], decoded[i])
				}
			}
		}
	})
}

// TestWrongLength verifies that a payload of a wrong length is refused, and leaves the
// destination unchanged.
func TestWrongLength(t *testing.T) {
	eachCodec(t, func(t *testing.T, c Codec) {
		for _, n := range lengths() {
			payload := c.Append(nil, make([]float32, n))
			for _, bad := range [][]byte{append(payload, 0), payload[:max(len(payload)-1, 0)]} {
				if len(bad) == len(payload) {
					continue // the empty payload cannot be shorter
				}
				want := fmt.Sprintf("codec %v: %d bytes for %d elements, want %d", c, len(bad), n, len(payload))
				dst := make([]float32, n)
				for i := range dst {
					dst[i] = 7
				}
				for _, decode := range []func([]float32, []byte) error{c.Decode, c.DecodeAdd} {
					if err := decode(dst, bad); err == nil || err.Error() != want {
						t.Errorf("error is %v, want %s", err, want)
					}
				}
				for _, v := range dst {
					if v != 7 {
						t.Fatal("a refused payload changed the destination")
					}
				}
			}
		}
	})
}

// TestCodecsAllocateNothing verifies that a codec does not allocate.
func TestCodecsAllocateNothing(t *testing.T) {
	eachCodec(t, func(t *testing.T, c Codec) {
		src := gradient(2*tile+7, 5)
		buf, hop := make([]byte, 0, c.EncodedLen(len(src))), make([]byte, 0, c.EncodedLen(len(src)))
		dst, residual := make([]float32, len(src)), make([]float32, len(src))
		allocs := testing.AllocsPerRun(10, func() {
			payload := c.Append(buf, src)
			if c.Decode(dst, payload) != nil || c.DecodeAdd(dst, payload) != nil {
				t.Error("cannot decode its own encoding")
			}
			if _, err := c.AppendHop(hop, dst, payload, residual, true); err != nil {
				t.Error("cannot hop from its own encoding")
			}
			c.AppendKeep(buf, dst, residual)
		})
		if allocs != 0 {
			t.Errorf("a step allocates %g times, want 0", allocs)
		}
	})
}
