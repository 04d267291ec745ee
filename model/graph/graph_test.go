package graph

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestShapes verifies the output, variables and cost of each op against Keras's summaries of
// the same layers.
func TestShapes(t *testing.T) {
	image := Shape{7, 6, 2}
	window := func(units, h, w, stride int, same bool) Attrs {
		return Attrs{Units: units, Window: [2]int{h, w}, Stride: [2]int{stride, stride}, Same: same}
	}
	tests := []struct {
		op         Op
		in         []Shape
		a          Attrs
		out        string
		vars       string
		parameters int
		flops      int
	}{
		{OpDense, []Shape{{5}}, Attrs{Units: 3}, "3", "n/kernel [5 3], n/bias [3]", 18, 33},
		{OpDense, []Shape{{5}}, Attrs{Units: 3, NoBias: true}, "3", "n/kernel [5 3]", 15, 30},
		{OpConv2D, []Shape{image}, window(4, 3, 2, 1, true), "7×6×4", "n/kernel [3 2 2 4], n/bias [4]", 52, 7 * 6 * 4 * 25},
		{OpConv2D, []Shape{image}, window(4, 3, 2, 2, false), "3×3×4", "n/kernel [3 2 2 4], n/bias [4]", 52, 3 * 3 * 4 * 25},
		{OpConv2D, []Shape{image}, window(4, 3, 2, 2, true), "4×3×4", "n/kernel [3 2 2 4], n/bias [4]", 52, 4 * 3 * 4 * 25},
		{OpMaxPool2D, []Shape{image}, window(0, 2, 2, 2, false), "3×3×2", "", 0, 72},
		{OpAvgPool2D, []Shape{image}, window(0, 2, 2, 2, true), "4×3×2", "", 0, 96},
		{OpGlobalAvgPool, []Shape{image}, Attrs{}, "2", "", 0, 84},
		{OpFlatten, []Shape{image}, Attrs{}, "84", "", 0, 0},
		{OpReLU, []Shape{image}, Attrs{}, "7×6×2", "", 0, 84},
		{OpDropout, []Shape{{5}}, Attrs{Rate: 0.5}, "5", "", 0, 5},
		{OpLayerNorm, []Shape{image}, Attrs{Epsilon: 1e-3}, "7×6×2", "n/gamma [2], n/beta [2]", 4, 672},
		{OpAdd, []Shape{image, image, image}, Attrs{}, "7×6×2", "", 0, 168},
		{OpConcat, []Shape{image, {7, 6, 3}}, Attrs{}, "7×6×5", "", 0, 0},
		{OpSparse, []Shape{{100}}, Attrs{Units: 3, Fields: 2}, "3", "n/weights [100 3], n/bias [3]", 303, 15},
		{OpEmbedding, []Shape{{100}}, Attrs{Size: 8, Fields: 2}, "16", "n/embeddings [100 8]", 800, 32},
		{OpEmbedding, []Shape{{100}}, Attrs{Size: 8, Fields: 1, Pooling: PoolMean}, "8", "n/embeddings [100 8]", 800, 16},
		{OpFM, []Shape{{16}}, Attrs{Units: 2, Size: 8, Fields: 2}, "2", "", 0, 88},
		{OpCross, []Shape{{5}}, Attrs{}, "5", "n/kernel [5 5], n/bias [5]", 30, 65},
		{OpCross, []Shape{{5}, {5}}, Attrs{}, "5", "n/kernel [5 5], n/bias [5]", 30, 65},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("op=%s/out=%s", tt.op, tt.out), func(t *testing.T) {
			n := Node{Name: "n", Op: tt.op, Attr: tt.a}
			if err := n.infer(tt.in); err != nil {
				t.Fatal(err)
			}
			var vars []string
			for _, v := range n.Vars {
				vars = append(vars, fmt.Sprint(v.Name, " ", v.Shape))
			}
			g := Graph{Nodes: []Node{n}}
			if n.Out.String() != tt.out || strings.Join(vars, ", ") != tt.vars || g.Parameters() != tt.parameters || n.FLOPs(tt.in) != tt.flops {
				t.Errorf("gives %v, %v, %d parameters, %d FLOPs; want %s, %s, %d, %d",
					n.Out, vars, g.Parameters(), n.FLOPs(tt.in), tt.out, tt.vars, tt.parameters, tt.flops)
			}
		})
	}
}

// TestMisfits verifies that a misfit is refused with the actual and the wanted value.
func TestMisfits(t *testing.T) {
	image, row := Shape{3, 3, 1}, Shape{4}
	tests := []struct {
		op   Op
		in   []Shape
		a    Attrs
		want string
	}{
		{OpDense, []Shape{image}, Attrs{Units: 1}, "gets 3×3×1, want a flat input: put flatten or global_avg_pool before it"},
		{OpDense, []Shape{row, row}, Attrs{Units: 1}, "has 2 inputs, want one"},
		{OpConv2D, []Shape{row}, Attrs{Units: 1, Window: [2]int{1, 1}, Stride: [2]int{1, 1}}, "gets 4, want an image"},
		{OpConv2D, []Shape{image}, Attrs{Units: 1, Window: [2]int{4, 1}, Stride: [2]int{1, 1}}, "gets 3×3×1, which is smaller than its window of 4×1"},
		{OpMaxPool2D, []Shape{image}, Attrs{Window: [2]int{1, 1}, Stride: [2]int{1, math.MaxInt}, Same: true},
			"has a window of [1 1] and strides of [1 9223372036854775807], want at most 2147483647 elements"},
		{OpMaxPool2D, []Shape{image}, Attrs{Window: [2]int{1 << 16, 1 << 16}, Stride: [2]int{1, 1}, Same: true},
			"has a window of [65536 65536] and strides of [1 1], want at most 2147483647 elements"},
		{OpMaxPool2D, []Shape{row}, Attrs{Window: [2]int{1, 1}, Stride: [2]int{1, 1}}, "gets 4, want an image"},
		{OpGlobalAvgPool, []Shape{row}, Attrs{}, "gets 4, want an image"},
		{OpAdd, []Shape{row}, Attrs{}, "has one input, want two or more"},
		{OpAdd, []Shape{row, {5}}, Attrs{}, "gets 4 and 5, want equal shapes"},
		{OpConcat, []Shape{row}, Attrs{}, "has one input, want two or more"},
		{OpConcat, []Shape{image, {3, 2, 1}}, Attrs{}, "gets 3×3×1 and 3×2×1, want shapes that differ in the last axis only"},
		{OpFM, []Shape{row}, Attrs{Size: 4, Units: 3}, "units is 3, want a divisor of the embedding's size 4"},
		{OpCross, []Shape{row, {5}}, Attrs{}, "gets 4 and 5, want inputs of equal sizes"},
		{OpCross, []Shape{image}, Attrs{}, "gets 3×3×1, want a flat input"},
		{OpCross, []Shape{row, row, row}, Attrs{}, "has 3 inputs, want one, or the first features and the layer before"},
		{"swish", []Shape{row}, Attrs{}, `no layer "swish"`},
	}
	for _, tt := range tests {
		t.Run("op="+string(tt.op), func(t *testing.T) {
			n := Node{Name: "n", Op: tt.op, Attr: tt.a}
			if err := n.infer(tt.in); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

// TestBuilder verifies that names are unique, inputs exist, every node is read, and the
// last node fits the head.
func TestBuilder(t *testing.T) {
	start := func() *Builder {
		b := &Builder{}
		b.Input(Port{Name: "x", Kind: Dense, Shape: Shape{4}})
		b.Input(Port{Name: "ids", Kind: Sparse, Shape: Shape{9}})
		if _, err := b.Add(OpDense, "a", Attrs{Units: 2}, "x"); err != nil {
			t.Fatal(err)
		}
		return b
	}
	add := func(op Op, name, in string) func() error {
		return func() error { _, err := start().Add(op, name, Attrs{Units: 2}, in); return err }
	}
	end := func(h Head, more ...string) func() error {
		return func() error {
			b := start()
			for _, name := range more {
				if _, err := b.Add(OpReLU, name, Attrs{}, "x"); err != nil {
					return err
				}
			}
			_, err := b.Graph(h)
			return err
		}
	}
	classes := Head{Kind: HeadClasses, Classes: 2}
	for want, f := range map[string]func() error{
		`the name "a" is taken`:                                         add(OpReLU, "a", "x"),
		`the name "x" is taken`:                                         add(OpReLU, "x", "a"),
		`in is "b", want an input or a layer before it`:                 add(OpReLU, "c", "b"),
		`reads "ids", which is a list of ids, want a dense input`:       add(OpReLU, "c", "ids"),
		`reads "x", which is dense, want a list of ids`:                 add(OpSparse, "c", "x"),
		`reads "a", which is dense, want a list of ids`:                 add(OpEmbedding, "c", "a"),
		`reads "a", which is no embedding, want an embedding layer`:     add(OpFM, "c", "a"),
		"no layer reads layer a: want it in the in of another, or last": end(classes, "b"),
		"the last layer, a, gives 2, want 1 for regression":             end(Head{Kind: HeadRegression}),
		"1 names of classes, want 2":                                    end(Head{Kind: HeadClasses, Classes: 2, Labels: []string{"cat"}}),
		"the model has no layers, want one or more":                     func() error { _, err := new(Builder).Graph(classes); return err },
	} {
		if err := f(); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if err := end(classes)(); err != nil {
		t.Errorf("a graph that fits is refused: %v", err)
	}
}

// TestHugeShapes verifies that sizes beyond an int saturate instead of wrapping around.
func TestHugeShapes(t *testing.T) {
	if got := (Shape{1 << 40, 1 << 40}).Len(); got != math.MaxInt {
		t.Errorf("length is %d, want the largest int", got)
	}
	n := Node{Name: "n", Op: OpDense, Attr: Attrs{Units: 1 << 40}}
	if err := n.infer([]Shape{{1 << 40}}); err != nil {
		t.Fatal(err)
	}
	g := Graph{Nodes: []Node{n, n}}
	if got := g.Parameters(); got != math.MaxInt {
		t.Errorf("%d parameters, want the largest int", got)
	}
	if got := g.Nodes[0].FLOPs([]Shape{{1 << 40}}); got != math.MaxInt {
		t.Errorf("%d FLOPs, want the largest int", got)
	}
}
