package optimizer

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"ringtrain/model"
	"ringtrain/model/tensor"
)

// sqrt is the square root of x, rounded once.
func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// every has each optimizer with default settings, and some in other forms.
var every = append(eachName(),
	Config{Name: "momentum", LearningRate: new(0.1), Nesterov: true},
	Config{Name: "ftrl", LearningRate: new(0.1), Power: new(-0.6), L1: 0.01, L2: 0.01, L2Shrinkage: 0.01},
	Config{Name: "rmsprop", LearningRate: new(0.1), Momentum: new(0.5), Centered: true},
)

func eachName() []Config {
	var all []Config
	for _, name := range Names() {
		all = append(all, Config{Name: Name(name), LearningRate: new(0.1)})
	}
	return all
}

func label(c Config) string {
	return fmt.Sprintf("name=%s/nesterov=%v/centered=%v/l1=%v", c.Name, c.Nesterov, c.Centered, c.L1)
}

func build(t testing.TB, c Config, vars ...*model.Variable) *Optimizer {
	t.Helper()
	o, err := New(c, vars, nil)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// target is a function to minimize. It writes its gradient at w into g.
type target struct {
	name  string
	start []float32
	f     func(g, w []float32) float64
}

var targets = []target{
	{"parabola", []float32{3, -2, 1}, func(g, w []float32) float64 {
		sum := 0.0
		for i, x := range w {
			scale, d := float64(i+1)/2, float64(x)-float64(i)
			g[i] = float32(2 * scale * d)
			sum += scale * d * d
		}
		return sum
	}},
	{"rosenbrock", []float32{-1.2, 1}, func(g, w []float32) float64 {
		x, y := float64(w[0]), float64(w[1])
		a, b := 1-x, y-x*x
		g[0], g[1] = float32(-2*a-40*b*x), float32(20*b)
		return a*a + 10*b*b
	}},
}

// TestEveryOptimizerOnEveryTarget verifies that each optimizer finds the minimum of a
// parabola and of Rosenbrock's function (with 10 for 100), with a suitable rate that
// falls to 0 (constant for ftrl, whose weights would fall with it).
func TestEveryOptimizerOnEveryTarget(t *testing.T) {
	rates := map[string]map[string]float64{
		"parabola":   {"sgd": 0.1, "momentum": 0.02, "adagrad": 1, "adadelta": 30, "adam": 0.1, "lazy-adam": 0.1, "adamw": 0.1, "ftrl": 1, "rmsprop": 0.05},
		"rosenbrock": {"sgd": 0.01, "momentum": 0.003, "adagrad": 0.5, "adadelta": 10, "adam": 0.05, "lazy-adam": 0.05, "adamw": 0.05, "ftrl": 1, "rmsprop": 0.02},
	}
	for _, target := range targets {
		for _, c := range every {
			t.Run("target="+target.name+"/"+label(c), func(t *testing.T) {
				c.LearningRate, c.LearningRates = nil, rates[target.name]
				c.L1, c.L2, c.L2Shrinkage = 0, 0, 0 // penalties move the minimum
				if c.Name == "adamw" {              // weight decay moves the minimum too
					c.WeightDecay = new(1e-6)
				}
				v := variable("v", len(target.start))
				copy(v.Value, target.start)
				const steps = 5000
				kind := ScheduleKind("linear")
				if c.Name == "ftrl" {
					kind = "constant"
				}
				s, err := NewSchedule(ScheduleConfig{Kind: kind}, c.Rate(), steps)
				if err != nil {
					t.Fatal(err)
				}
				o := build(t, c, v)
				for step := range int64(steps) {
					target.f(v.Grad, v.Value)
					o.Apply(s.Rate(step), nil)
				}
				if got := target.f(v.Grad, v.Value); !(got < 1e-4) {
					t.Errorf("after %d steps the value is %g at %v, want below 1e-4", steps, got, v.Value)
				}
			})
		}
	}
}

// TestRowsEqualDense verifies that rows equal the dense rule up to rounding if all rows
// are listed. With some rows listed, only these change, slots included. For optimizers that move all rows see
// TestAdamMovesAll.
func TestRowsEqualDense(t *testing.T) {
	for _, c := range every {
		t.Run(label(c), func(t *testing.T) {
			dense, rows, some := variable("v", 6, 2), byRows("v", 6, 2), byRows("v", 6, 2)
			oDense, oRows, oSome := build(t, c, dense), build(t, c, rows), build(t, c, some)
			for step := range 3 {
				for k := range dense.Grad {
					g := float32(math.Sin(float64(7*step + 3*k + 1)))
					dense.Grad[k], rows.Grad[k], some.Grad[k] = g, g, g
				}
				oDense.Apply(0.1, nil)
				oRows.Apply(0.1, touched([]int64{0, 1, 2, 3, 4, 5}, rows))
				oSome.Apply(0.1, touched([]int64{1, 2, 5}, some))
			}
			first := build(t, c, variable("v", 6, 2)).Slots()
			check := func(name string, dense, rows, some []float32, before func(k int) float32) {
				for k := range dense {
					if d := math.Abs(float64(rows[k] - dense[k])); !(d <= 1e-5) {
						t.Errorf("%s[%d] is %g by rows, %g dense", name, k, rows[k], dense[k])
					}
					if met := slices.Contains([]int{1, 2, 5}, k/2); met && some[k] != rows[k] {
						t.Errorf("%s[%d] is %g with some rows, %g with all", name, k, some[k], rows[k])
					} else if !met && !c.MovesAllRows() && some[k] != before(k) {
						t.Errorf("%s[%d] is %g, want %g: its row was not listed", name, k, some[k], before(k))
					}
				}
			}
			check("v", dense.Value, rows.Value, some.Value, func(int) float32 { return 0 })
			for i, s := range oDense.Slots() {
				if len(s.Value) > 1 {
					check(s.Name, s.Value, oRows.Slots()[i].Value, oSome.Slots()[i].Value, func(k int) float32 { return first[i].Value[k] })
				}
			}
		})
	}
}

// TestAdamMovesAll verifies that adam also changes unlisted rows and ignores their Grad,
// which may have remains of a lossy codec. An empty list is a step too.
func TestAdamMovesAll(t *testing.T) {
	v := byRows("v", 3, 1)
	o := build(t, Config{Name: "adam"}, v)
	copy(v.Grad, []float32{1, 1, 1})
	o.Apply(0.1, touched([]int64{0, 1, 2}, v))
	before := append([]float32(nil), v.Value...)
	copy(v.Grad, []float32{9, 9, 9})
	o.Apply(0.1, touched(nil, v))
	for i, w := range v.Value {
		if w >= before[i] || w != v.Value[0] {
			t.Errorf("weight %d went from %g to %g, want it to move on as its neighbours", i, before[i], w)
		}
	}
	beta1, beta2 := float32(0.9), float32(0.999)
	want := []float32{beta1 * beta1 * beta1, beta2 * beta2 * beta2, (1 - beta1) * beta1}
	got := []float32{o.Slots()[0].Value[0], o.Slots()[1].Value[0], o.Slots()[2].Value[1]}
	if !slices.Equal(got, want) {
		t.Errorf("powers and first moment are %v, want %v", got, want)
	}
}

// TestLazyAdam verifies that only the listed rows of a table change, by adam's formulas
// with the powers of all steps, and that the others resume from their last values.
func TestLazyAdam(t *testing.T) {
	lazy := byRows("v", 3, 2)
	o := build(t, Config{Name: "lazy-adam", LearningRate: new(0.1), Epsilon: new(1e-3)}, lazy)
	var m, v, w [6]float32
	beta1, beta2 := float32(0.9), float32(0.999)
	power1, power2 := beta1, beta2
	for step, rows := range [][]int64{{0, 2}, {1}, {0, 1}, {}} {
		for k := range lazy.Grad {
			lazy.Grad[k] = float32(step*k%5) - 2
		}
		o.Apply(0.1, touched(rows, lazy))
		alpha := 0.1 * sqrt(1-power2) / (1 - power1)
		for _, row := range rows {
			for k := 2 * row; k < 2*row+2; k++ {
				g := lazy.Grad[k]
				m[k] = float32(m[k]*beta1) + float32(g*(1-beta1))
				v[k] = float32(v[k]*beta2) + float32(float32(g*g)*(1-beta2))
				w[k] -= float32(alpha*m[k]) / (sqrt(v[k]) + 1e-3)
			}
		}
		power1, power2 = power1*beta1, power2*beta2
		if slots := o.Slots(); !slices.Equal(lazy.Value, w[:]) || !slices.Equal(slots[2].Value, m[:]) || !slices.Equal(slots[3].Value, v[:]) {
			t.Fatalf("step %d: values %v, m %v, v %v, want %v, %v, %v", step, lazy.Value, slots[2].Value, slots[3].Value, w, m, v)
		}
	}
}

// TestSlotsAreViews verifies that a restore writes into the slices of Slots, and that
// each kind of slot is one arena without gaps.
func TestSlotsAreViews(t *testing.T) {
	a, b := variable("a", 2, 3), variable("b", 4)
	trained, restored := build(t, Config{Name: "adam"}, a, b), build(t, Config{Name: "adam"}, variable("a", 2, 3), variable("b", 4))
	for k := range a.Grad {
		a.Grad[k] = float32(k)
	}
	trained.Apply(0.1, nil)
	for i, s := range restored.Slots() {
		copy(s.Value, trained.Slots()[i].Value)
	}
	for i, s := range restored.Slots() {
		if !slices.Equal(s.Value, trained.Slots()[i].Value) {
			t.Errorf("%s is %v after the restore, want %v", s.Name, s.Value, trained.Slots()[i].Value)
		}
	}
	slots := trained.Slots()
	m, v := slots[2].Value, slots[4].Value // a/Adam, b/Adam
	if whole := append(m[:6:6], v...); &whole[0] == &m[0] {
		t.Error("a slot has capacity into the next one")
	}
	if got := fmt.Sprint(slots[0].Shape, slots[2].Shape, slots[4].Shape); got != "[] [2 3] [4]" {
		t.Errorf("shapes are %s", got)
	}
}

// TestRateZero verifies that a step with rate 0 gives no NaN.
func TestRateZero(t *testing.T) {
	for _, c := range every {
		t.Run(label(c), func(t *testing.T) {
			for _, v := range []*model.Variable{variable("v", 2, 1), byRows("v", 2, 1)} {
				copy(v.Value, []float32{1, -1})
				copy(v.Grad, []float32{0.5, 0})
				var rows *RowGrad
				if v.ByRows {
					rows = touched([]int64{0}, v)
				}
				build(t, c, v).Apply(0, rows)
				if v.Value[0] != 1 || v.Value[1] != -1 {
					t.Errorf("by rows %t: weights are %v, want 1 and -1", v.ByRows, v.Value)
				}
			}
		})
	}
}

// TestNaNIsNotHidden verifies that a NaN gradient reaches the variable, where the check
// of the next step finds it.
func TestNaNIsNotHidden(t *testing.T) {
	for _, c := range every {
		v := variable("v", 1)
		v.Grad[0] = float32(math.NaN())
		build(t, c, v).Apply(0.1, nil)
		if v.Value[0] == v.Value[0] {
			t.Errorf("%s: weight is %g after a NaN gradient", label(c), v.Value[0])
		}
	}
}

// TestApplyAllocatesNothing verifies that Apply allocates nothing, dense and by rows.
func TestApplyAllocatesNothing(t *testing.T) {
	for _, c := range every {
		dense, table := variable("d", 8, 4), byRows("t", 9, 1)
		o := build(t, c, dense, table)
		rows := touched([]int64{1, 2, 7}, table)
		if got := testing.AllocsPerRun(10, func() { o.Apply(0.1, rows) }); got != 0 {
			t.Errorf("%s: Apply allocates %v times, want 0", label(c), got)
		}
	}
}

// TestCallersBugs verifies that gradients of a wrong shape panic with a message.
func TestCallersBugs(t *testing.T) {
	wide := func(id uint32, width int) *RowGrad {
		return &RowGrad{Pieces: []tensor.Rows{{IDs: []uint32{id}, Values: make([]float32, width), Width: width}}}
	}
	for _, c := range []Config{{Name: "adam"}, {Name: "sgd", LearningRate: new(0.1)}} {
		for name, rows := range map[string]*RowGrad{
			"no gradient": nil,
			"too large":   wide(3, 1),
			"overflow":    wide(1<<32-1, 1),
			"too wide":    wide(1, 2),
			"too narrow":  wide(1, 0),
		} {
			t.Run(label(c)+"/case="+name, func(t *testing.T) {
				defer func() {
					text, _ := recover().(string)
					if !strings.HasPrefix(text, "optimizer: ") && !strings.HasPrefix(text, "kernel: ") {
						t.Errorf("panic %q, want one that begins with optimizer: or kernel:", text)
					}
				}()
				build(t, c, byRows("v", 3, 1)).Apply(0.1, rows)
			})
		}
	}
	t.Run("case=no arena", func(t *testing.T) {
		defer func() {
			if recover() != "optimizer: variable has no place in an arena" {
				t.Error("want a panic that says so")
			}
		}()
		build(t, Config{Name: "adam"}, &model.Variable{Name: "v", Shape: []int{2}}).Apply(0.1, nil)
	})
}

// BenchmarkApply measures one update of job mnist's dense variables, and of 3,000 rows
// of a table of 100,000.
func BenchmarkApply(b *testing.B) {
	for _, c := range every {
		b.Run(label(c)+"/form=dense", func(b *testing.B) {
			kernel, bias := variable("k", 784, 10), variable("b", 10)
			o := build(b, c, kernel, bias)
			for k := range kernel.Grad {
				kernel.Grad[k] = float32(math.Sin(float64(k)))
			}
			b.SetBytes(4 * int64(kernel.Len()+bias.Len()))
			for b.Loop() {
				o.Apply(0.001, nil)
			}
		})
		b.Run(label(c)+"/form=rows", func(b *testing.B) {
			table := byRows("t", 100_000, 1)
			o := build(b, c, table)
			ids := make([]int64, 3000)
			for i := range ids {
				ids[i] = int64(33 * i)
				table.Grad[33*i] = float32(math.Sin(float64(i)))
			}
			rows := touched(ids, table)
			for b.Loop() {
				o.Apply(0.001, rows)
			}
		})
	}
}

// TestSlots verifies that Slots counts what each optimizer makes for a variable: the memory that a job
// needs is computed from it.
func TestSlots(t *testing.T) {
	for _, c := range every {
		got := 0
		for _, s := range build(t, c, variable("v", 3)).Slots() {
			if len(s.Shape) > 0 { // powers are scalars
				got++
			}
		}
		if want := c.Slots(); got != want {
			t.Errorf("%s: makes %d slots of a variable, Slots says %d", label(c), got, want)
		}
	}
}
