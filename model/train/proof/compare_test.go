package proof

import (
	"math"
	"strings"
	"testing"

	"ringtrain/export/interpreter"
	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
	"ringtrain/model/tensor"
)

func floatsOf(width int, values ...float32) *interpreter.Tensor {
	return &interpreter.Tensor{Type: tfpb.DataType_DT_FLOAT, Shape: []int{len(values) / width, width}, Float32: values}
}

func textsOf(width int, values ...string) *interpreter.Tensor {
	t := &interpreter.Tensor{Type: tfpb.DataType_DT_STRING, Shape: []int{len(values) / width, width}}
	for _, v := range values {
		t.Bytes = append(t.Bytes, []byte(v))
	}
	return t
}

// TestCheck verifies for answers of each head which are the model's, and what is wrong with others.
func TestCheck(t *testing.T) {
	nan := float32(math.NaN())
	regression, binary := graph.Head{Kind: graph.HeadRegression}, graph.Head{Kind: graph.HeadBinary, Classes: 2}
	scaled := graph.Head{Kind: graph.HeadRegression, Scale: &graph.DenseColumn{Mean: 20000, Scale: 1. / 30000}}
	three := graph.Head{Kind: graph.HeadClasses, Classes: 3, Labels: []string{"a", "b", "c"}}
	type answers = map[string]*interpreter.Tensor
	for _, tt := range []struct {
		name    string
		head    graph.Head
		scores  []float32
		answers answers
		want    string // of what is wrong; "beyond" of scores; "" if nothing is
	}{
		{"a number", regression, []float32{2}, answers{"y": floatsOf(1, 2.00001)}, ""},
		{"a number beyond", regression, []float32{2}, answers{"outputs": floatsOf(1, 2.0001)}, "beyond"},
		{"a large number", regression, []float32{-1e6}, answers{"y": floatsOf(1, -1e6-5)}, ""},
		{"NaN in both", regression, []float32{nan}, answers{"y": floatsOf(1, nan)}, ""},
		{"NaN in one", regression, []float32{1}, answers{"y": floatsOf(1, nan)}, "beyond"},
		{"near 0, of a scaled label", scaled, []float32{3}, answers{"y": floatsOf(1, 3.1)}, ""},
		{"far from it, of a scaled label", scaled, []float32{3}, answers{"y": floatsOf(1, 4)}, "beyond"},
		{"two classes", binary, []float32{0.75}, answers{"scores": floatsOf(2, 0.25, 0.75), "classes": textsOf(2, "0", "1")}, ""},
		{"two classes in another order", binary, []float32{0.75}, answers{"scores": floatsOf(2, 0.75, 0.25), "classes": textsOf(2, "1", "0")}, `class 0 is "1"`},
		{"swapped scores", binary, []float32{0.75}, answers{"scores": floatsOf(2, 0.75, 0.25), "classes": textsOf(2, "0", "1")}, "beyond"},
		{"logits", binary, []float32{0.75}, answers{"logits": floatsOf(1, float32(math.Log(3))), "probability": floatsOf(1, 0.75)}, ""},
		{"logits and probability swapped", binary, []float32{0.75}, answers{"logits": floatsOf(1, 0.75), "probability": floatsOf(1, float32(math.Log(3)))}, "beyond"},
		{"classes, best first", three, []float32{0.2, 0.5, 0.3}, answers{"scores": floatsOf(3, 0.5, 0.3, 0.2), "classes": textsOf(3, "b", "c", "a")}, ""},
		{"classes in the wrong order", three, []float32{0.2, 0.5, 0.3}, answers{"scores": floatsOf(3, 0.2, 0.3, 0.5), "classes": textsOf(3, "a", "c", "b")}, "best first"},
		{"a class twice", three, []float32{0.2, 0.5, 0.3}, answers{"scores": floatsOf(3, 0.5, 0.3, 0.2), "classes": textsOf(3, "b", "b", "a")}, `class 1 is "b"`},
		{"classes without names", three, []float32{0.2, 0.5, 0.3}, answers{"scores": floatsOf(3, 0.2, 0.5, 0.3)}, ""},
		{"too few", three, []float32{0.2, 0.5, 0.3}, answers{"scores": floatsOf(2, 0.2, 0.5)}, "2 numbers a record, want 3"},
		{"a key", regression, []float32{1}, answers{"id": textsOf(1, "r1")}, ""},
		{"another key", regression, []float32{1}, answers{"id": textsOf(1, "r2")}, `id is "r2", want "r1"`},
		{"an unknown output", regression, []float32{1}, answers{"z": floatsOf(1, 1)}, "it answers z"},
		{"another type", regression, []float32{1}, answers{"y": textsOf(1, "1")}, "want float"},
	} {
		e := expected{head: tt.head, class: map[string]int{}, scores: tensor.Matrix{Rows: 1, Cols: len(tt.scores), Data: tt.scores}, keys: []string{"id"}, texts: []string{"r1"}}
		for class, name := range tt.head.Names() {
			e.class[name] = class
		}
		var d difference
		e.check(&d, tt.answers, 0, 1)
		switch {
		case tt.want == "" && d.beyond(), tt.want == "beyond" && (!d.beyond() || d.what != ""), tt.want != "" && tt.want != "beyond" && !strings.Contains(d.what, tt.want):
			t.Errorf("%s: differs by %g, bound %g, %q; want %q", tt.name, d.size, d.bound, d.what, tt.want)
		}
	}
}
