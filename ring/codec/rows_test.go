package codec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// sparse returns n float32 as bytes; each run of width elements is not zero
// with probability p.
func sparse(n, width int, p float64, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 0))
	b := make([]byte, 4*n)
	for at := 0; at < n; at += width {
		if rng.Float64() >= p {
			continue
		}
		for i := at; i < min(at+width, n); i++ {
			binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(rng.Float32()+1))
		}
	}
	return b
}

// TestRowsFormat fails if the bytes of a known input change: two versions could
// then not talk to each other.
func TestRowsFormat(t *testing.T) {
	src := make([]byte, 4*203+2)
	binary.LittleEndian.PutUint32(src[4*1:], 0x11223344)
	binary.LittleEndian.PutUint32(src[4*2:], 0x80000000) // -0
	binary.LittleEndian.PutUint32(src[4*202:], 1)
	src[4*203], src[4*203+1] = 0xaa, 0xbb
	want := []byte{
		0xaa, 0xbb, // no whole word
		1, 2, 0x44, 0x33, 0x22, 0x11, 0, 0, 0, 0x80,
		0xc7, 0x01, 1, 1, 0, 0, 0, // 199 zeros before
	}
	if got := Rows.Append(nil, src); !bytes.Equal(got, want) {
		t.Errorf("payload % x, want % x", got, want)
	}
}

// TestRowsRoundTrip fails if a value, or its place, is lost for some length,
// density or width, or if a payload is longer than MaxLen says.
func TestRowsRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 1000, 1 << 14} {
		for _, p := range []float64{0, 0.05, 0.5, 1} {
			for _, width := range []int{1, 9} {
				t.Run(fmt.Sprintf("n=%d/density=%g/width=%d", n, p, width), func(t *testing.T) {
					src := sparse(n, width, p, uint64(n))
					payload := Rows.Append([]byte("before"), src)[len("before"):]
					if len(payload) > Rows.MaxLen(len(src)) {
						t.Errorf("payload of %d bytes, want at most %d", len(payload), Rows.MaxLen(len(src)))
					}
					dst := bytes.Repeat([]byte{0xff}, len(src))
					if err := Rows.Decode(dst, payload); err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(dst, src) {
						t.Error("decoded bytes are not those encoded")
					}
				})
			}
		}
	}
}

// TestRowsWorstCase fails if single words between zeros, which cost most, make
// a payload longer than MaxLen.
func TestRowsWorstCase(t *testing.T) {
	for _, every := range []int{1, 2, 3} {
		src := make([]byte, 4*999)
		for i := 0; i < 999; i += every {
			src[4*i] = 1
		}
		if got, most := len(Rows.Append(nil, src)), Rows.MaxLen(len(src)); got > most {
			t.Errorf("every=%d: %d bytes, want at most %d", every, got, most)
		}
	}
}

// TestRowsPays fails if embedding gradients of which one row in twenty is
// touched are not sent in a fraction of the bytes.
func TestRowsPays(t *testing.T) {
	src := sparse(9<<12, 9, 0.05, 1)
	if ratio := float64(len(src)) / float64(len(Rows.Append(nil, src))); ratio < 15 {
		t.Errorf("ratio %.1f, want 15 or more", ratio)
	}
}

// TestRowsRefuses fails if a payload from a broken peer is taken, or written
// anywhere but into dst.
func TestRowsRefuses(t *testing.T) {
	huge := binary.AppendUvarint(nil, math.MaxUint64)
	for name, payload := range map[string][]byte{
		"gap=beyond":  {9, 1, 0, 0, 0, 0},
		"gap=huge":    append(bytes.Clone(huge), 1, 0, 0, 0, 0),
		"run=beyond":  {0, 9, 1, 1, 1, 1},
		"run=huge":    append([]byte{0}, huge...),
		"run=empty":   {1, 0},
		"run=absent":  {1},
		"words=cut":   {0, 1, 1, 1, 1},
		"varint=cut":  {0x80},
		"runs=beyond": {0, 2, 1, 1, 1, 1, 1, 1, 1, 1, 7, 1, 1, 1, 1, 1},
	} {
		dst := make([]byte, 4*8, 4*16)
		if err := Rows.Decode(dst, payload); err == nil {
			t.Errorf("%s: taken", name)
		}
		for _, b := range dst[len(dst):cap(dst)] {
			if b != 0 {
				t.Fatalf("%s: written beyond dst", name)
			}
		}
	}
	if err := Rows.Decode(make([]byte, 3), []byte{1, 2}); err == nil {
		t.Error("odd=cut: taken")
	}
}

// BenchmarkRows measures bytes of float32 per second by density.
func BenchmarkRows(b *testing.B) {
	for _, p := range []float64{0, 0.05, 1} {
		src := sparse(1<<15, 9, p, 1)
		payload := Rows.Append(nil, src)
		buf := make([]byte, 0, Rows.MaxLen(len(src)))
		b.Run(fmt.Sprintf("op=encode/density=%g", p), func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				buf = Rows.Append(buf[:0], src)
			}
		})
		b.Run(fmt.Sprintf("op=decode/density=%g", p), func(b *testing.B) {
			dst := make([]byte, len(src))
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				if err := Rows.Decode(dst, payload); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
