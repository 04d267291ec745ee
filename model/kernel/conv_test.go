package kernel

import (
	"fmt"
	"math"
	"testing"
)

// convs has extreme shapes: channels and filters beyond a tile, strides, windows as
// large as the image, padding at one side only, strides that omit rows and columns.
var convs = []struct {
	n int
	c Conv
}{
	{3, Conv{H: 28, W: 28, C: 1, Height: 5, Width: 5, Filters: 32, StrideH: 1, StrideW: 1, Same: true}},
	{2, Conv{H: 14, W: 14, C: 8, Height: 5, Width: 5, Filters: 40, StrideH: 1, StrideW: 1, Same: true}},
	{2, Conv{H: 9, W: 7, C: 3, Height: 3, Width: 2, Filters: 5, StrideH: 1, StrideW: 1}},
	{2, Conv{H: 9, W: 7, C: 3, Height: 3, Width: 2, Filters: 5, StrideH: 2, StrideW: 3, Same: true}},
	{1, Conv{H: 8, W: 8, C: 2, Height: 3, Width: 3, Filters: 33, StrideH: 2, StrideW: 2, Same: true}},
	{1, Conv{H: 8, W: 9, C: 2, Height: 3, Width: 3, Filters: 1, StrideH: 3, StrideW: 2}},
	{5, Conv{H: 4, W: 6, C: 17, Height: 1, Width: 1, Filters: 19, StrideH: 1, StrideW: 1}},
	{1, Conv{H: 5, W: 5, C: 1, Height: 1, Width: 1, Filters: 2, StrideH: 2, StrideW: 2, Same: true}},
	{2, Conv{H: 3, W: 4, C: 2, Height: 3, Width: 4, Filters: 3, StrideH: 1, StrideW: 1}},
	{2, Conv{H: 3, W: 2, C: 70, Height: 5, Width: 5, Filters: 66, StrideH: 1, StrideW: 1, Same: true}},
	{2, Conv{H: 7, W: 9, C: 3, Height: 3, Width: 3, Filters: 4, StrideH: 4, StrideW: 5}},
	{2, Conv{H: 7, W: 3, C: 35, Height: 5, Width: 4, Filters: 3, StrideH: 3, StrideW: 2, Same: true}},
	{1, Conv{H: 6, W: 2, C: 2, Height: 2, Width: 1, Filters: 3, StrideH: 3, StrideW: 4, Same: true}},
	{1, Conv{H: 14, W: 14, C: 16, Height: 3, Width: 3, Filters: 32, StrideH: 2, StrideW: 2, Same: true}},
	{1, Conv{H: 32, W: 34, C: 3, Height: 1, Width: 1, Filters: 5, StrideH: 2, StrideW: 2}},
	{1, Conv{H: 30, W: 8, C: 2, Height: 1, Width: 2, Filters: 3, StrideH: 4, StrideW: 3, Same: true}},
	{2, Conv{H: 5, W: 6, C: 2, Height: 3, Width: 3, Filters: 3, StrideH: math.MaxInt32, StrideW: math.MaxInt32}},
	{2, Conv{H: 5, W: 6, C: 2, Height: 3, Width: 3, Filters: 3, StrideH: math.MaxInt32, StrideW: 1, Same: true}},
	{0, Conv{H: 3, W: 2, C: 1, Height: 1, Width: 1, Filters: 1, StrideH: 1, StrideW: 1}},
}

// visit calls f with the indices of each pair of an element of x and one of y that an
// element of a kernel connects, by the definition of a convolution.
func (c Conv) visit(n int, f func(x, w, y int)) {
	outH, outW := c.Out()
	top, left := 0, 0
	if c.Same {
		top = max(0, (outH-1)*c.StrideH+c.Height-c.H) / 2
		left = max(0, (outW-1)*c.StrideW+c.Width-c.W) / 2
	}
	for i := range n * outH * outW {
		image, oh, ow := i/(outH*outW), i/outW%outH, i%outW
		for k := range c.Height * c.Width {
			h, w := oh*c.StrideH-top+k/c.Width, ow*c.StrideW-left+k%c.Width
			if h < 0 || w < 0 || h >= c.H || w >= c.W {
				continue
			}
			for ch := range c.C {
				for fl := range c.Filters {
					f(((image*c.H+h)*c.W+w)*c.C+ch, (k*c.C+ch)*c.Filters+fl, i*c.Filters+fl)
				}
			}
		}
	}
}

// oracleSums has float64 sums with the number and the size of their summands.
type oracleSums struct {
	sum, size []float64
	terms     []int
}

func newOracle(start []float32) *oracleSums {
	o := &oracleSums{make([]float64, len(start)), make([]float64, len(start)), make([]int, len(start))}
	for i, v := range start {
		o.add(i, float64(v))
	}
	return o
}

func (o *oracleSums) add(i int, v float64) {
	o.sum[i] += v
	o.size[i] += math.Abs(v)
	o.terms[i]++
}

func (o *oracleSums) compare(t *testing.T, what string, got []float32) {
	t.Helper()
	for i, v := range got {
		bound := roundings(o.terms[i]+1) * o.size[i]
		if !(math.Abs(float64(v)-o.sum[i]) <= bound) {
			t.Fatalf("%s: element %d is %g, want %g ± %g", what, i, v, o.sum[i], bound)
		}
	}
}

// TestConv verifies the convolution and its two gradients against the definition in
// float64, with and without add.
func TestConv(t *testing.T) {
	for _, e := range engines(t, 1, 3) {
		for _, s := range convs {
			t.Run(fmt.Sprintf("%v/n=%d/%+v", e, s.n, s.c), func(t *testing.T) {
				c := s.c
				outH, outW := c.Out()
				x, w := random(s.n*c.H*c.W*c.C, 1), random(c.Height*c.Width*c.C*c.Filters, 2)
				dy, bias := random(s.n*outH*outW*c.Filters, 3), random(c.Filters, 4)
				y, dx, dw := dirty(len(dy)), dirty(len(x)), dirty(len(w))
				start := make([]float32, len(dy))
				for i := range start {
					start[i] = bias[i%c.Filters]
				}
				wantY, wantX, wantW := newOracle(start), newOracle(make([]float32, len(x))), newOracle(make([]float32, len(w)))
				moreX, moreW := newOracle(x), newOracle(w)
				c.visit(s.n, func(ix, iw, iy int) {
					wantY.add(iy, float64(x[ix])*float64(w[iw]))
					for _, o := range []*oracleSums{wantX, moreX} {
						o.add(ix, float64(dy[iy])*float64(w[iw]))
					}
					for _, o := range []*oracleSums{wantW, moreW} {
						o.add(iw, float64(dy[iy])*float64(x[ix]))
					}
				})
				e.Conv(y, x, w, bias, c, None)
				wantY.compare(t, "y", y)
				plain := append([]float32(nil), y...)
				e.Conv(y, x, w, bias, c, ReLU)
				for i, v := range y {
					if v != max(plain[i], 0) {
						t.Fatalf("relu of %g is %g", plain[i], v)
					}
				}
				e.ConvInputGrad(dx, dy, w, c, false)
				wantX.compare(t, "dx", dx)
				e.ConvKernelGrad(dw, x, dy, c, false)
				wantW.compare(t, "dw", dw)
				copy(dx, x)
				e.ConvInputGrad(dx, dy, w, c, true)
				moreX.compare(t, "dx with add", dx)
				copy(dw, w)
				e.ConvKernelGrad(dw, x, dy, c, true)
				moreW.compare(t, "dw with add", dw)
			})
		}
	}
}

// TestConvSameBits verifies that an image has the same bits alone and in a batch, on any
// number of threads, and in AVX2 and AVX512.
func TestConvSameBits(t *testing.T) {
	for _, s := range convs {
		c, n := s.c, s.n+4
		outH, outW := c.Out()
		x, w := random(n*c.H*c.W*c.C, 1), random(c.Height*c.Width*c.C*c.Filters, 2)
		dy := random(n*outH*outW*c.Filters, 3)
		want := map[Set][3][]float32{}
		for _, e := range engines(t, 1, 2, 3) {
			got := [3][]float32{dirty(len(dy)), dirty(len(x)), dirty(len(w))}
			e.Conv(got[0], x, w, nil, c, None)
			e.ConvInputGrad(got[1], dy, w, c, false)
			e.ConvKernelGrad(got[2], x, dy, c, false)
			set := min(e.set, AVX2)
			if want[set][0] == nil {
				want[set] = got
			}
			for i, what := range []string{"y", "dx", "dw"} {
				sameBits(t, fmt.Sprintf("%v %+v %s", e, c, what), got[i], want[set][i])
			}
			in, out := c.H*c.W*c.C, outH*outW*c.Filters
			y, dx := dirty(out), dirty(in)
			for i := range n {
				e.Conv(y, x[i*in:(i+1)*in], w, nil, c, None)
				sameBits(t, "y of one image", y, got[0][i*out:(i+1)*out])
				e.ConvInputGrad(dx, dy[i*out:(i+1)*out], w, c, false)
				sameBits(t, "dx of one image", dx, got[1][i*in:(i+1)*in])
			}
		}
	}
}

// TestConvAllocs verifies that a convolution and its gradients allocate nothing after
// the scratch memory has grown.
func TestConvAllocs(t *testing.T) {
	c := convs[1].c
	outH, outW := c.Out()
	const n = 4
	x, w, y := random(n*c.H*c.W*c.C, 1), random(c.Height*c.Width*c.C*c.Filters, 2), random(n*outH*outW*c.Filters, 3)
	for _, e := range engines(t, 1, 2) {
		for name, f := range map[string]func(){
			"Conv":           func() { e.Conv(y, x, w, nil, c, ReLU) },
			"ConvInputGrad":  func() { e.ConvInputGrad(x, y, w, c, false) },
			"ConvKernelGrad": func() { e.ConvKernelGrad(w, x, y, c, false) },
		} {
			if got := testing.AllocsPerRun(5, f); got != 0 {
				t.Errorf("%v: %s allocates %v times, want 0", e, name, got)
			}
		}
	}
}

// TestConvWrongLength verifies that a wrong length panics.
func TestConvWrongLength(t *testing.T) {
	e := New(Portable, 1)
	c := Conv{H: 2, W: 2, C: 1, Height: 1, Width: 1, Filters: 2, StrideH: 1, StrideW: 1}
	four, eight, two := make([]float32, 4), make([]float32, 8), make([]float32, 2)
	for name, f := range map[string]func(){
		"x":    func() { e.Conv(eight, two, two, nil, c, None) },
		"y":    func() { e.Conv(four, four, two, nil, c, None) },
		"w":    func() { e.Conv(eight, four, four, nil, c, None) },
		"bias": func() { e.Conv(eight, four, two, four, c, None) },
		"dx":   func() { e.ConvInputGrad(two, eight, two, c, false) },
		"dw":   func() { e.ConvKernelGrad(four, four, eight, c, false) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}
