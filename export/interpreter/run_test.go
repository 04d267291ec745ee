package interpreter

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"ringtrain/export/bundle"
	"ringtrain/export/tfpb"
	"ringtrain/ring/exitcode"
)

// records returns n records for the model of export/testdata/application.
func records(n int) []*Tensor {
	features := &Tensor{Type: tfpb.DataType_DT_FLOAT, Shape: []int{n, 9}, Float32: make([]float32, 9*n)}
	keys := &Tensor{Type: tfpb.DataType_DT_INT32, Shape: []int{n, 1}, Int32: make([]int32, n)}
	for i := range features.Float32 {
		features.Float32[i] = float32(i*i%11) - 3
	}
	for i := range keys.Int32 {
		keys.Int32[i] = int32(i)
	}
	return []*Tensor{features, keys}
}

// compiled returns a signature with all of its outputs.
func compiled(t *testing.T, m *Model, signature string) *Program {
	t.Helper()
	p, err := m.Compile(signature, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestAllocations verifies that a run allocates the answer and nothing else: a list, and for each output
// a tensor with its shape and values.
func TestAllocations(t *testing.T) {
	p := compiled(t, opened(t, "application/model"), "serving_default")
	for _, n := range []int{1, 64} {
		inputs := records(n)
		got := testing.AllocsPerRun(100, func() {
			if _, err := p.Run(inputs); err != nil {
				t.Fatal(err)
			}
		})
		if want := float64(1 + 3*len(p.Outputs)); got > want {
			t.Errorf("%d records: %g allocations, want %g", n, got, want)
		}
	}
}

// TestRunConcurrently verifies that runs at the same time, of any batch size, do not see each other,
// and that an answer does not change when the program runs again.
func TestRunConcurrently(t *testing.T) {
	p := compiled(t, opened(t, "application/model"), "serving_default")
	want, err := p.Run(records(50))
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(want[2].Float32)
	var ends sync.WaitGroup
	for g := range 8 {
		ends.Go(func() {
			for i := range 50 {
				n := 1 + (i*7+g)%50
				got, err := p.Run(records(n))
				if err != nil {
					t.Error(err)
					return
				}
				for k, x := range got[2].Float32 {
					if math.Abs(float64(x-before[k])) > 1e-6 {
						t.Errorf("%d records: score %d is %g, want %g", n, k, x, before[k])
						return
					}
				}
			}
		})
	}
	ends.Wait()
	if !slices.Equal(want[2].Float32, before) {
		t.Error("a later run changed an answer")
	}
}

// TestRunRefuses verifies that inputs that are missing, or of another type, number of values or shape,
// are errors that name the input.
func TestRunRefuses(t *testing.T) {
	p := compiled(t, opened(t, "application/model"), "serving_default")
	good := records(2)
	for _, c := range []struct {
		name   string
		inputs []*Tensor
		want   string
	}{
		{"inputs=1", good[:1], "1 inputs, want 2"},
		{"input=nil", []*Tensor{nil, good[1]}, "input features is missing"},
		{"type=int32", []*Tensor{good[1], good[1]}, "input features is DT_INT32, want DT_FLOAT"},
		{"values=17", []*Tensor{{Type: 1, Shape: []int{2, 9}, Float32: make([]float32, 17)}, good[1]}, "input features: 17 values for shape [2 9]"},
		{"size=-1", []*Tensor{{Type: 1, Shape: []int{-1, 9}}, good[1]}, "input features: a tensor of shape [-1 9] has a negative size"},
		{"columns=8", []*Tensor{{Type: 1, Shape: []int{2, 8}, Float32: make([]float32, 16)}, good[1]}, "input features has shape [2 8], want [-1 9]: "},
		{"rank=1", []*Tensor{{Type: 1, Shape: []int{9}, Float32: make([]float32, 9)}, good[1]}, "input features has shape [9], want [-1 9]: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := p.Run(c.inputs); err == nil || len(err.Error()) < len(c.want) || err.Error()[:len(c.want)] != c.want {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if _, err := p.Run(good); err != nil {
		t.Errorf("after errors a good request fails: %v", err)
	}
}

// TestFuse verifies that a product, its bias and Relu are one step.
func TestFuse(t *testing.T) {
	p := compiled(t, opened(t, "application/model"), "serving_default")
	products := 0
	for _, s := range p.steps {
		switch s.op.name {
		case "MatMul":
			products++
			if s.fused.bias == nil {
				t.Errorf("%s has no bias", s.name)
			}
		case "Add", "Relu":
			t.Errorf("%s (%s) is a step", s.name, s.op.name)
		}
	}
	if products != 4 {
		t.Errorf("%d products, want 4", products)
	}
}

// writeLarge writes the model small with a variable w of size bytes, and returns its folder and data file.
func writeLarge(t *testing.T, size int) (dir, data string) {
	t.Helper()
	dir = write(t, func(m *tfpb.MetaGraphDef) { nodeOf(m, "w").Attr["shape"].GetShape().Dim[0].Size = int64(size / 4) })
	prefix := filepath.Join(dir, "variables", "variables")
	if err := os.RemoveAll(filepath.Dir(prefix)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Dir(prefix), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := bundle.Write(bundle.OS, prefix, []bundle.Tensor{bundle.Float32("w", []int{size / 4}, make([]float32, size/4))}); err != nil {
		t.Fatal(err)
	}
	return dir, prefix + ".data-00000-of-00001"
}

// TestVariablesAreMapped verifies that a variable takes no memory of the process, neither when the model is
// opened nor when it runs.
func TestVariablesAreMapped(t *testing.T) {
	const size = 16 << 20
	dir, _ := writeLarge(t, size)
	allocated := func() int {
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return int(s.TotalAlloc)
	}
	before := allocated()
	m, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	p, err := m.Compile("serving_default", []string{"x"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run([]*Tensor{{Type: tfpb.DataType_DT_FLOAT, Shape: []int{1}, Float32: []float32{7}}}); err != nil {
		t.Fatal(err)
	}
	if took := allocated() - before; took > size/4 || m.Mapped != size {
		t.Errorf("%d bytes are allocated and %d mapped for a variable of %d", took, m.Mapped, size)
	}
}

// TestShortenedFile verifies that a file of variables that is shortened while it is mapped is an error of
// the runs that read it, and does not end the process.
func TestShortenedFile(t *testing.T) {
	dir, data := writeLarge(t, 1<<20)
	m, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	p := compiled(t, m, "serving_default")
	x := []*Tensor{{Type: tfpb.DataType_DT_FLOAT, Shape: []int{1}, Float32: []float32{7}}}
	if _, err := p.Run(x); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(data, 0); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := p.Run(x); exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), "the files of the model were changed in place") {
			t.Errorf("%v, want that the files were changed, and exit code %d", err, exitcode.BadData)
		}
	}
}

// TestCompile verifies that a program has the outputs that were asked for, in that order, takes only the
// steps that they need, and that an unknown name is refused with those that there are.
func TestCompile(t *testing.T) {
	m := opened(t, "application/model")
	p, err := m.Compile("serving_default", []string{"prediction", "keys"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Run(records(3))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Type != tfpb.DataType_DT_INT64 || got[1].Type != tfpb.DataType_DT_INT32 || got[1].Int32[2] != 2 {
		t.Errorf("the outputs are %v and %v", got[0], got[1])
	}
	if p, err = m.Compile("serving_default", []string{"keys"}); err != nil || len(p.steps) != 1 {
		t.Errorf("%d steps for an output that is an input, want 1; %v", len(p.steps), err)
	}
	for _, c := range []struct {
		signature, output, want string
	}{
		{"predict", "keys", `signature is "predict", want one of serving_default`},
		{"serving_default", "scores", `signature serving_default: output is "scores", want one of keys, prediction, softmax`},
	} {
		if _, err := m.Compile(c.signature, []string{c.output}); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
