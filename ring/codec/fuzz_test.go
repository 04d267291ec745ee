package codec

import (
	"math"
	"testing"
)

// FuzzDecode verifies that no input makes a decoder panic or accept a payload of a wrong
// length, and that accepted values survive a round trip.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{0, 0, 0x80, 0x3f}, 1)
	for _, c := range All() {
		for _, n := range []int{1, 3, 300} {
			f.Add(c.Append(nil, gradient(n, 1)), n)
		}
		f.Add(c.Append(nil, []float32{nan, inf, -inf, math.MaxFloat32, 1e-39}), 5)
	}
	f.Fuzz(func(t *testing.T, payload []byte, n int) {
		if n < 0 || n > 1<<16 {
			return
		}
		for _, c := range All() {
			dst := make([]float32, n)
			if err := c.Decode(dst, payload); err != nil {
				continue
			}
			if len(payload) != c.EncodedLen(n) {
				t.Errorf("%v: takes %d bytes for %d elements, want %d", c, len(payload), n, c.EncodedLen(n))
			}
			if err := c.DecodeAdd(make([]float32, n), payload); err != nil {
				t.Errorf("%v: Decode takes what DecodeAdd refuses: %v", c, err)
			}
			again := c.Append(nil, dst)
			if len(again) != c.EncodedLen(n) {
				t.Errorf("%v: encodes %d elements into %d bytes, want %d", c, n, len(again), c.EncodedLen(n))
			}
			if err := c.Decode(make([]float32, n), again); err != nil {
				t.Errorf("%v: cannot decode its own encoding: %v", c, err)
			}
		}
	})
}

// FuzzDecompress verifies that no payload makes a decompressor panic or write outside its
// destination, and that accepted bytes survive a round trip.
func FuzzDecompress(f *testing.F) {
	all := compressors()
	for _, c := range all {
		for _, src := range [][]byte{nil, []byte("aaaaaaaaaaaaaaaaaaaaab"), None.Append(nil, gradient(300, 1)), make([]byte, 5000)} {
			f.Add(c.Append(nil, src), len(src))
		}
	}
	f.Fuzz(func(t *testing.T, payload []byte, n int) {
		if n < 0 || n > 1<<16 {
			return
		}
		for _, c := range all {
			arena := make([]byte, n+64)
			dst := arena[:n:n]
			err := c.Decode(dst, payload)
			for _, b := range arena[n:] {
				if b != 0 {
					t.Fatalf("%v: writes outside the destination", c)
				}
			}
			if err != nil {
				continue
			}
			if err := c.Decode(make([]byte, n), c.Append(nil, dst)); err != nil {
				t.Errorf("%v: cannot decode its own output: %v", c, err)
			}
		}
	})
}
