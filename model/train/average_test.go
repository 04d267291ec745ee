package train

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"ringtrain/export/savedmodel"
	"ringtrain/input/synth"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
	"ringtrain/ring/exitcode"
)

// TestAverage verifies that a checkpoint's average equals, bit for bit, the average computed from
// the variables of all checkpoints before it. It covers 1 and 2 ranks, dense variables and rows.
func TestAverage(t *testing.T) {
	for _, j := range []struct {
		text string
		data records.Set
	}{{digitsText, digitsData()}, {clicksText, clicksData()}} {
		for _, p := range []int{1, 2} {
			dir := t.TempDir()
			job := loadText(t, j.text, "train.average.decay=0.9", "train.steps=6", "checkpoint.every=1", "checkpoint.keep=9", "checkpoint.dir="+dir)
			plain := mustTrain(t, p, loadText(t, j.text, "train.steps=6"), j.data, nil)[0]
			if m := mustTrain(t, p, job, j.data, nil)[0]; m.result.Digest != plain.result.Digest {
				t.Errorf("%s, ranks=%d: the average changes what is trained", job.Name, p)
			}
			var before, mean map[string][]float32
			for step := 1; step <= 6; step++ {
				state := loadState(t, filepath.Join(dir, fmt.Sprintf("step-%06d", step)))
				mean = averageOf(t, state, before, mean)
				before = state
				for name, want := range mean {
					if !slices.Equal(state[name+trained.AverageSuffix], want) {
						t.Fatalf("%s, ranks=%d: the average of %s after step %d is not that of the steps", job.Name, p, name, step)
					}
				}
			}
			if len(mean) != 2 {
				t.Errorf("%s: %d variables have an average, want 2", job.Name, len(mean))
			}
		}
	}
}

// averageOf returns the average with decay 0.9 of the variables of state, after mean and the variables
// before; nil means their first values, which are zeros. For a table it covers the rows that the step
// changed.
func averageOf(t *testing.T, state, variables, mean map[string][]float32) map[string][]float32 {
	decay := float32(0.9) // no constant: 1−decay is rounded
	t.Helper()
	next := map[string][]float32{}
	for name, w := range state {
		if _, ok := state[name+trained.AverageSuffix]; !ok {
			continue
		}
		before := mean[name]
		if mean == nil {
			before = make([]float32, len(w))
		}
		was := variables[name]
		if was == nil {
			was = make([]float32, len(w))
		}
		for i := range w {
			if name == "linear/weights" && w[i] == was[i] {
				next[name] = append(next[name], before[i])
				continue
			}
			next[name] = append(next[name], before[i]-float32((before[i]-w[i])*(1-decay)))
		}
	}
	return next
}

// TestAverageIsUsed verifies that evaluations and exports use the average if the job says so,
// during training and from a checkpoint, and that training continues from the variables.
func TestAverageIsUsed(t *testing.T) {
	dir := t.TempDir()
	ckpt, base := filepath.Join(dir, "ckpt"), filepath.Join(dir, "export")
	sets := []string{"train.average.decay=0.5", "eval.every=4", "checkpoint.dir=" + ckpt}
	data := digitsData()
	data.Eval = synth.Digits(1, synth.DigitsEval, synth.Eval) // those that trained.Open draws
	plain := mustTrain(t, 2, loadText(t, digitsText, sets...), data, nil)[0]
	job := loadText(t, digitsText, append(sets, "train.average.evaluate=true", "train.average.export=true", "export.savedmodel="+base)...)
	for _, resume := range []string{"never", "auto"} { // the second finds the export written
		m := mustTrain(t, 2, job, data, func(m *member) { m.opts.Resume = resume })[0]
		if m.result.Digest != plain.result.Digest {
			t.Errorf("--resume %s: the digest is that of another model", resume)
		}
		last := eventsOf[report.Metrics](m)[len(eventsOf[report.Metrics](m))-1]
		if last.Loss == eventsOf[report.Metrics](plain)[2].Loss {
			t.Errorf("--resume %s: the evaluation is that of the variables", resume)
		}
		if got, want := len(eventsOf[report.Exported](m)), 1; resume == "never" && got != want || resume == "auto" && got != 0 {
			t.Errorf("--resume %s: %d exports, want one by the first run alone", resume, got)
		}
		for _, from := range []string{ckpt, base} {
			s, err := trained.Open(t.Context(), job, nil, from, records.Evaluated{Labelled: true})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if got, err := s.Evaluate(t.Context()); err != nil || got.Loss != last.Loss {
				t.Errorf("from %s: loss %v, error %v, want %v", from, got.Loss, err, last.Loss)
			}
		}
	}
	b, err := savedmodel.Read(base)
	if err != nil {
		t.Fatal(err)
	}
	exported := trained.NewVariables(base, 0, 0, b.Variables)
	for name, want := range loadState(t, ckpt) {
		if w, ok := exported.Tensor(name); ok {
			got, err := w.Float32s()
			if mean := loadState(t, ckpt)[name+trained.AverageSuffix]; err != nil || !slices.Equal(got, mean) || slices.Equal(got, want) {
				t.Errorf("the export of %s is not its average (error %v)", name, err)
			}
		}
	}
	saved := loadText(t, digitsText, "train.average.decay=0.5", "train.average.evaluate=true")
	mustTrain(t, 1, loadText(t, digitsText, "checkpoint.dir="+filepath.Join(dir, "without")), digitsData(), nil)
	s, err := trained.Open(t.Context(), saved, nil, filepath.Join(dir, "without"), records.Evaluated{Labelled: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Evaluate(t.Context()); exitcode.Of(err) != exitcode.BadData {
		t.Errorf("a checkpoint without averages: error %v, want code %d", err, exitcode.BadData)
	}
}

// TestResumedAverage verifies that a run of 5 and 5 steps ends with the average of a run of 10, bit
// for bit.
func TestResumedAverage(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir()}
	for i, dir := range dirs {
		job := loadText(t, clicksText, "train.average.decay=0.99", "checkpoint.dir="+dir)
		if i == 0 {
			mustTrain(t, 2, job, clicksData(), func(m *member) { m.stopAfter(5, exitcode.Terminated) })
		}
		mustTrain(t, 2, job, clicksData(), nil)
	}
	got, want := loadState(t, dirs[0]), loadState(t, dirs[1])
	for name := range want {
		if !slices.Equal(got[name], want[name]) {
			t.Errorf("%s is not that of a run without a stop", name)
		}
	}
}

// TestClassWeights verifies that weights by class give one curve at any world size. Loss and
// gradient are weighted by class and divided by the number of examples; evaluations are not
// weighted.
func TestClassWeights(t *testing.T) {
	sameCurve(t, digitsText, digitsData(), "train.class_weights=1,2,3,1,2,3,1,2,3,1")
	sameCurve(t, clicksText, clicksData(), "train.class_weights=1,5")
	twos := "train.class_weights=2,2,2,2,2,2,2,2,2,2"
	double := mustTrain(t, 1, loadText(t, digitsText, twos), digitsData(), nil)[0]
	plain := mustTrain(t, 1, loadText(t, digitsText, "optimizer.learning_rate=0.2"), digitsData(), nil)[0]
	if double.result.Digest != plain.result.Digest {
		t.Error("weights of 2 do not train as twice the rate does")
	}
	for i, l := range plain.losses() {
		if got := double.losses()[i]; math.Abs(got-2*l) > 1e-12 {
			t.Errorf("loss of step %d is %v, want %v", i+1, got, 2*l)
		}
	}
	if got, want := eventsOf[report.Metrics](double)[0].Loss, eventsOf[report.Metrics](plain)[0].Loss; got != want {
		t.Errorf("the evaluation's loss is %v, want %v", got, want)
	}
}
