package optimizer

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"ringtrain/model"
	"ringtrain/model/kernel"
	"ringtrain/model/tensor"
)

// goldenCase is a golden.json: an optimizer of TensorFlow, its settings, and all values
// after some of 20 steps.
type goldenCase struct {
	Order     []string `json:"creation_order"`
	Snapshots []struct {
		Step   int
		Values map[string]any
	}
}

// goldenCases has our settings for each of TensorFlow's cases. Rows are equal within
// rowsWithin, bit for bit if it is 0.
var goldenCases = []struct {
	name       string
	c          Config
	rowsWithin float64
}{
	// TensorFlow subtracts duplicate rows one after another; ringtrain subtracts their
	// sum.
	{"gradient_descent", Config{Name: "sgd", LearningRate: new(0.1)}, 1e-6},
	{"momentum", Config{Name: "momentum", LearningRate: new(0.1), Momentum: new(0.9)}, 0},
	{"momentum_nesterov", Config{Name: "momentum", LearningRate: new(0.1), Momentum: new(0.9), Nesterov: true}, 0},
	{"adagrad", Config{Name: "adagrad", LearningRate: new(0.1)}, 0},
	{"adadelta", Config{Name: "adadelta", LearningRate: new(1.0)}, 0},
	{"adadelta_defaults", Config{Name: "adadelta"}, 0},
	{"adam", Config{Name: "adam", LearningRate: new(0.01)}, 0},
	{"ftrl", Config{Name: "ftrl", LearningRate: new(0.1)}, 0},
	{"ftrl_l1_l2", Config{Name: "ftrl", LearningRate: new(0.1), L1: 0.05, L2: 0.01}, 0},
	{"ftrl_power_shrinkage", Config{Name: "ftrl", LearningRate: new(0.1), Power: new(-0.75), L1: 0.01, L2Shrinkage: 0.02}, 0},
	{"rmsprop", Config{Name: "rmsprop", LearningRate: new(0.01)}, 0},
	{"rmsprop_momentum", Config{Name: "rmsprop", LearningRate: new(0.01), Momentum: new(0.9)}, 0},
	{"rmsprop_centered", Config{Name: "rmsprop", LearningRate: new(0.01), Momentum: new(0.9), Centered: true}, 0},
}

// TestGolden verifies every variable and slot, and their names and order, against
// TensorFlow, for all its optimizers on a dense variable w and a table t by rows, in
// every kernel set.
func TestGolden(t *testing.T) {
	for _, c := range goldenCases {
		onSets(t, "case="+c.name, func(t *testing.T, e func() *kernel.Engine) {
			g := readGolden(t, c.name)
			w, table := goldenVariables()
			o, err := New(c.c, []*model.Variable{w, table}, e)
			if err != nil {
				t.Fatal(err)
			}
			schedule, err := NewSchedule(ScheduleConfig{}, c.c.Rate(), 20)
			if err != nil {
				t.Fatal(err)
			}
			checkOrder(t, g.Order, o)
			step := 0
			for _, s := range g.Snapshots {
				for ; step < s.Step; step++ {
					rows := goldenGradients(step+1, w, table)
					o.Apply(schedule.Rate(int64(step)), touched(rows, table))
				}
				compareGolden(t, s.Step, "w", w.Value, s.Values["w"], 0)
				compareGolden(t, s.Step, "t", table.Value, s.Values["t"], c.rowsWithin)
				for _, slot := range o.Slots() {
					compareGolden(t, s.Step, slot.Name, slot.Value, s.Values[slot.Name], 0)
				}
			}
			if step != 20 {
				t.Errorf("the last snapshot is of step %d, want 20", step)
			}
		})
	}
}

// TestGoldenOfEach verifies that the numbers of each optimizer are compared with those of its source.
func TestGoldenOfEach(t *testing.T) {
	compared := map[Name]string{"adamw": "TestGoldenAdamW", "lazy-adam": "TestLazyAdam"}
	for _, c := range goldenCases {
		compared[c.c.Name] = "TestGolden"
	}
	for _, k := range kinds {
		if compared[k.name] == "" {
			t.Errorf("no golden test compares %s", k.name)
		}
	}
}

// onSets runs f with an engine of each kernel set.
func onSets(t *testing.T, name string, f func(t *testing.T, e func() *kernel.Engine)) {
	for _, s := range kernel.Sets() {
		t.Run(fmt.Sprintf("%s/set=%v", name, s), func(t *testing.T) { own := kernel.New(s, 1); f(t, func() *kernel.Engine { return own }) })
	}
}

// TestGoldenAdamW verifies 20 steps of adamw against Keras, for w as a dense variable and as
// a table whose rows are all in the batch. With a penalty the gradient is that of the weights
// before the decay, and so is the norm that bounds it. Keras computes the powers of β anew in
// each step, so the last digits differ.
func TestGoldenAdamW(t *testing.T) {
	for _, tt := range []struct {
		name       string
		c          Config
		l1, l2     float32
		globalNorm float64
	}{
		{name: "adamw_defaults", c: Config{Name: "adamw"}},
		{name: "adamw", c: Config{Name: "adamw", LearningRate: new(0.01), WeightDecay: new(0.1),
			Beta1: new(0.8), Beta2: new(0.95), Epsilon: new(1e-5)}},
		{name: "adamw_l2", c: Config{Name: "adamw", LearningRate: new(0.2), WeightDecay: new(0.5)}, l2: 1},
		{name: "adamw_l1_l2_clipped", c: Config{Name: "adamw", LearningRate: new(0.1), WeightDecay: new(0.5)},
			l1: 0.25, l2: 0.5, globalNorm: 0.75},
	} {
		for _, table := range []bool{false, true} {
			within := 1e-6
			if table || tt.l2 > 0 { // other orders of the same sums
				within = 1e-4
			}
			onSets(t, fmt.Sprintf("case=%s/table=%t", tt.name, table), func(t *testing.T, e func() *kernel.Engine) {
				w, other := goldenVariables()
				w.ByRows, w.Decay = table, true
				o, err := New(tt.c, []*model.Variable{w}, e)
				if err != nil {
					t.Fatal(err)
				}
				step := 0
				for _, s := range readGolden(t, tt.name).Snapshots {
					for ; step < s.Step; step++ {
						goldenGradients(step+1, w, other)
						o.Apply(float32(tt.c.Rate()), penalized(e(), w, tt.l1, tt.l2, tt.globalNorm))
					}
					compareGolden(t, s.Step, "w", w.Value, s.Values["w"], within)
					for _, slot := range o.Slots()[2:] {
						compareGolden(t, s.Step, slot.Name, slot.Value, s.Values[slot.Name], within)
					}
				}
				if step != 20 {
					t.Errorf("the last snapshot is of step %d, want 20", step)
				}
			})
		}
	}
}

// penalized adds a penalty to the gradient of w and bounds its norm, as package train does. It
// returns the gradient of a table, nil if w is dense.
func penalized(e *kernel.Engine, w *model.Variable, l1, l2 float32, norm float64) *RowGrad {
	if !w.ByRows {
		kernel.Penalize(w.Grad, w.Value, l1, l2)
		if size := math.Sqrt(kernel.SumSquares(w.Grad)); norm > 0 && size > norm {
			e.Scale(w.Grad, float32(norm/size))
		}
		return nil
	}
	rows := touched([]int64{0, 1, 2}, w)
	rows.Adjust.L1, rows.Adjust.L2 = l1, l2
	if size := math.Sqrt(rows.Squares(e, []*model.Variable{w})); norm > 0 && size > norm {
		rows.Adjust.Factor = float32(norm / size)
	}
	return rows
}

// TestAdamWDecaysTables verifies that adamw decays every row of a table by λ·η, and
// otherwise equals adam.
func TestAdamWDecaysTables(t *testing.T) {
	a, b := byRows("t", 5, 2), byRows("t", 5, 2)
	for i := range a.Value {
		a.Value[i], a.Grad[i], b.Grad[i] = float32(i)-3, 0.5, 0.5
		b.Value[i] = a.Value[i] - float32(float32(a.Value[i]*0.25)*0.125)
	}
	rows := touched([]int64{1, 3}, a)
	build(t, Config{Name: "adamw", WeightDecay: new(0.25), Beta2: new(0.75), Beta1: new(0.5)}, a).Apply(0.125, rows)
	build(t, Config{Name: "adam", Epsilon: new(1e-7), Beta2: new(0.75), Beta1: new(0.5)}, b).Apply(0.125, rows)
	if !slices.Equal(a.Value, b.Value) {
		t.Errorf("values are %v, want %v", a.Value, b.Value)
	}
}

func readGolden(t *testing.T, name string) goldenCase {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name, "golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := json.NewDecoder(f)
	d.UseNumber() // a conversion through float64 would round twice
	var g goldenCase
	if err := d.Decode(&g); err != nil {
		t.Fatal(err)
	}
	return g
}

// goldenVariables returns w [3, 2] and t [5, 2] with their initial values.
func goldenVariables() (w, table *model.Variable) {
	w = variable("w", 3, 2)
	table = byRows("t", 5, 2)
	for k := range w.Value {
		w.Value[k] = float32(7*k%13-6) / 16
	}
	for k := range table.Value {
		table.Value[k] = float32(5*k%11-5) / 16
	}
	return w, table
}

func variable(name string, shape ...int) *model.Variable {
	v := &model.Variable{Name: name, Shape: shape}
	v.Value, v.Grad = make([]float32, v.Len()), make([]float32, v.Len())
	return v
}

// byRows returns a variable by rows.
func byRows(name string, shape ...int) *model.Variable {
	v := variable(name, shape...)
	v.ByRows = true
	return v
}

// touched returns the gradient of tables that have gradients in the listed rows of Grad.
// It has two pieces, as from two ranks.
func touched(rows []int64, tables ...*model.Variable) *RowGrad {
	g, width := &RowGrad{}, 0
	for _, v := range tables {
		width += v.RowLen()
	}
	cut := len(rows) / 2
	for _, part := range [][]int64{rows[:cut], rows[cut:]} {
		p := tensor.Rows{Width: width}
		for _, row := range part {
			p.IDs = append(p.IDs, uint32(row))
			for _, v := range tables {
				n := int64(v.RowLen())
				p.Values = append(p.Values, v.Grad[row*n:(row+1)*n]...)
			}
		}
		g.Pieces = append(g.Pieces, p)
	}
	return g
}

// goldenGradients writes the gradients of a step, counted from 1, and returns the rows
// of t that the step has. Duplicate rows are summed. The other rows have gradients too,
// which the optimizers must ignore.
func goldenGradients(step int, w, table *model.Variable) []int64 {
	for k := range w.Grad {
		w.Grad[k] = float32((7*step+3*(k/2)+5*(k%2))%17-8) / 32
	}
	a, b, c := step%4, (2*step+1)%4, (step+2)%4
	if step%10 == 5 {
		c = 4
	}
	ids := []int{a, b, c, a}
	var rows []int64
	for row := range 5 {
		met := slices.Contains(ids, row)
		for j := range 2 {
			g := &table.Grad[2*row+j]
			*g = 1000
			if met {
				*g = 0
			}
		}
		if met {
			rows = append(rows, int64(row))
		}
	}
	for r, id := range ids {
		for j := range 2 {
			table.Grad[2*id+j] += float32((5*step+11*r+3*j)%19-9) / 64
		}
	}
	return rows
}

func checkOrder(t *testing.T, want []string, o *Optimizer) {
	t.Helper()
	got := []string{"w", "t", "global_step"} // the trainer's
	for _, s := range o.Slots() {
		got = append(got, s.Name)
		n := 1
		for _, d := range s.Shape {
			n *= d
		}
		if len(s.Value) != n {
			t.Errorf("slot %s of shape %v has %d values", s.Name, s.Shape, len(s.Value))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("variables and slots are %q, want %q", got, want)
	}
}

// compareGolden compares bit for bit, or within a bound relative to the value or to 0.001.
func compareGolden(t *testing.T, step int, name string, got []float32, golden any, bound float64) {
	t.Helper()
	want := flatten(t, nil, golden)
	if len(got) != len(want) {
		t.Errorf("step %d: %s has %d values, want %d", step, name, len(got), len(want))
		return
	}
	for i := range want {
		if got[i] == want[i] {
			continue
		}
		difference := math.Abs(float64(got[i]) - float64(want[i]))
		if !(difference <= bound*max(math.Abs(float64(want[i])), 1e-3)) {
			t.Errorf("step %d: %s[%d] is %.9g, want %.9g", step, name, i, got[i], want[i])
		}
	}
}

// flatten appends the numbers of nested lists to dst.
func flatten(t *testing.T, dst []float32, x any) []float32 {
	t.Helper()
	switch x := x.(type) {
	case json.Number:
		v, err := strconv.ParseFloat(x.String(), 32)
		if err != nil {
			t.Fatal(err)
		}
		return append(dst, float32(v))
	case []any:
		for _, e := range x {
			dst = flatten(t, dst, e)
		}
		return dst
	}
	t.Fatalf("golden value is a %T", x)
	return nil
}
