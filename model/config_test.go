package model

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
)

// TestConfigCheck verifies that Check returns all errors of a config at once, as wrong
// usage.
func TestConfigCheck(t *testing.T) {
	tests := []struct {
		name string
		c    Config
		want string
	}{
		{"linear", Config{Kind: "linear"}, ""},
		{"softmax", Config{Kind: "softmax", Classes: Count(10), Features: 784}, ""},
		{"mlp", Config{Kind: "mlp", Classes: Count(10), Hidden: []int{30}, Activation: "relu"}, ""},
		{"sparse-linear", Config{Kind: "sparse-linear"}, ""},
		{"misspelt kind", Config{Kind: "deepmf"}, `model.kind is "deepmf" (did you mean deepfm?), want one of linear, softmax, mlp, lenet, cnn, cnn-small, sparse-linear, fm, wide-deep, deepfm, dcn`},
		{"no kind", Config{}, `model.kind is empty, want one of linear, softmax, mlp, lenet, cnn, cnn-small, sparse-linear, fm, wide-deep, deepfm, dcn, or model.layers`},
		{"deepfm", Config{Kind: "deepfm", Hidden: []int{3}, Embedding: 4, Pooling: "mean", Activation: "tanh"}, ""},
		{"embedding", Config{Kind: "dcn", Hidden: []int{3}, Embedding: -1, Cross: -2, Pooling: "max"},
			"model.embedding is -1, want 1 or more\nmodel.pooling is \"max\" (did you mean mean?), want one of sum, mean, sqrtn\nmodel.cross is -2, want 1 or more"},
		{"no classes", Config{Kind: "softmax"}, "model.classes is 0, want 2 or more"},
		{"misfits", Config{Kind: "linear", Classes: Count(3), Features: -1, Hidden: []int{2}, Activation: "relu"},
			"model.features is -1, want 0 to 2147483647"},
		{"hidden", Config{Kind: "mlp", Classes: Count(2), Hidden: []int{4, 0}, Activation: "tan"},
			"model.hidden[1] is 0, want 1 or more\nmodel.activation is \"tan\" (did you mean tanh?), want one of linear, relu, leaky_relu, tanh, sigmoid, gelu"},
		{"no hidden", Config{Kind: "mlp", Classes: Count(2), Hidden: []int{}}, ""},
	}
	for _, tt := range tests {
		t.Run("case="+tt.name, func(t *testing.T) { wantUsage(t, tt.c.Check(LossConfig{}), tt.want) })
	}
}

// TestUnused verifies that the keys of other kinds are named, and no others.
func TestUnused(t *testing.T) {
	c := Config{Kind: "fm", Classes: Count(3), Embedding: 4, Hidden: []int{3}, Pooling: "sum", Cross: 1}
	want := []string{"model.hidden is not used by model.kind fm", "model.pooling is not used by model.kind fm", "model.cross is not used by model.kind fm"}
	if got := c.Unused(); !cmp.Equal(got, want) {
		t.Errorf("unused: %q, want %q", got, want)
	}
	if got := (Config{Kind: "dcn", Embedding: 4, Hidden: []int{3}, Pooling: "sum", Cross: 1, L2: 1, Features: 3}).Unused(); got != nil {
		t.Errorf("unused of dcn: %q", got)
	}
}

// TestFits verifies which kinds of models read records that are no images, or have no ids.
func TestFits(t *testing.T) {
	for _, tt := range []struct {
		kind        Kind
		images, ids bool
		want        string // of the error; "" for none
	}{
		{"linear", false, false, ""},
		{"mlp", true, false, ""},
		{"deepfm", false, true, ""},
		{"cnn", true, false, ""},
		{"cnn", false, true, "which reads images"},
		{"fm", false, false, "which reads ids"},
	} {
		if err := tt.kind.Fits(tt.images, tt.ids); (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error is %v, want %q", tt.kind, err, tt.want)
		}
	}
}

// TestReadsIDs verifies what each kind reads of records with ids, without, and of those of which the job does not say it.
func TestReadsIDs(t *testing.T) {
	is := map[bool]string{false: "numbers", true: "ids"}
	for c, want := range map[Kind]string{
		"linear": "numbers numbers ids", "softmax": "numbers numbers ids", "mlp": "numbers numbers ids", "sparse-linear": "numbers ids ids",
		"cnn": "numbers numbers numbers", "deepfm": "ids ids ids",
	} {
		k := Config{Kind: c}
		if got := is[k.ReadsIDs(NoIDs)] + " " + is[k.ReadsIDs(MayHaveIDs)] + " " + is[k.ReadsIDs(HaveIDs)]; got != want {
			t.Errorf("%s reads %s, want %s", c, got, want)
		}
	}
}

func wantUsage(t *testing.T, err error, want string) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
		if code := exitcode.Of(err); code != exitcode.Usage {
			t.Errorf("exit code %d, want %d", code, exitcode.Usage)
		}
	}
	if got != want {
		t.Errorf("error:\n%s\nwant:\n%s", got, want)
	}
}

// TestHead verifies the loss of each preset: its default and the allowed ones.
func TestHead(t *testing.T) {
	tests := []struct {
		c    Config
		l    LossConfig
		want graph.Head
		err  string
	}{
		{Config{Kind: "linear"}, LossConfig{}, graph.Head{Kind: graph.HeadRegression}, ""},
		{Config{Kind: "linear"}, LossConfig{Kind: "sigmoid"}, graph.Head{Kind: graph.HeadBinary, Classes: 2}, ""},
		{Config{Kind: "softmax", Classes: Count(7)}, LossConfig{Kind: "auto", Reduction: "mean"}, graph.Head{Kind: graph.HeadClasses, Classes: 7}, ""},
		{Config{Kind: "mlp", Hidden: []int{1}, Classes: Count(3)}, LossConfig{Kind: "softmax", Reduction: "sum"}, graph.Head{Kind: graph.HeadClasses, Classes: 3}, ""},
		{Config{Kind: "mlp", Hidden: []int{1}}, LossConfig{Kind: "squared"}, graph.Head{Kind: graph.HeadRegression}, ""},
		{Config{Kind: "mlp", Hidden: []int{1}, Classes: Count(3)}, LossConfig{Kind: "squared"}, graph.Head{}, "model.classes is 3, want none with loss.kind squared"},
		{Config{Kind: "sparse-linear"}, LossConfig{Kind: "sigmoid"}, graph.Head{Kind: graph.HeadBinary, Classes: 2}, ""},
		{Config{Kind: "linear"}, LossConfig{Kind: "softmax"}, graph.Head{}, "model.classes is 0, want 2 or more"},
		{Config{Kind: "linear", Classes: Count(3)}, LossConfig{Kind: "softmax"}, graph.Head{Kind: graph.HeadClasses, Classes: 3}, ""},
		{Config{Kind: "linear", Classes: Count(2)}, LossConfig{}, graph.Head{Kind: graph.HeadClasses, Classes: 2}, ""},
		{Config{Kind: "fm", Classes: Count(3)}, LossConfig{Kind: "auto"}, graph.Head{Kind: graph.HeadClasses, Classes: 3}, ""},
		{Config{Kind: "softmax", Classes: Count(3)}, LossConfig{Kind: "squared"}, graph.Head{}, "loss.kind is squared, want one of auto, softmax with model.kind softmax"},
		{Config{Kind: "linear"}, LossConfig{Kind: "hinge", Reduction: "max"}, graph.Head{},
			"loss.kind is \"hinge\", want one of auto, squared, softmax, sigmoid\nloss.reduction is \"max\" (did you mean mean?), want mean or sum"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("kind=%s/reduction=%s/model=%s", tt.l.Kind, tt.l.Reduction, tt.c.Kind), func(t *testing.T) {
			err := tt.c.Check(tt.l)
			wantUsage(t, err, tt.err)
			if err != nil {
				return
			}
			if got := tt.c.Head(tt.l); !cmp.Equal(got, tt.want) {
				t.Errorf("head is %v, want %v", got, tt.want)
			}
		})
	}
	// Classes with names: the loss follows from their number, where none is named.
	two, three, auto := Classes{"no", "yes"}, Classes{"a", "b", "c"}, Classes{"auto"}
	binary := graph.Head{Kind: graph.HeadBinary, Classes: 2, Labels: two}
	many := graph.Head{Kind: graph.HeadClasses, Classes: 3, Labels: three}
	layers := func(units int) []Layer { return []Layer{{Dense: &DenseLayer{Units: units}}} }
	for _, tt := range []struct {
		c    Config
		loss Loss
		want graph.Head
		err  string
	}{
		{Config{Kind: "linear", Classes: two}, "", binary, ""},
		{Config{Kind: "mlp", Classes: two}, "auto", binary, ""},
		{Config{Kind: "cnn", Classes: two}, "", binary, ""},
		{Config{Kind: "softmax", Classes: two}, "", graph.Head{Kind: graph.HeadClasses, Classes: 2, Labels: two}, ""},
		{Config{Kind: "fm", Classes: two}, "softmax", graph.Head{Kind: graph.HeadClasses, Classes: 2, Labels: two}, ""},
		{Config{Kind: "linear", Classes: three}, "", many, ""},
		{Config{Kind: "wide-deep", Classes: three}, "", many, ""},
		{Config{Layers: layers(1), Classes: two}, "", binary, ""},
		{Config{Layers: layers(3), Classes: three}, "", many, ""},
		{Config{Kind: "linear", Classes: auto}, "", graph.Head{Kind: graph.HeadBinary, Classes: 2}, ""},
		{Config{Kind: "linear", Classes: two}, "squared", graph.Head{}, "loss.kind is squared, want sigmoid or softmax: model.classes has names"},
		{Config{Kind: "linear", Classes: auto}, "squared", graph.Head{}, "loss.kind is squared, want sigmoid or softmax: model.classes has names"},
		{Config{Kind: "linear", Classes: three}, "sigmoid", graph.Head{}, "model.classes has 3 names, want two with loss.kind sigmoid"},
		{Config{Layers: layers(1), Classes: three}, "", graph.Head{}, "model.classes has 3 names, want two where the last layer has one output"},
		{Config{Layers: layers(3), Classes: two}, "", graph.Head{}, "model.classes is 2, want 3, the outputs of the last layer"},
		{Config{Kind: "linear", Classes: Classes{"1", "b", "1.0"}}, "", graph.Head{}, "model.classes has 1 and 1.0, which are one number"},
		{Config{Kind: "linear", Classes: Classes{"b", "b"}}, "", graph.Head{}, "model.classes has b twice"},
		{Config{Kind: "linear", Classes: Classes{"a", ""}}, "", graph.Head{}, "model.classes has an empty name"},
		{Config{Kind: "softmax", Classes: Classes{"1"}}, "", graph.Head{}, "model.classes is 1, want 2 or more"},
		{Config{Kind: "softmax", Classes: Classes{"2.5"}}, "", graph.Head{}, "model.classes is 2.5, want a whole number"},
	} {
		err := tt.c.Check(LossConfig{Kind: tt.loss})
		wantUsage(t, err, tt.err)
		if err != nil {
			continue
		}
		if got := tt.c.Head(LossConfig{Kind: tt.loss}); !cmp.Equal(got, tt.want) {
			t.Errorf("%s with the classes %v and loss %q has the head %+v, want %+v", tt.c.Kind, tt.c.Classes, tt.loss, got, tt.want)
		}
	}
	if !(LossConfig{Reduction: "sum"}).Sum() || (LossConfig{}).Sum() {
		t.Error("Sum is wrong: want it for sum only")
	}
}

// TestGraphRefuses verifies the errors that depend on the records.
func TestGraphRefuses(t *testing.T) {
	large := "model has more than 4294967296 parameters: make model.features, model.hidden, model.classes or the layers smaller"
	for _, tt := range []struct {
		c     Config
		shape graph.Shape
		want  string
	}{
		{Config{Kind: "linear"}, graph.Shape{0}, "model.features is 0, want 1 or more"},
		{Config{Kind: "linear", Features: -1}, graph.Shape{1}, "model.features is -1, want 0 to 2147483647"},
		{Config{Kind: "mlp", Classes: Count(1 << 40), Hidden: []int{1 << 62}}, graph.Shape{1 << 60}, large},
		{Config{Kind: "mlp", Classes: Count(2), Hidden: []int{60000, 60000}}, graph.Shape{60000}, large},
		{Config{Kind: "mlp", Classes: Count(2), Hidden: []int{60000}}, graph.Shape{60000}, ""},
		{Config{Kind: "sparse-linear"}, graph.Shape{1<<63 - 1}, large}, // an id of a damaged file
		{Config{Layers: []Layer{{Embedding: &EmbeddingLayer{Size: 4}}, {FM: &FMLayer{Units: 3}}, {Dense: &DenseLayer{Units: 1}}}}, graph.Shape{9},
			"model.layers.1 (fm) units is 3, want a divisor of the embedding's size 4: each output has as many of its elements"},
		{Config{Layers: []Layer{{Name: "a", Sparse: &SparseLayer{}}, {Name: "b", In: []string{"input"}, Dense: &DenseLayer{Units: 1}}, {In: []string{"a", "b"}, Add: plain}}}, graph.Shape{9},
			"model.layers.b (dense) reads input, but the records have no dense features besides ids"},
		{Config{Layers: []Layer{{Name: "a", Sparse: &SparseLayer{}}, {FM: &FMLayer{}}}}, graph.Shape{9},
			`model.layers.1 (fm) reads "a", which is no embedding, want an embedding layer`},
		{Config{Kind: "cnn", Classes: Count(10)}, graph.Shape{784},
			"model.layers.conv_1 (conv2d) gets 784, want an image (height×width×channels): input.shape gives the shape where the file does not"},
	} {
		l := LossConfig{}
		if tt.c.Kind == "" {
			l.Kind = "sigmoid"
		}
		in := Inputs{Dense: tt.shape}
		if tt.c.ReadsIDs(MayHaveIDs) {
			in = Inputs{IDs: tt.shape.Len()}
		}
		_, err := tt.c.GraphOf(in, l)
		wantUsage(t, err, tt.want)
	}
}
