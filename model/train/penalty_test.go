package train

import (
	"math"
	"math/rand/v2"
	"testing"

	"ringtrain/input"
	"ringtrain/model/kernel"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/model/train/traintest"
)

// TestPenalty verifies the penalty's gradient by central differences of the penalty, and
// that biases, and rows outside of the batch, have none.
func TestPenalty(t *testing.T) {
	e := kernel.New(kernel.Portable, 1)
	for _, p := range []penalty{{}, {l2: 0.3}, {l1: 0.2}, {l1: 0.2, l2: 0.3}} {
		vars, rows := gradients(2)
		r := rand.New(rand.NewPCG(3, 0))
		for _, v := range vars {
			clear(v.Grad)
			v.Decay = true
			for i := range v.Value {
				v.Value[i] = float32(math.Copysign(0.5+r.Float64(), r.Float64()-0.5))
			}
		}
		vars[0].Value[3] = 0
		for _, piece := range rows.Pieces {
			clear(piece.Values)
		}
		p.apply(e, vars, rows)
		got := [][]float32{vars[0].Grad, full(t, vars[1], rows)}
		for i, v := range vars {
			for j := range v.Value {
				w := v.Value[j]
				v.Value[j] = w + 0.01
				above := p.of(vars)
				v.Value[j] = w - 0.01
				want := (above - p.of(vars)) / 0.02
				v.Value[j] = w
				if v.ByRows && j/3%4 != 0 {
					want = 0
				}
				if got := float64(got[i][j]); math.Abs(got-want) > 1e-5 {
					t.Errorf("%+v: gradient %d of %s is %v, want %v", p, j, vars[i].Name, got, want)
				}
			}
		}
		if n := testing.AllocsPerRun(10, func() { p.apply(e, vars, rows) }); n != 0 {
			t.Errorf("%+v: %v allocations, want none", p, n)
		}
		vars[0].Decay, vars[1].Decay = false, false
		before := vars[0].Grad[0]
		p.apply(e, vars, rows)
		if p.of(vars) != 0 || vars[0].Grad[0] != before || full(t, vars[1], rows)[0] != 0 {
			t.Errorf("%+v: biases are penalized", p)
		}
	}
}

// TestPenaltyAtAnyWorldSize verifies that penalized training has one curve at 1, 2 and 4 ranks, and
// that the objective is the loss plus the penalty of the variables.
func TestPenaltyAtAnyWorldSize(t *testing.T) {
	sameCurve(t, digitsText, digitsData(), "model.l2=0.3", "model.l1=0.01")
	sameCurve(t, clicksText, clicksData(), "model.l2=0.5", "optimizer.name=sgd", "optimizer.learning_rate=1")
	for _, p := range []int{1, 2} {
		for reduction, share := range map[string]float64{"mean": 1, "sum": 1. / 50} {
			dir := t.TempDir()
			job := loadText(t, digitsText, "model.l2=0.3", "checkpoint.dir="+dir, "optimizer.learning_rate=0.001", "loss.reduction="+reduction)
			steps := eventsOf[report.Step](mustTrain(t, p, job, digitsData(), nil)[0])
			last, sum := steps[len(steps)-1], 0.0
			for _, w := range loadState(t, dir)["softmax/kernel"] {
				sum += float64(w) * float64(w)
			}
			want := float64(last.Loss) + share*0.15*sum
			if last.Objective == nil || traintest.Far(float64(*last.Objective), want, 1e-9) || sum == 0 {
				t.Errorf("ranks=%d, %s: the objective is %v, want %v", p, reduction, last.Objective, want)
			}
		}
	}
	if s := eventsOf[report.Step](mustTrain(t, 1, loadText(t, digitsText), digitsData(), nil)[0])[0]; s.Objective != nil {
		t.Errorf("without a penalty the objective is %v, want none", *s.Objective)
	}
}

// TestPenaltyFindsOptimum verifies that full batches reach the least penalized squared
// error of a line, which has a closed form, at 1 and 2 ranks.
func TestPenaltyFindsOptimum(t *testing.T) {
	const l2 = 0.5
	data := linearData()
	x, y := points(t, data)
	n, sx, sy, sxx, sxy := float64(len(x)), 0.0, 0.0, 0.0, 0.0
	for i := range x {
		sx, sy, sxx, sxy = sx+x[i], sy+y[i], sxx+x[i]*x[i], sxy+x[i]*y[i]
	}
	// Σ(w·x+b−y)²/n + l2/2·w² is least where its gradient is 0.
	w := (sxy - sx*sy/n) / (sxx - sx*sx/n + l2*n/2)
	b := (sy - w*sx) / n
	for _, p := range []int{1, 2} {
		dir := t.TempDir()
		job := loadText(t, linearText, "input.batch=100", "train.steps=400", "model.l2=0.5", "checkpoint.dir="+dir, "optimizer.learning_rate=0.2")
		mustTrain(t, p, job, data, nil)
		state := loadState(t, dir)
		if got := state["linear/kernel"][0]; traintest.Far(float64(got), w, 1e-5) {
			t.Errorf("ranks=%d: w is %v, want %v", p, got, w)
		}
		if got := state["linear/bias"][0]; traintest.Far(float64(got), b, 1e-5) {
			t.Errorf("ranks=%d: b is %v, want %v", p, got, b)
		}
	}
}

// points returns the features and labels of the records of a line.
func points(t *testing.T, data records.Set) (x, y []float64) {
	t.Helper()
	for i := range data.Train.Facts().Records {
		var b input.Batch
		if err := input.ReadRecords(&b, data.Train, i, i+1, false); err != nil {
			t.Fatal(err)
		}
		x, y = append(x, float64(b.X.Dense.Data[0])), append(y, float64(b.Y[0]))
	}
	return x, y
}
