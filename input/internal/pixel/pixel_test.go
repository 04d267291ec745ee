package pixel

import (
	"fmt"
	"math"
	"testing"
)

// TestUnit verifies Unit for all bytes, at each place of a group, for each length
// around a group, and that it leaves what lies beside dst alone.
func TestUnit(t *testing.T) {
	const guard = 3
	for n := range 100 {
		for shift := range 256 {
			src, dst := make([]byte, n), make([]float32, n+2*guard)
			for i := range src {
				src[i] = byte(i + shift)
			}
			Unit(dst[guard:guard+n], src)
			for i, got := range dst {
				want := float32(0)
				if i >= guard && i < guard+n {
					want = float32(src[i-guard]) / 255
				}
				if math.Float32bits(got) != math.Float32bits(want) {
					t.Fatalf("n=%d: element %d is %g, want %g", n, i-guard, got, want)
				}
			}
		}
	}
}

// TestUnitLength verifies that slices of different lengths are a panic.
func TestUnitLength(t *testing.T) {
	defer func() {
		if recover() != "pixel: Unit: slices of different lengths" {
			t.Error("want a panic that says so")
		}
	}()
	Unit(make([]float32, 2), make([]byte, 3))
}

// BenchmarkUnit has an image of MNIST, by the body and by the assembly.
func BenchmarkUnit(b *testing.B) {
	src, dst := make([]byte, 784), make([]float32, 784)
	for i := range src {
		src[i] = byte(i)
	}
	var table [256]float32
	for v := range table {
		table[v] = float32(v) / 255
	}
	for name, f := range map[string]func(){
		"unit": func() { unit(dst, src) }, "Unit": func() { Unit(dst, src) },
		"table": func() {
			for i, v := range src {
				dst[i] = table[v]
			}
		},
	} {
		b.Run(fmt.Sprintf("body=%s", name), func(b *testing.B) {
			b.SetBytes(784)
			for b.Loop() {
				f()
			}
		})
	}
}
