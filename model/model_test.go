package model

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringtrain/model/graph"
	"ringtrain/model/tensor"
)

// TestNames verifies the names and shapes of variables, by which checkpoints and exports
// find them, also in TensorFlow.
func TestNames(t *testing.T) {
	want := map[string][]string{
		"linear":        {"linear/kernel [5 1]", "linear/bias [1]"},
		"softmax":       {"softmax/kernel [5 4]", "softmax/bias [4]"},
		"mlp":           {"hidden_1/kernel [5 6]", "hidden_1/bias [6]", "hidden_2/kernel [6 4]", "hidden_2/bias [4]", "softmax/kernel [4 3]", "softmax/bias [3]"},
		"sparse-linear": {"linear/weights [7 1] by rows", "linear/bias [1]"},
	}
	for _, c := range []example{linearExample, softmaxExample, mlpExample, sparseExample} {
		var got []string
		for _, v := range build(t, c).Variables() {
			s := fmt.Sprintf("%s %v", v.Name, v.Shape)
			if v.ByRows {
				s += " by rows"
			}
			got = append(got, s)
		}
		if diff := cmp.Diff(want[string(c.Kind)], got); diff != "" {
			t.Errorf("variables of %s (-want +got):\n%s", c.name(), diff)
		}
	}
}

// TestInit verifies that convex models start at zero, and that kernels of an mlp are
// within the bounds of He and Glorot, depending on seed and name only.
func TestInit(t *testing.T) {
	for _, c := range examples {
		a, b, other := build(t, c), build(t, c), build(t, c)
		for i, m := range []*Model{a, b, other} {
			place(m, uint64(i)) // earlier values must not matter
			m.Init(t.Context(), []uint64{1, 1, 2}[i])
		}
		for i, v := range a.Variables() {
			if !cmp.Equal(v.Value, b.Variables()[i].Value) {
				t.Errorf("%s differs for equal seeds", v.Name)
			}
			init := a.Graph().Variables()[i].Init
			random := init != graph.Zeros && init != graph.Ones
			if wantRandom := !convex(c, v.Name); random != wantRandom {
				t.Errorf("%s of %s begins at random is %v, want %v", v.Name, c.name(), random, wantRandom)
			}
			first := make([]float32, v.Len())
			if strings.HasSuffix(v.Name, "/gamma") {
				fill32(first, 1)
			}
			if fixed := cmp.Equal(v.Value, first); fixed == random {
				t.Errorf("%s of %s starts as %v", v.Name, c.name(), v.Value)
			}
			if random && cmp.Equal(v.Value, other.Variables()[i].Value) {
				t.Errorf("%s is equal for two seeds", v.Name)
			}
		}
	}
}

// convex reports whether equal initial values of a variable are allowed.
func convex(c example, name string) bool {
	switch {
	case strings.HasSuffix(name, "/embeddings"), name == "hidden_1/weights":
		return false
	case strings.HasSuffix(name, "/kernel"):
		return c.Kind == "linear" || c.Kind == "softmax" || name == "linear_dense/kernel"
	}
	return true
}

// TestInitRows verifies that a row of an embedding does not depend on the part of the
// table that is initialized, and that its values have Keras's range.
func TestInitRows(t *testing.T) {
	m := build(t, ofIDs(Config{Kind: "fm", Embedding: 16}, LossConfig{}, 5000))
	place(m, 1)
	m.Init(t.Context(), 3)
	v := m.Variables()[2]
	var sum, squares, largest float64
	for _, x := range v.Value {
		sum += float64(x)
		squares += float64(x) * float64(x)
		largest = max(largest, math.Abs(float64(x)))
	}
	const r = 0.05
	n := float64(v.Len())
	if !(largest <= r) || largest < 0.999*r || math.Abs(sum/n) > 0.01*r || math.Abs(squares/n-r*r/3) > 0.01*r*r/3 {
		t.Errorf("reaches ±%g, mean %g, variance %g, want ±%g, 0 and %g", largest, sum/n, squares/n, r, r*r/3)
	}
	part := make([]float32, 100*16)
	InitRows(&m.Graph().Variables()[2], 3, 4321, part)
	if !cmp.Equal(part, v.Value[4321*16:4421*16]) {
		t.Error("rows 4321 to 4420 drawn alone differ from those of the whole table")
	}
	if cmp.Equal(v.Value[:16], v.Value[16:32]) {
		t.Error("two rows are equal")
	}
}

// TestInitSpread verifies the mean 0 and variance r²/3 of the uniform distribution.
func TestInitSpread(t *testing.T) {
	m := build(t, example{Config{Kind: "mlp", Classes: Count(60), Hidden: []int{90}}, graph.Shape{100}, LossConfig{}, false})
	place(m, 1)
	m.Init(t.Context(), 1)
	for i, r := range map[int]float64{0: math.Sqrt(6.0 / 100), 2: math.Sqrt(6.0 / (90 + 60))} {
		var sum, squares, largest float64
		v := m.Variables()[i]
		for _, x := range v.Value {
			sum += float64(x)
			squares += float64(x) * float64(x)
			largest = max(largest, math.Abs(float64(x)))
		}
		n := float64(v.Len())
		if largest > r || largest < 0.99*r {
			t.Errorf("%s reaches ±%g, want up to ±%g", v.Name, largest, r)
		}
		if variance := squares / n; !(math.Abs(sum/n) <= 0.05*r) || !(math.Abs(variance-r*r/3) <= 0.05*r*r/3) {
			t.Errorf("%s has mean %g, variance %g, want 0 and %g", v.Name, sum/n, variance, r*r/3)
		}
	}
}

// TestForwardSums verifies that Forward returns the sum of Losses in their order, and
// that Predict gives Forward's scores.
func TestForwardSums(t *testing.T) {
	for _, c := range examples {
		m := build(t, c)
		place(m, 3)
		x, y := batch(c, 9, 4)
		got, want := m.Forward(x, y), 0.0
		for _, l := range m.Losses() {
			want += l
		}
		if got != want || got <= 0 || len(m.Losses()) != 9 {
			t.Errorf("%s: Forward is %g, losses %v", c.name(), got, m.Losses())
		}
		scores := append([]float32(nil), m.Scores().Data...)
		if p := m.Predict(x); !cmp.Equal(p.Data, scores) || !cmp.Equal(p, m.Scores()) {
			t.Errorf("%s: Predict is %v, Forward's scores %v", c.name(), p.Data, scores)
		}
	}
}

// TestExampleAlone verifies that the score and the loss of an example have the same bits
// in any batch, so that an evaluation does not depend on the number of ranks.
func TestExampleAlone(t *testing.T) {
	for _, c := range examples {
		m := build(t, c)
		place(m, 3)
		x, y := batch(c, 9, 4)
		m.Forward(x, y)
		losses, scores := append([]float64(nil), m.Losses()...), append([]float32(nil), m.Scores().Data...)
		cols := m.Scores().Cols
		for i := range y {
			got := m.Forward(row(x, i), y[i:i+1])
			if got != losses[i] || !cmp.Equal(m.Scores().Data, scores[i*cols:(i+1)*cols]) {
				t.Errorf("%s: example %d alone: loss %g, scores %v; in a batch %g, %v",
					c.name(), i, got, m.Scores().Data, losses[i], scores[i*cols:(i+1)*cols])
			}
		}
	}
}

// row returns example i of x as a batch.
func row(x *tensor.Features, i int) *tensor.Features {
	one := &tensor.Features{Bags: x.Bags.Part(i, i+1)}
	if x.Dense.Cols > 0 {
		one.Dense = tensor.Matrix{Rows: 1, Cols: x.Dense.Cols, Data: x.Dense.Row(i)}
	}
	return one
}

// TestEmptyBatch verifies that an empty batch has gradients of 0 and reports all
// variables ready.
func TestEmptyBatch(t *testing.T) {
	for _, c := range examples {
		for name, x := range map[string]*tensor.Features{
			"never filled": {},
			"reset":        {Dense: tensor.Matrix{Cols: c.columns()}, Bags: tensor.Bags{Fields: max(1, c.inputs().Fields), Start: []int32{0}}},
		} {
			m := build(t, c)
			place(m, 3)
			for i, v := range m.Variables() {
				if !v.ByRows {
					fill32(v.Grad, float32(i)+1)
				}
			}
			if got := m.Forward(x, nil); got != 0 || len(m.Losses()) != 0 || m.Scores().Rows != 0 {
				t.Errorf("%s, %s: loss %g, losses %v, scores %v", c.name(), name, got, m.Losses(), m.Scores())
			}
			ready := 0
			m.Backward(nil, func(int) { ready++ })
			if ready != len(m.Variables()) {
				t.Errorf("%s, %s: %d variables ready", c.name(), name, ready)
			}
			for _, v := range m.Variables() {
				if !cmp.Equal(gradOf(v), make([]float32, v.Len())) {
					t.Errorf("%s, %s: gradient of %s is %v, want zeros", c.name(), name, v.Name, gradOf(v))
				}
			}
			if p := m.Predict(x); p.Rows != 0 {
				t.Errorf("%s, %s: %d predictions", c.name(), name, p.Rows)
			}
		}
	}
}

func fill32(x []float32, v float32) {
	for i := range x {
		x[i] = v
	}
}

// TestStepAllocatesNothing verifies that a step allocates nothing after the largest
// batch.
func TestStepAllocatesNothing(t *testing.T) {
	for _, c := range examples {
		m := build(t, c)
		place(m, 3)
		large, yLarge := batch(c, 32, 1)
		small, ySmall := batch(c, 5, 1)
		weight := make([]float32, 32)
		fill32(weight, 1)
		step := func() {
			m.Forward(large, yLarge)
			m.Backward(weight, ignore)
			m.Forward(small, ySmall)
			m.Backward(weight[:5], ignore)
			m.Predict(large)
		}
		if got := testing.AllocsPerRun(10, step); got != 0 { // AllocsPerRun does not count its first run
			t.Errorf("%s: a step allocates %v times, want 0", c.name(), got)
		}
	}
}

// TestCallersBugs verifies that bugs of the caller panic with a text that names the
// package.
func TestCallersBugs(t *testing.T) {
	soft, sparse := softmaxExample, sparseExample
	placed := func(c example) (*Model, *tensor.Features, []float32) {
		m := build(t, c)
		place(m, 1)
		x, y := batch(c, 2, 1)
		return m, x, y
	}
	tests := map[string]func(){
		"no arena":                func() { m, x, y := placed(soft); m.Variables()[0].Value = nil; m.Forward(x, y) },
		"no gradient arena":       func() { m, x, y := placed(soft); m.Variables()[0].Grad = nil; m.Forward(x, y); m.Backward(y, ignore) },
		"too few labels":          func() { m, x, y := placed(soft); m.Forward(x, y[:1]) },
		"too few weights":         func() { m, x, y := placed(soft); m.Forward(x, y); m.Backward(y[:1], ignore) },
		"label beyond classes":    func() { m, x, _ := placed(soft); m.Forward(x, []float32{0, 4}) },
		"negative label":          func() { m, x, _ := placed(soft); m.Forward(x, []float32{0, -1}) },
		"label between classes":   func() { m, x, _ := placed(soft); m.Forward(x, []float32{0, 0.5}) },
		"other features":          func() { m, _, y := placed(soft); x, _ := batch(linearExample, 2, 1); x.Dense.Cols = 4; m.Forward(x, y) },
		"id beyond features":      func() { m, x, y := placed(sparse); x.Bags = oneID(7); m.Forward(x, y[:1]) },
		"backward before forward": func() { m, _, y := placed(soft); m.Backward(y, ignore) },
		"backward after predict":  func() { m, x, y := placed(soft); m.Forward(x, y); m.Predict(x); m.Backward(y, ignore) },
		"more labels than scores": func() { Correct(tensor.Matrix{}, []float32{1}, 0.5) },
		"more labels than ranked": func() { new(Ranking).Add(nil, []float32{1}) },
	}
	for name, f := range tests {
		t.Run("case="+name, func(t *testing.T) {
			defer func() {
				if text, _ := recover().(string); !strings.HasPrefix(text, "model: ") && !strings.HasPrefix(text, "kernel: ") {
					t.Errorf("panic %q, want one that begins with model: or kernel:", text)
				}
			}()
			f()
		})
	}
}

func oneID(id uint32) (b tensor.Bags) {
	b.Reset(1)
	b.Add(id, 1)
	b.End()
	b.Index()
	return b
}

// BenchmarkStep measures Forward and Backward of job mnist's model on a rank's share of
// the global batch. ink is the share of pixels that are not 0; MNIST has 0.19.
func BenchmarkStep(b *testing.B) {
	c := example{Config{Kind: "softmax", Classes: Count(10)}, graph.Shape{784}, LossConfig{}, false}
	for _, n := range []int{25, 100} {
		for _, ink := range []int{19, 100} {
			b.Run(fmt.Sprintf("model=softmax/batch=%d/ink=%d%%", n, ink), func(b *testing.B) {
				m := build(b, c)
				place(m, 1)
				x, y := batch(c, n, 1)
				for i := range x.Dense.Data {
					if i*37%100 >= ink {
						x.Dense.Data[i] = 0
					}
				}
				weight := make([]float32, n)
				fill32(weight, 1)
				for b.Loop() {
					m.Forward(x, y)
					m.Backward(weight, ignore)
				}
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "examples/s")
			})
		}
	}
}
