package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"ringtrain/export/checkpoint"
	"ringtrain/model"
	"ringtrain/model/kernel"
	"ringtrain/model/optimizer"
	"ringtrain/model/tensor"
	"ringtrain/model/train/records"
	"ringtrain/model/train/traintest"
)

// gradients returns a dense variable and a variable by rows with drawn gradients, the latter in rows 0,
// 4 and 8.
func gradients(seed uint64) (vars []*model.Variable, rows *optimizer.RowGrad) {
	r := rand.New(rand.NewPCG(seed, 0))
	draw := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		return x
	}
	vars = []*model.Variable{
		{Name: "d", Shape: []int{37}, Value: make([]float32, 37), Grad: draw(37)},
		{Name: "r", Shape: []int{9, 3}, Value: make([]float32, 27), ByRows: true},
	}
	return vars, &optimizer.RowGrad{Pieces: []tensor.Rows{
		{IDs: []uint32{0, 4}, Values: draw(6), Width: 3}, {Width: 3}, {IDs: []uint32{8}, Values: draw(3), Width: 3},
	}}
}

// full returns the gradients of a table as one matrix, as the optimizer applies them: the change of the
// values in a step of sgd at rate 1.
func full(t *testing.T, table *model.Variable, rows *optimizer.RowGrad) []float32 {
	t.Helper()
	moved := *table
	moved.Value = slices.Clone(table.Value)
	rate := 1.0
	o, err := optimizer.New(optimizer.Config{Name: "sgd", LearningRate: &rate}, []*model.Variable{&moved}, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Apply(1, rows)
	g := make([]float32, len(moved.Value))
	for i, w := range table.Value {
		g[i] = w - moved.Value[i]
	}
	return g
}

// TestClip verifies clip against its formula in float64, for dense variables and rows,
// with both bounds, one and none; and that it allocates nothing.
func TestClip(t *testing.T) {
	e := kernel.New(kernel.Portable, 1)
	for _, c := range []clip{{}, {norm: 2}, {value: 0.5}, {norm: 2, value: 0.5}, {norm: 1e9, value: 1e9}} {
		vars, rows := gradients(1)
		var want [][]float64
		sum := 0.0
		for _, from := range [][]float32{vars[0].Grad, full(t, vars[1], rows)} {
			g := make([]float64, len(from))
			for i, x := range from {
				g[i] = float64(x)
				if c.value > 0 {
					g[i] = math.Max(-c.value, math.Min(c.value, g[i]))
				}
				sum += g[i] * g[i]
			}
			want = append(want, g)
		}
		factor := 1.0
		if norm := math.Sqrt(sum); c.norm > 0 && norm > c.norm {
			factor = c.norm / norm
		}
		c.apply(e, vars, rows)
		for i, got := range [][]float32{vars[0].Grad, full(t, vars[1], rows)} {
			for j, x := range got {
				if traintest.Far(float64(x), want[i][j]*factor, 1e-6) {
					t.Errorf("%+v: gradient %d of %s is %v, want %v", c, j, vars[i].Name, x, want[i][j]*factor)
				}
			}
		}
		if n := testing.AllocsPerRun(10, func() { c.apply(e, vars, rows) }); n != 0 {
			t.Errorf("%+v: %v allocations, want none", c, n)
		}
	}
}

// TestClipBoundsUpdates verifies that an update with plain sgd moves the variables by no
// more than the rate times train.clip_norm.
func TestClipBoundsUpdates(t *testing.T) {
	for _, p := range []int{1, 2} {
		moved := 0.0
		for _, steps := range []int{1, 2} {
			dir := t.TempDir()
			job := loadText(t, digitsText, "train.clip_norm=0.01", "checkpoint.dir="+dir, fmt.Sprint("train.steps=", steps))
			mustTrain(t, p, job, digitsData(), nil)
			sum := 0.0
			for _, v := range loadState(t, dir) {
				sum += kernel.SumSquares(v)
			}
			moved = math.Sqrt(sum)
			if most := 0.1 * 0.01 * float64(steps); moved > most*1.0001 || moved < most/2 {
				t.Errorf("ranks=%d: after %d steps the variables are %v from zero, want about %v and no more", p, steps, moved, most)
			}
		}
	}
}

// loadState returns the values of the float32 tensors of the newest checkpoint in dir.
func loadState(t *testing.T, dir string) map[string][]float32 {
	t.Helper()
	s, err := checkpoint.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	state := map[string][]float32{}
	for _, tensor := range s.Tensors {
		if state[tensor.Name], err = tensor.Float32s(); err != nil {
			t.Fatal(err)
		}
	}
	return state
}

// sameCurve verifies that 1, 2 and 4 ranks have the losses of one rank within rounding, that the ranks
// end with one digest, and that the losses differ from those of the job without the keys in sets.
func sameCurve(t *testing.T, text string, data records.Set, sets ...string) {
	t.Helper()
	plain := mustTrain(t, 1, loadText(t, text), data, nil)[0].losses()
	var want []float64
	for _, p := range []int{1, 2, 4} {
		got := mustTrain(t, p, loadText(t, text, sets...), data, nil)[0].losses()
		if p == 1 {
			want = got
		}
		differs := false
		for i := range want {
			if len(got) != len(plain) || traintest.Far(got[i], want[i], 1e-5) {
				t.Fatalf("%v on %d ranks: losses are\n%v\nwant\n%v", sets, p, got, want)
			}
			differs = differs || traintest.Far(got[i], plain[i], 1e-4)
		}
		if !differs {
			t.Fatalf("%v on %d ranks: losses are those without", sets, p)
		}
	}
}

// TestClipAtAnyWorldSize verifies that clipped training has one curve at 1, 2 and 4
// ranks, with dense variables and with rows.
func TestClipAtAnyWorldSize(t *testing.T) {
	sameCurve(t, digitsText, digitsData(), "train.clip_norm=0.3")
	sameCurve(t, digitsText, digitsData(), "train.clip_value=0.002")
	sameCurve(t, clicksText, clicksData(), "train.clip_norm=0.05", "optimizer.name=sgd", "optimizer.learning_rate=1")
}
