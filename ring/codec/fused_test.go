package codec

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"ringtrain/ring/internal/vec"
)

// tiled returns lengths around those of blocks and tiles.
func tiled() []int { return append(lengths(), tile-1, tile, tile+1, 3*tile+300) }

// wild returns gradients with some elements replaced by v, a value that codecs treat
// specially, so that only the blocks with one are affected.
func wild(n int, seed uint64, v float32) []float32 {
	x := gradient(n, seed)
	for i := 5; i < n; i += 611 {
		x[i] = v
	}
	return x
}

// sameFloats fails the test unless got has the bits of want. All NaNs are the same.
func sameFloats(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if got[i] != got[i] && want[i] != want[i] {
			continue
		}
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: element %d is %g, want %g", what, i, got[i], want[i])
		}
	}
}

// appendWhole is Append without tiles.
func appendWhole(c Codec, src []float32) []byte {
	payload := make([]byte, c.EncodedLen(len(src)))
	if c.scale != nil {
		c.scale(payload, vec.AbsMax(src))
	}
	c.put(payload, 0, src)
	return payload
}

// appendKeepSteps is AppendKeep in separate steps, each over all elements.
func appendKeepSteps(t *testing.T, c Codec, x, residual []float32) []byte {
	t.Helper()
	for i := range residual {
		x[i] += residual[i]
	}
	copy(residual, x)
	payload := appendWhole(c, x)
	if err := c.Decode(x, payload); err != nil {
		t.Fatal(err)
	}
	for i := range residual {
		residual[i] -= x[i]
	}
	return payload
}

// eachFused calls run for every codec, length and kind of values, with and
// without a residual.
func eachFused(t *testing.T, run func(t *testing.T, c Codec, what string, x, residual []float32)) {
	eachCodec(t, func(t *testing.T, c Codec) {
		for _, n := range tiled() {
			for _, v := range []float32{0, 1e-39, -math.MaxFloat32, inf, nan} {
				for _, feedback := range []bool{false, true} {
					var residual []float32
					if feedback {
						residual = gradient(n, 7)
					}
					run(t, c, fmt.Sprintf("n=%d special=%g feedback=%v", n, v, feedback), wild(n, 6, v), residual)
				}
			}
		}
	})
}

// TestAppendKeepIsItsSteps verifies that error feedback in one pass has the same bits as
// adding, encoding, decoding and subtracting one after the other.
func TestAppendKeepIsItsSteps(t *testing.T) {
	eachFused(t, func(t *testing.T, c Codec, what string, x, residual []float32) {
		wantX, wantResidual := slices.Clone(x), slices.Clone(residual)
		want := appendKeepSteps(t, c, wantX, wantResidual)
		got := c.AppendKeep([]byte("before"), x, residual)
		if !bytes.Equal(got, append([]byte("before"), want...)) {
			t.Fatalf("%s: the payload differs", what)
		}
		sameFloats(t, what+": x", x, wantX)
		sameFloats(t, what+": residual", residual, wantResidual)
	})
}

// TestAppendHopIsItsSteps verifies that a hop in one pass has the same bits as DecodeAdd
// followed by Append or AppendKeep.
func TestAppendHopIsItsSteps(t *testing.T) {
	eachFused(t, func(t *testing.T, c Codec, what string, x, residual []float32) {
		received := appendWhole(c, gradient(len(x), 8))
		for _, keep := range []bool{false, true} {
			what := fmt.Sprintf("%s keep=%v", what, keep)
			x, residual := slices.Clone(x), slices.Clone(residual)
			wantX, wantResidual := slices.Clone(x), slices.Clone(residual)
			if err := c.DecodeAdd(wantX, received); err != nil {
				t.Fatal(err)
			}
			var want []byte
			if keep || residual != nil {
				want = appendKeepSteps(t, c, wantX, wantResidual)
			} else {
				want = appendWhole(c, wantX)
			}
			got, err := c.AppendHop([]byte("before"), x, received, residual, keep)
			if err != nil || !bytes.Equal(got, append([]byte("before"), want...)) {
				t.Fatalf("%s: the payload differs, error %v", what, err)
			}
			sameFloats(t, what+": x", x, wantX)
			sameFloats(t, what+": residual", residual, wantResidual)
		}
	})
}

// TestAppendOnlyReads verifies that Append equals encoding all at once, and does not change
// its source: a bucket is sent while other goroutines still read it.
func TestAppendOnlyReads(t *testing.T) {
	eachFused(t, func(t *testing.T, c Codec, what string, x, _ []float32) {
		before := slices.Clone(x)
		if !bytes.Equal(c.Append(nil, x), appendWhole(c, before)) {
			t.Fatalf("%s: the payload differs", what)
		}
		if !bytes.Equal(None.Append(nil, x), None.Append(nil, before)) {
			t.Fatalf("%s: Append changes its source", what)
		}
	})
}

// TestOwnerKeepsDecoded verifies that the owner of a chunk keeps the same bits as the workers
// that decode its bytes: else replicas would drift apart.
func TestOwnerKeepsDecoded(t *testing.T) {
	eachCodec(t, func(t *testing.T, c Codec) {
		owner, residual := gradient(5000, 1), gradient(5000, 2)
		payload := c.AppendKeep(nil, owner, residual)
		other := make([]float32, len(owner))
		if err := c.Decode(other, payload); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(None.Append(nil, owner), None.Append(nil, other)) {
			t.Error("the owner's bits differ from what its bytes decode to")
		}
	})
}

// TestHopRefusesWhole verifies that a hop with an invalid payload changes nothing, also if the
// fault is in the last block.
func TestHopRefusesWhole(t *testing.T) {
	const n = 2*tile + 5
	eachCodec(t, func(t *testing.T, c Codec) {
		good := c.Append(nil, gradient(n, 1))
		bad := [][]byte{nil, good[:len(good)-1], append(slices.Clone(good), 0)}
		switch c {
		case FP16:
			bad = append(bad, slices.Replace(slices.Clone(good), 0, 2, 101, 0))
		case Int8: // the scale of the last block is -1
			at := 4 * (n / int8Block)
			bad = append(bad, slices.Replace(slices.Clone(good), at, at+4, 0, 0, 0x80, 0xbf))
		}
		x, residual := gradient(n, 2), gradient(n, 3)
		for i, payload := range bad {
			dst, err := c.AppendHop([]byte("before"), x, payload, residual, true)
			if err == nil || string(dst) != "before" {
				t.Errorf("payload %d: error is %v, and %d bytes are appended", i, err, len(dst)-len("before"))
			}
		}
		sameFloats(t, "x", x, gradient(n, 2))
		sameFloats(t, "residual", residual, gradient(n, 3))
	})
}

// TestResidualMustFit verifies that a residual of another length panics.
func TestResidualMustFit(t *testing.T) {
	eachCodec(t, func(t *testing.T, c Codec) {
		defer func() {
			if p := recover(); p != "codec: residual is not of x's length" {
				t.Errorf("panic is %v", p)
			}
		}()
		c.AppendKeep(nil, make([]float32, 4), make([]float32, 5))
	})
}

// TestDecoderPanics verifies that a panic of a library's decoder becomes an error: its input
// comes from the network.
func TestDecoderPanics(t *testing.T) {
	decode := func() (err error) {
		defer recoverAs(NewZstd(), &err)
		panic(errors.New("index out of range"))
	}
	err := decode()
	if err == nil || err.Error() != "compressor zstd: decoder panicked: index out of range" {
		t.Errorf("error is %v", err)
	}
}
