package codec

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
)

// TestSubnormalBlock verifies that a block of subnormal residuals flushes to zero: 127/m would
// be infinite, and 0·∞ would make the whole model NaN.
func TestSubnormalBlock(t *testing.T) {
	for _, m := range []float32{1e-39, -5e-39, math.SmallestNonzeroFloat32, 0x1p-126, 9e-31} {
		residual := make([]float32, 300)
		residual[7], residual[299] = m, m
		for i, b := range Int8.AppendKeep(nil, make([]float32, 300), residual) {
			if b != 0 {
				t.Errorf("max=%g: byte %d of the payload is %#x, want 0", m, i, b)
			}
		}
		if residual[7] != m || residual[0] != 0 {
			t.Errorf("max=%g: the residual becomes %g, want what it was", m, residual[7])
		}
	}
	if got := through(t, Int8, []float32{2e-30})[0]; !(math.Abs(float64(got)-2e-30) <= 1e-36) {
		t.Errorf("2e-30 decodes to %g: the flush takes too much", got)
	}
}

// TestResidualDecay runs error feedback on weights that get no more gradient, as pixels that
// are seldom lit do. It verifies that the residuals never become NaN.
func TestResidualDecay(t *testing.T) {
	eachCodec(t, func(t *testing.T, c Codec) {
		residual := gradient(600, 1)
		for step := range 200 {
			decoded := through(t, c, residual)
			for i := range residual {
				residual[i] -= decoded[i]
				if math.IsNaN(float64(residual[i])) || math.IsInf(float64(residual[i]), 0) {
					t.Fatalf("step %d: residual %d is %g", step, i, residual[i])
				}
			}
		}
	})
}

// TestFeedbackRemovesBias encodes the same gradient many times. It verifies that with error
// feedback the mean of the decoded values approaches the gradient, and that it does not
// without.
func TestFeedbackRemovesBias(t *testing.T) {
	const steps = 200
	for _, c := range []Codec{BF16, FP16, Int8} {
		t.Run("codec="+c.String(), func(t *testing.T) {
			g := gradient(256, 2)
			residual, sum, input := make([]float32, len(g)), make([]float64, len(g)), make([]float32, len(g))
			for range steps {
				for i := range g {
					input[i] = g[i] + residual[i]
				}
				for i, v := range through(t, c, input) {
					residual[i] = input[i] - v
					sum[i] += float64(v)
				}
			}
			var with, without float64
			for i, v := range through(t, c, g) {
				without = max(without, math.Abs(float64(v-g[i])))
				with = max(with, math.Abs(sum[i]/steps-float64(g[i])))
			}
			if !(with <= without/50) || without == 0 {
				t.Errorf("bias is %g with feedback and %g without, want a fiftieth at most", with, without)
			}
		})
	}
}

// TestNotFinite verifies that an infinity or a NaN arrives as one: else the job would continue
// with a lost model. It also verifies that the bytes do not depend on the sign or payload of a
// NaN, which differ between machines.
func TestNotFinite(t *testing.T) {
	payloadNaN := math.Float32frombits(0xffc12345)
	for _, c := range []Codec{BF16, FP16, Int8} {
		t.Run("codec="+c.String(), func(t *testing.T) {
			for _, bad := range []float32{inf, -inf, nan} {
				src := gradient(600, 3)
				src[300] = bad
				got := through(t, c, src)
				if v := float64(got[300]); !math.IsNaN(v) && !math.IsInf(v, 0) {
					t.Errorf("%g decodes to %g", bad, v)
				}
				if c == Int8 && (got[255] != got[255] || got[256] == got[256] || got[511] == got[511] || got[512] != got[512]) {
					t.Error("want NaN in the block of the bad element, all of it and no other")
				}
			}
			a, b := gradient(600, 3), gradient(600, 3)
			a[300], b[300] = nan, payloadNaN
			if string(c.Append(nil, a)) != string(c.Append(nil, b)) {
				t.Error("two NaNs give different bytes")
			}
			sum := []float32{1, 1}
			if err := c.DecodeAdd(sum, c.Append(nil, []float32{nan, nan})); err != nil || sum[0] == sum[0] {
				t.Errorf("1 + NaN is %g, error %v", sum[0], err)
			}
		})
	}
}

// TestNaNStaysNaN verifies that rounding never turns a NaN into an infinity or a zero, in the
// bulk of a vector and at its end.
func TestNaNStaysNaN(t *testing.T) {
	for _, u := range []uint32{0x7f800001, 0x7fffffff, 0xff800001, 0xffffffff, 0x7fc00000} {
		for _, c := range []Codec{None, BF16, FP16} {
			src := gradient(70, 1)
			src[3], src[69] = math.Float32frombits(u), math.Float32frombits(u)
			if got := through(t, c, src); got[3] == got[3] || got[69] == got[69] {
				t.Errorf("codec=%v: the NaN %#08x decodes to %g and %g", c, u, got[3], got[69])
			}
		}
	}
}

// TestLargest verifies that the largest finite numbers do not overflow where the codec can
// represent them.
func TestLargest(t *testing.T) {
	src := []float32{math.MaxFloat32, -math.MaxFloat32, math.MaxFloat32 / 2, 0}
	for i, v := range through(t, Int8, src) {
		if !(math.Abs(float64(v)-float64(src[i])) <= math.MaxFloat32/250) {
			t.Errorf("int8: %g decodes to %g", src[i], v)
		}
	}
	for i, v := range through(t, BF16, []float32{3.38e38, -3.38e38}) {
		if math.IsInf(float64(v), 0) || math.IsNaN(float64(v)) {
			t.Errorf("bf16: element %d overflows: %g", i, v)
		}
	}
	if v := through(t, FP16, []float32{0x1.8p115})[0]; v != 0x1.8p115 {
		t.Errorf("fp16: 1.5·2^115 decodes to %g", v)
	}
}

// TestFP16Scale verifies k at powers of two and beside them, and its clamp: the largest element
// must not overflow, and no precision must be lost.
func TestFP16Scale(t *testing.T) {
	for _, tt := range []struct {
		max  float32
		want int
	}{
		{0, 100}, {1e-45, 100}, {0x1p-86, 100}, {0x1.8p-86, 99}, {0.5, 15}, {1, 14}, {1.0000001, 13},
		{2, 13}, {65504, -2}, {0x1p114, -100}, {math.MaxFloat32, -100}, {inf, -100}, {nan, -100},
	} {
		payload := FP16.Append(nil, []float32{0, -tt.max})
		if got := int(int16(binary.LittleEndian.Uint16(payload))); got != tt.want {
			t.Errorf("max=%g: k is %d, want %d", tt.max, got, tt.want)
		}
	}
}

// TestScaleKeepsSmall verifies that the scale preserves a gradient far below the range of
// binary16.
func TestScaleKeepsSmall(t *testing.T) {
	src := []float32{3e-20, -1.5e-20}
	for i, v := range through(t, FP16, src) {
		if !(math.Abs(float64(v/src[i])-1) <= 0x1p-11) {
			t.Errorf("%g decodes to %g", src[i], v)
		}
	}
}

// TestRefusedPayloads verifies that decoders refuse payloads of the right length that no
// encoder writes.
func TestRefusedPayloads(t *testing.T) {
	for _, tt := range []struct {
		name    string
		c       Codec
		payload []byte
		err     string
	}{
		{"fp16 k=101", FP16, []byte{101, 0, 0, 0}, "codec fp16: k is 101, want -100 to 100"},
		{"fp16 k=-32768", FP16, []byte{0, 0x80, 0, 0}, "codec fp16: k is -32768"},
		{"int8 scale=-1", Int8, []byte{0, 0, 0x80, 0xbf, 1}, "codec int8: scale of block 0 is -1"},
		{"int8 scale=+Inf", Int8, []byte{0, 0, 0x80, 0x7f, 1}, "codec int8: scale of block 0 is +Inf"},
		{"int8 scale=another NaN", Int8, []byte{1, 0, 0xc0, 0x7f, 1}, "codec int8: scale of block 0 is NaN (0x7fc00001)"},
		{"int8 scale=too large", Int8, []byte{0, 0, 0, 0x7f, 1}, "codec int8: scale of block 0 is 1.7014118e+38"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dst := []float32{7}
			for _, decode := range []func([]float32, []byte) error{tt.c.Decode, tt.c.DecodeAdd} {
				if err := decode(dst, tt.payload); err == nil || !strings.HasPrefix(err.Error(), tt.err) {
					t.Errorf("error is %v, want %s", err, tt.err)
				}
			}
			if dst[0] != 7 {
				t.Error("a refused payload changed the destination")
			}
		})
	}
}
